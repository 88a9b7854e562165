package rebuild

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// earlyVectors are the vectors that a change of the embedding model appended to the log. A rebuild gives them to their
// facts where the facts are made, so that all that rests on vectors (duplicates, conflicts, decisions, the tree) comes
// about in its original order. Of several vectors of a fact the first in the log counts.
type earlyVectors struct {
	conn   *events.Conn
	config plan.Config
	events map[memory.FactID]earlyEvent
	// decoded caches the vectors of events by sequence. They were appended in the order of the facts, so few are needed
	// at a time.
	decoded *lru.Cache[uint64, map[memory.FactID]memory.LateVector]
}

// earlyEvent is the event that holds a fact's vector.
type earlyEvent struct {
	seq  uint64
	time time.Time // zero for one appended by this rebuild, which is later than every write
}

const decodedEvents = 16

// findEarlyVectors finds the facts that have a vector of the configured model in the log.
func findEarlyVectors(ctx context.Context, conn *events.Conn, cfg plan.Config) (*earlyVectors, error) {
	decoded, err := lru.New[uint64, map[memory.FactID]memory.LateVector](decodedEvents)
	if err != nil {
		return nil, err
	}
	v := &earlyVectors{conn: conn, config: cfg, events: map[memory.FactID]earlyEvent{}, decoded: decoded}
	filter := conn.Naming.Subject("*", events.KindWrite, string(memory.WriteVectors))
	_, err = ordered.Scan(ctx, conn, conn.Naming.Writes(), []string{filter}, 0, func(e events.Event) error {
		if !bytes.Contains(e.Data, []byte(`"early":true`)) { // most are not, and decoding them is slow
			return nil
		}
		if w, err := e.Write(); err == nil && w.Early {
			v.note(w)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for vectors in %s: %w", conn.Naming.Writes(), err)
	}
	return v, nil
}

// note records which facts have their first vector in this write.
func (v *earlyVectors) note(w memory.Write) {
	for _, l := range w.Vectors {
		id := memory.FactID(l.ID)
		if _, ok := v.events[id]; !ok && l.Record == memory.RecordFact && v.config.Compares(l.Vector, l.Model) {
			v.events[id] = earlyEvent{w.Seq, w.Time}
		}
	}
}

// withoutVector returns the ids of a write's facts that have no vector of the configured model, by their index.
func withoutVector(cfg plan.Config, w *memory.Write) map[int]memory.FactID {
	out := map[int]memory.FactID{}
	for i, f := range w.Facts {
		if !cfg.Compares(f.Vector, f.Model) {
			out[i] = memory.NewFactID(w.Bank, f.Text, cmp.Or(f.Kind, memory.KindWorld))
		}
	}
	return out
}

// fill returns the facts of a write their early vectors, except those appended before the write was made.
func (v *earlyVectors) fill(ctx context.Context, w *memory.Write) error {
	if len(v.events) == 0 {
		return nil
	}
	bare := withoutVector(v.config, w)
	if len(bare) == 0 {
		return nil
	}
	w.Facts = slices.Clone(w.Facts)
	for i, id := range bare {
		at, ok := v.events[id]
		if !ok || !at.time.IsZero() && at.time.Before(w.Time) {
			continue
		}
		vectors, err := v.read(ctx, at.seq)
		if err != nil {
			return fmt.Errorf("read the vectors of write %d: %w", at.seq, err)
		}
		if l, ok := vectors[id]; ok {
			w.Facts[i].Vector, w.Facts[i].Model = l.Vector, l.Model
		}
	}
	return nil
}

// read returns the vectors of an event, by fact.
func (v *earlyVectors) read(ctx context.Context, seq uint64) (map[memory.FactID]memory.LateVector, error) {
	if vectors, ok := v.decoded.Get(seq); ok {
		return vectors, nil
	}
	e, err := v.conn.EventAt(ctx, v.conn.Naming.Writes(), seq)
	if err != nil {
		return nil, err
	}
	w, err := e.Write()
	if err != nil {
		return nil, err
	}
	return v.remember(w), nil
}

// remember caches and returns the vectors of a write, by fact.
func (v *earlyVectors) remember(w memory.Write) map[memory.FactID]memory.LateVector {
	vectors := make(map[memory.FactID]memory.LateVector, len(w.Vectors))
	for _, l := range slices.Backward(w.Vectors) { // the first of a fact counts
		if l.Record == memory.RecordFact {
			vectors[memory.FactID(l.ID)] = l
		}
	}
	v.decoded.Add(w.Seq, vectors)
	return vectors
}
