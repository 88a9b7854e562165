package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ReextractRequest asks for the windows of a bank, or of one session of it, to
// be extracted anew.
type ReextractRequest struct {
	Bank    string `json:"bank"`
	Session string `json:"session,omitempty"` // "" = every session
}

// ReextractReply counts windows.
type ReextractReply struct {
	Windows  int `json:"windows"`   // put on the queue
	UnderWay int `json:"under_way"` // left out: on the queue or parked already
	Bare     int `json:"bare"`      // left out: every message is forgotten, or is none to extract
}

// Reextract has every window that ended extracted anew, dead ones too. Each
// goes to the queue with the next generation of its id; the write that ends it
// takes the place of the facts of the earlier ones. Facts that were retained,
// edited or pinned by hand stay.
func (s *Service) Reextract(ctx context.Context, _ memory.BankID, r ReextractRequest) (ReextractReply, error) {
	var reply ReextractReply
	bank, err := memory.ParseBankID(r.Bank)
	if err != nil {
		return reply, err
	}
	session := memory.SessionID(r.Session)
	if r.Session != "" {
		if session, err = memory.ParseSessionID(r.Session); err != nil {
			return reply, err
		}
	}
	if s.conn == nil {
		return reply, fmt.Errorf("re-extract: no connection to the log: %w", memory.ErrUnavailable)
	}
	if err := s.exists(ctx, bank); err != nil {
		return reply, err
	}
	// What is under way is read first: a window that ends meanwhile is found in
	// the log, with a generation that is no higher than the one seen here.
	flying, err := s.conn.WindowsInFlight(ctx, bank)
	if err != nil {
		return reply, err
	}
	latest, err := s.endedWindows(ctx, bank, session)
	if err != nil {
		return reply, err
	}
	for _, w := range flying {
		if old, ok := latest[spanOf(w)]; ok && w.Generation >= old.Generation {
			reply.UnderWay++
			delete(latest, spanOf(w))
		}
	}
	var next []memory.Window
	for _, w := range latest {
		w.Generation++
		w.ID = memory.NewWindowID(bank, w.Session, w.First(), w.Last(), w.Generation)
		next = append(next, w)
	}
	slices.SortFunc(next, func(a, b memory.Window) int {
		return cmp.Or(cmp.Compare(a.Last(), b.Last()), cmp.Compare(a.First(), b.First()))
	})
	found := next[:0]
	for _, w := range next {
		left, err := s.anyLeft(ctx, w)
		switch {
		case err != nil:
			return reply, err
		case left:
			found = append(found, w)
		default:
			reply.Bare++
		}
	}
	if err := s.conn.PublishWindows(ctx, found); err != nil {
		return reply, err
	}
	reply.Windows = len(found)
	return reply, nil
}

// span is what a window and its later generations share.
type span struct {
	session     memory.SessionID
	first, last uint64
}

func spanOf(w memory.Window) span { return span{w.Session, w.First(), w.Last()} }

// endedWindows gives the windows of which the log tells the end, each in its
// highest generation.
func (s *Service) endedWindows(ctx context.Context, bank memory.BankID, session memory.SessionID) (map[span]memory.Window, error) {
	out := map[span]memory.Window{}
	naming := s.conn.Naming
	_, err := s.conn.Scan(ctx, naming.Writes(), []string{naming.WriteSubject(bank, memory.WriteWindow)}, 0, func(e events.Event) error {
		write, err := e.Write()
		if err != nil || write.Window == nil || len(write.Window.New) == 0 {
			return nil // it is a dead letter of the consolidator's
		}
		w := write.Window.Window
		if session != "" && w.Session != session {
			return nil
		}
		if old, ok := out[spanOf(w)]; !ok || w.Generation > old.Generation {
			out[spanOf(w)] = w
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the windows of %s: %w", bank, err)
	}
	return out, nil
}

// anyLeft reports whether a window has a message that can be extracted.
func (s *Service) anyLeft(ctx context.Context, w memory.Window) (bool, error) {
	for _, m := range w.New {
		if m.Carry != "" {
			continue
		}
		_, err := s.conn.EventAt(ctx, s.conn.Naming.Messages(), m.Seq)
		if err == nil || !errors.Is(err, memory.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}
