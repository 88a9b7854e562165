package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// vectorRows are rows of a table x of vectors that are compared with one: a query from FROM on, with its arguments behind the
// list of numbers, which comes first.
type vectorRows struct {
	rec    memory.Record
	number string // the column of the row number
	from   string
	nos    []int64 // the list; nil where the query has none
	args   []any

	// passing is a query of those numbers of a list whose rows pass, with its arguments behind the list; "" = all do that have
	// vectors.
	passing     string
	passingArgs []any
	plain       bool // those pass that a search without a filter finds
}

// distant is a row with its distance from a vector.
type distant struct {
	no       int64
	distance float64
}

// near returns the rows that are nearest to v, limit at most, by descending cosine and then number. Vectors are of unit length.
func (r *Reader) near(ctx context.Context, v memory.Vector, rows vectorRows, limit int) ([]recall.Near, error) {
	var out []recall.Near
	add := func(no int64, d float64) { out = append(out, recall.Near{No: no, Cosine: max(-1, min(1, 1-d*d/2))}) }
	tx, args := r.tx.With(ctx), rows.args
	if rows.nos != nil {
		args = append([]any{engine.List(rows.nos)}, args...)
		if distancer, ok := tx.Engine().(engine.Distancer); ok {
			all, done, err := r.compareHeld(tx, v, distancer.Distancer(v), rows)
			if done || err != nil {
				slices.SortFunc(all, func(a, b distant) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.no, b.no)) })
				for _, d := range all[:min(limit, len(all))] {
					add(d.no, d.distance)
				}
				return out, err
			}
		}
	}
	err := tx.Engine().Distances(tx, v, rows.number, rows.from, args, limit, add)
	return out, err
}

// compareHeld returns the distances of rows in no order. It reads the vectors of those that are not held, and of the others
// which pass. done is false where no vectors of the bank are held.
func (r *Reader) compareHeld(tx *engine.Tx, v memory.Vector, distance func(packed []byte) float64, rows vectorRows) (all []distant, done bool, err error) {
	held, key := r.store.held, sketchKey{r.bank, rows.rec}
	var known []int64
	var distances []distant
	others, follows := held.each(key, r.lastChange, sketch.PackedSize(len(v)), rows.nos, func(no int64, packed []byte) {
		known = append(known, no)
		distances = append(distances, distant{no, distance(packed)})
	})
	if !follows {
		return nil, false, nil
	}
	passing := known
	if rows.plain {
		if visible, held := r.store.rows.passing(key, r.state(rows.rec), known); held {
			passing, rows.passing = visible, ""
		}
	}
	err = tx.Together(func(tx *engine.Tx) (err error) {
		if len(known) > 0 && rows.passing != "" {
			passing, err = tx.Numbers("look which rows pass", rows.passing, append([]any{engine.List(known)}, rows.passingArgs...)...)
		}
		return err
	}, func(tx *engine.Tx) error {
		if len(others) == 0 {
			return nil
		}
		args := append([]any{engine.List(others)}, rows.args...)
		return tx.Batch("compare vectors", 2, "SELECT "+rows.number+", x.vector "+rows.from, args, func(row *engine.Rowset) error {
			no, packed := row.Int(), []byte(row.Text())
			all = append(all, distant{no, distance(packed)})
			held.put(key, no, r.lastChange, packed, true)
			return nil
		})
	})
	if len(passing) < len(known) {
		passes := make(map[int64]struct{}, len(passing))
		for _, no := range passing {
			passes[no] = struct{}{}
		}
		distances = slices.DeleteFunc(distances, func(d distant) bool { _, ok := passes[d.no]; return !ok })
	}
	return append(all, distances...), true, err
}
