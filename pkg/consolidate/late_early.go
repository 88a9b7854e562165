package consolidate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// earlyVectors are the vectors that a change of the embedding model put into
// the log. A rebuild gives them to their facts where the facts are made, so that
// all that rested on vectors then (duplicates, conflicts, decisions, the tree)
// comes about in the order in which it did. Of a fact's vectors the first in
// the log stands.
type earlyVectors struct {
	*Consolidator
	at     map[memory.FactID]earlyEvent
	recent []recentVectors // what was read of such events last
}

// earlyEvent is the event that holds a fact's vector.
type earlyEvent struct {
	seq  uint64
	time time.Time // zero = it is new, and stands behind every write
}

type recentVectors struct {
	seq   uint64
	facts map[memory.FactID]memory.LateVector
}

// recentEvents is how many events of vectors are kept decoded: they were
// appended in the order of the facts, so few are needed at a time.
const recentEvents = 16

// loadEarly finds out which facts have a vector of the configured model so.
func (c *Consolidator) loadEarly(ctx context.Context) (*earlyVectors, error) {
	v := &earlyVectors{Consolidator: c, at: map[memory.FactID]earlyEvent{}}
	names := c.deps.Conn.Naming
	filter := names.Subject("*", events.KindWrite, string(memory.WriteVectors))
	_, err := c.deps.Conn.Scan(ctx, names.Writes(), []string{filter}, 0, func(e events.Event) error {
		if !bytes.Contains(e.Data, []byte(`"early":true`)) { // most are not, and decoding them is dear
			return nil
		}
		if w, err := e.Write(); err == nil && w.Early {
			v.note(w)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for vectors in %s: %w", names.Writes(), err)
	}
	return v, nil
}

// note takes in an event of early vectors.
func (v *earlyVectors) note(w memory.Write) {
	for _, l := range w.Vectors {
		id := memory.FactID(l.ID)
		if _, known := v.at[id]; !known && l.Record == memory.RecordFact && v.config.compares(l.Vector, l.Model) {
			v.at[id] = earlyEvent{w.Seq, w.Time}
		}
	}
}

// bare gives the places of the facts of a write that have no vector of the
// configured model, with their ids.
func (c Config) bare(w memory.Write) map[int]memory.FactID {
	var out map[int]memory.FactID
	for i, f := range w.Facts {
		if c.compares(f.Vector, f.Model) {
			continue
		}
		if out == nil {
			out = map[int]memory.FactID{}
		}
		out[i] = memory.NewFactID(w.Bank, f.Text, cmp.Or(f.Kind, memory.KindWorld))
	}
	return out
}

// fill gives the facts of a write their early vectors. What was embedded before
// the write was made fills nothing.
func (v *earlyVectors) fill(ctx context.Context, w *memory.Write) error {
	if len(v.at) == 0 {
		return nil
	}
	bare := v.config.bare(*w)
	if len(bare) == 0 {
		return nil
	}
	w.Facts = slices.Clone(w.Facts)
	for i := range w.Facts {
		at, ok := v.at[bare[i]]
		if !ok || !at.time.IsZero() && at.time.Before(w.Time) {
			continue
		}
		held, err := v.event(ctx, at.seq)
		if err != nil {
			return err
		}
		if l, ok := held[bare[i]]; ok {
			w.Facts[i].Vector, w.Facts[i].Model = l.Vector, l.Model
		}
	}
	return nil
}

// event gives the vectors of an event of the log, by fact.
func (v *earlyVectors) event(ctx context.Context, seq uint64) (map[memory.FactID]memory.LateVector, error) {
	for _, r := range v.recent {
		if r.seq == seq {
			return r.facts, nil
		}
	}
	e, err := v.deps.Conn.EventAt(ctx, v.deps.Conn.Naming.Writes(), seq)
	if err != nil {
		return nil, fmt.Errorf("read the vectors of write %d: %w", seq, err)
	}
	w, err := e.Write()
	if err != nil {
		return nil, fmt.Errorf("read the vectors of write %d: %w", seq, err)
	}
	return v.keep(w), nil
}

// keep keeps the vectors of an event at hand.
func (v *earlyVectors) keep(w memory.Write) map[memory.FactID]memory.LateVector {
	facts := make(map[memory.FactID]memory.LateVector, len(w.Vectors))
	for _, l := range w.Vectors {
		if _, twice := facts[memory.FactID(l.ID)]; !twice && l.Record == memory.RecordFact {
			facts[memory.FactID(l.ID)] = l
		}
	}
	v.recent = append(v.recent, recentVectors{w.Seq, facts})
	v.recent = v.recent[max(0, len(v.recent)-recentEvents):]
	return facts
}
