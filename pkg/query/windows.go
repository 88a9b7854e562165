package query

import (
	"context"
	"fmt"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	queue "github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Windows returns a page of the windows of a bank: those that have not ended, the parked ones first and then by age, or
// those that have, the last one first. A window that is queued and parked for a moment, because it moves, is listed twice.
func (s *Service) Windows(ctx context.Context, bank memory.BankID, r wire.WindowsRequest) (wire.Page[wire.WindowStatus], error) {
	out := wire.Page[wire.WindowStatus]{Items: []wire.WindowStatus{}}
	list := "windows " + r.State + " " + string(r.Session)
	limit, from, err := page(r.Limit, r.Cursor, list)
	if err != nil {
		return out, err
	}
	if r.Session != "" {
		if _, err := memory.ParseSessionID(string(r.Session)); err != nil {
			return out, err
		}
	}
	switch r.State {
	case "", "pending":
		var next Position
		if out.Items, next, err = s.pendingWindows(ctx, bank, r.Session, from, limit); err == nil {
			out.Next = next.cursor(list)
		}
		return out, err
	case wire.WindowEnded:
	default:
		return out, memory.Invalid("state", "is not a state; expected pending or ended")
	}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		windows, next, err := rd.Windows(r.Session, from, limit)
		out.Items, out.Next = append(out.Items, windows...), next.cursor(list)
		return err
	})
	return out, err
}

// pendingWindows reads up to limit windows that have not ended from the streams they wait in.
func (s *Service) pendingWindows(ctx context.Context, bank memory.BankID, session memory.SessionID, from Position, limit int) ([]wire.WindowStatus, Position, error) {
	out := []wire.WindowStatus{}
	if s.conn == nil {
		return out, Position{}, fmt.Errorf("read windows: no connection to the log: %w", memory.ErrUnavailable)
	}
	if err := s.store.Read(ctx, bank, func(Reader) error { return nil }); err != nil {
		return out, Position{}, err
	}
	var last Position
	for _, state := range []string{wire.WindowParked, wire.WindowQueued} {
		if from.ID == wire.WindowQueued && state == wire.WindowParked {
			continue
		}
		after := uint64(0)
		if from.ID == state {
			after = uint64(from.No)
		}
		full := false
		err := queue.Waiting(ctx, s.conn, bank, session, state == wire.WindowParked, after, func(e events.Event, w memory.Window) bool {
			if full = len(out) == limit; full {
				return false
			}
			out = append(out, wire.WindowStatus{ID: w.ID, Session: w.Session, State: state, Generation: w.Generation, First: w.First(), Last: w.Last(), Stored: &e.Stored})
			last = Position{No: int64(e.Seq), ID: state}
			return true
		})
		if err != nil || full {
			return out, last, err
		}
	}
	return out, Position{}, nil
}

// DeadLetters returns a page of the dead letters of a bank without their payloads, or one of them whole. A letter of
// another bank is not there.
func (s *Service) DeadLetters(ctx context.Context, bank memory.BankID, r wire.LettersRequest) (wire.Page[memory.DeadLetter], error) {
	out := wire.Page[memory.DeadLetter]{Items: []memory.DeadLetter{}}
	if s.conn == nil {
		return out, fmt.Errorf("read dead letters: no connection to the log: %w", memory.ErrUnavailable)
	}
	token := events.EncodeToken(string(bank))
	if r.ID != 0 {
		if r.Stage != "" || r.Limit != 0 || r.Cursor != "" {
			return out, memory.Invalid("id", "shows one letter; it does not go with stage, limit or cursor")
		}
		d, err := deadletter.Get(ctx, s.conn, r.ID)
		if err == nil && d.Bank != token {
			err = fmt.Errorf("dead letter %s: %w", strconv.FormatUint(r.ID, 10), memory.ErrNotFound)
		}
		if err == nil {
			out.Items = append(out.Items, d)
		}
		return out, err
	}
	list := "dead letters " + r.Stage
	limit, from, err := page(r.Limit, r.Cursor, list)
	if err != nil {
		return out, err
	}
	reply, err := s.listDead(ctx, deadletter.Filter{Bank: token, Stage: r.Stage, After: uint64(from.No), Limit: limit + 1}, limit, list)
	out.Items, out.Next = reply.Items, reply.Next
	return out, err
}
