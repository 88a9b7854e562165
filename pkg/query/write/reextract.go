package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	queue "github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Reextract puts every window that ended on the queue again, dead ones too, each with the next generation of its id. The
// write that ends it replaces the facts of the earlier generations. Facts that were retained, edited or pinned by hand
// stay.
func (a *Appender) Reextract(ctx context.Context, _ memory.BankID, r wire.ReextractRequest) (wire.ReextractReply, error) {
	var reply wire.ReextractReply
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
	if a.deps.Conn == nil {
		return reply, fmt.Errorf("re-extract: no connection to the log: %w", memory.ErrUnavailable)
	}
	if err := a.exists(ctx, bank); err != nil {
		return reply, err
	}
	// Windows under way are read first: one that ends meanwhile is found in the log, with no higher generation.
	flying, err := queue.InFlight(ctx, a.deps.Conn, bank)
	if err != nil {
		return reply, err
	}
	latest, err := a.endedWindows(ctx, bank, session)
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
		left, err := a.hasMessages(ctx, w)
		switch {
		case err != nil:
			return reply, err
		case left:
			found = append(found, w)
		default:
			reply.Bare++
		}
	}
	if err := a.deps.Conn.PublishWindows(ctx, found); err != nil {
		return reply, err
	}
	reply.Windows = len(found)
	return reply, nil
}

// span is what all generations of a window share.
type span struct {
	session     memory.SessionID
	first, last uint64
}

func spanOf(w memory.Window) span { return span{w.Session, w.First(), w.Last()} }

// endedWindows returns the windows whose end the log holds, each in its highest generation.
func (a *Appender) endedWindows(ctx context.Context, bank memory.BankID, session memory.SessionID) (map[span]memory.Window, error) {
	out := map[span]memory.Window{}
	naming := a.deps.Conn.Naming
	_, err := ordered.Scan(ctx, a.deps.Conn, naming.Writes(), []string{naming.WriteSubject(bank, memory.WriteWindow)}, 0, func(e events.Event) error {
		event, err := e.Write()
		if err != nil || event.Window == nil || len(event.Window.New) == 0 {
			return nil // the consolidator records it dead
		}
		w := event.Window.Window
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

// hasMessages reports whether the log still holds a message of a window that can be extracted.
func (a *Appender) hasMessages(ctx context.Context, w memory.Window) (bool, error) {
	for _, m := range w.New {
		if m.Carry != "" {
			continue
		}
		_, err := a.deps.Conn.EventAt(ctx, a.deps.Conn.Naming.Messages(), m.Seq)
		if err == nil || !errors.Is(err, memory.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}
