package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ErrForgotten is the error of an export during which something of its bank was forgotten. It wraps memory.ErrConflict.
var ErrForgotten = fmt.Errorf("something of the bank was forgotten meanwhile, and what is written so far may hold it; export again: %w", memory.ErrConflict)

const (
	forgetPatience = 30 * time.Second       // how long an export waits for a forget that is carried out
	forgetPause    = 100 * time.Millisecond // between two looks
)

// afterForgets waits until the forgets of the bank that are in the log are carried out, because until then the log holds
// what they forget. It returns the last sequence that MEM_WRITES had before. The error is memory.ErrUnavailable when one
// takes too long.
func (e *Exporter) afterForgets(ctx context.Context) (uint64, error) {
	n := e.client.Conn().Naming
	began, err := e.client.Conn().LastSeq(ctx, n.Writes())
	if err != nil {
		return 0, err
	}
	var forgets []events.Event
	err = e.read(ctx, n.Writes(), []string{n.WriteSubject(e.bank, memory.WriteForget)}, 0, func(ev events.Event) error {
		forgets = append(forgets, ev)
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, ev := range forgets {
		within, cancel := context.WithTimeout(ctx, forgetPatience)
		err := e.carriedOut(within, ev)
		cancel()
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("a forget of the bank is not carried out yet, and the log holds what it forgets: %w: %w", memory.ErrUnavailable, err)
		}
		if err != nil {
			return 0, err
		}
	}
	return began, nil
}

// carriedOut waits until a forget is carried out, which takes its event from the log, or is known to forget nothing: it was
// refused, or is a dead letter.
func (e *Exporter) carriedOut(ctx context.Context, ev events.Event) error {
	w, err := ev.Write()
	if err != nil {
		return nil // a dead letter
	}
	if _, err := e.client.WaitForgotten(ctx, e.bank, w.Op); errors.Is(err, memory.ErrDeadline) || errors.Is(err, memory.ErrUnavailable) {
		return err
	} else if err != nil {
		return nil
	}
	for {
		_, err := e.client.Conn().EventAt(ctx, ev.Stream, ev.Seq)
		switch {
		case errors.Is(err, memory.ErrNotFound):
			return nil
		case err != nil:
			return err
		case !events.Sleep(ctx, forgetPause):
			return ctx.Err()
		}
	}
}

// nothingForgotten returns ErrForgotten if the log has a forget of the bank, or what an erasure left, behind a sequence of
// MEM_WRITES.
func (e *Exporter) nothingForgotten(ctx context.Context, after uint64) error {
	n := e.client.Conn().Naming
	var filters []string
	for _, kind := range []memory.WriteKind{memory.WriteForget, memory.WriteErased, memory.WriteRest} {
		filters = append(filters, n.WriteSubject(e.bank, kind))
	}
	return e.read(ctx, n.Writes(), filters, after, func(events.Event) error { return ErrForgotten })
}
