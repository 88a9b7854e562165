package consolidate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// eraseEvents carries out what forgets queued: it erases stream events, oldest
// first. An entry leaves the queue after its event is gone; a crash repeats it,
// which changes nothing.
func (c *Consolidator) eraseEvents(ctx context.Context, forgot <-chan struct{}) error {
	const most = 64
	for {
		done := 0
		err := c.insist(ctx, "erasing stream events", func() error {
			list, err := c.deps.Store.Erasures(ctx, most)
			done = len(list)
			for _, e := range list {
				if err := c.eraseEvent(ctx, e); err != nil {
					return err
				}
				c.metrics.erased.Inc()
				if err := c.deps.Store.Erased(ctx, e.No); err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		if done == most {
			continue
		}
		select {
		case <-forgot:
		case <-ctx.Done():
			return nil
		}
	}
}

// eraseEvent erases one event. Erasures name streams by their default names.
// A write that also holds what is not forgotten is appended anew without the
// forgotten before the old one goes.
func (c *Consolidator) eraseEvent(ctx context.Context, e Erasure) error {
	names := c.deps.Conn.Naming
	switch {
	case strings.HasSuffix(e.Stream, "_MESSAGES"):
		return c.deps.Conn.Erase(ctx, names.Messages(), e.Seq)
	case strings.HasSuffix(e.Stream, "_DEAD"):
		return c.eraseLetters(ctx, e)
	case e.Whole:
		return c.deps.Conn.Erase(ctx, names.Writes(), e.Seq)
	}
	ev, err := c.deps.Conn.EventAt(ctx, names.Writes(), e.Seq)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read write %d: %w", e.Seq, err)
	}
	w, err := ev.Write()
	if err != nil {
		return c.deps.Conn.Erase(ctx, names.Writes(), e.Seq)
	}
	rest, keep, err := c.remainder(ctx, w)
	if err != nil {
		return err
	}
	if !keep {
		rest, keep = usageLeft(w)
	}
	if keep {
		if _, err := c.deps.Conn.AppendWrite(telemetry.Extract(ctx, ev.Header), rest); err != nil {
			return fmt.Errorf("append the rest of write %d: %w", e.Seq, err)
		}
	}
	return c.deps.Conn.Erase(ctx, names.Writes(), e.Seq)
}

// eraseLetters erases the dead letters about a message event.
func (c *Consolidator) eraseLetters(ctx context.Context, e Erasure) error {
	names := c.deps.Conn.Naming
	var letters []uint64
	_, err := c.deps.Conn.Scan(ctx, names.Dead(), nil, 0, func(ev events.Event) error {
		var d events.DeadLetter
		if memory.DecodeEvent(ev.Data, &d) != nil {
			return nil
		}
		for _, seq := range d.Messages(names) {
			if seq == e.Seq {
				letters = append(letters, ev.Seq)
				break
			}
		}
		return nil
	})
	for _, seq := range letters {
		err = errors.Join(err, c.deps.Conn.Erase(ctx, names.Dead(), seq))
	}
	return err
}

// remainder is a write without what was forgotten: facts that the store no
// longer has, and sources whose messages are gone from the log. It keeps its
// op, its time and what it waits for. keep is false where nothing is left.
func (c *Consolidator) remainder(ctx context.Context, w memory.Write) (rest memory.Write, keep bool, err error) {
	if w.Kind == memory.WriteDecide || w.Kind == memory.WriteSummary || w.Kind == memory.WriteObserve && w.By != nil {
		return c.modelRemainder(ctx, w)
	}
	rest = w
	rest.Facts, rest.Refused = nil, nil
	if rest.Vectors, err = c.vectorsLeft(ctx, w); err != nil {
		return rest, false, err
	}
	ids := make([]memory.FactID, 0, len(w.Facts))
	var seqs []uint64
	for _, f := range w.Facts {
		ids = append(ids, f.ID)
		for _, s := range f.Sources {
			seqs = append(seqs, s.Seq)
		}
	}
	known, err := c.deps.Store.KnownFacts(ctx, ids)
	if err != nil {
		return rest, false, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
	}
	said, err := c.deps.Conn.Messages(ctx, seqs)
	if err != nil {
		return rest, false, fmt.Errorf("look up the messages of write %d: %w", w.Seq, err)
	}
	for _, f := range w.Facts {
		if !known[f.ID] {
			continue
		}
		var sources []memory.Source
		for _, s := range f.Sources {
			if _, ok := said[s.Seq]; ok {
				sources = append(sources, s)
			}
		}
		if len(f.Sources) > 0 && len(sources) == 0 {
			continue
		}
		f.Sources = sources
		rest.Facts = append(rest.Facts, f)
	}
	rest.Relations = relationsOf(w.Relations, rest.Facts)
	switch w.Kind {
	case memory.WriteWindow:
		return rest, true, nil // it still ends its window
	case memory.WriteRetain:
		return rest, len(rest.Facts) > 0, nil
	case memory.WriteVectors:
		return rest, len(rest.Vectors) > 0, nil
	case memory.WriteEdit:
		return rest, false, nil
	case memory.WriteObserve:
		return c.observed(ctx, w)
	}
	return w, true, nil
}

// observed is an observe without the ready-made observations that the store no
// longer has; kept is false where none is left.
func (c *Consolidator) observed(ctx context.Context, w memory.Write) (rest memory.Write, kept bool, err error) {
	if w.Observe == nil || len(w.Observe.Observations) == 0 {
		return w, true, nil
	}
	ids := make([]memory.ObservationID, len(w.Observe.Observations))
	for i, in := range w.Observe.Observations {
		ids[i] = givenID(w.Bank, in)
	}
	known, err := c.deps.Store.KnownObservations(ctx, ids)
	if err != nil {
		return w, false, fmt.Errorf("look up the observations of write %d: %w", w.Seq, err)
	}
	asked := *w.Observe
	asked.Observations = nil
	for i, in := range w.Observe.Observations {
		if known[ids[i]] {
			asked.Observations = append(asked.Observations, in)
		}
	}
	w.Observe = &asked
	return w, len(asked.Observations) > 0, nil
}
