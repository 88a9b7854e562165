package server

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Distances implements engine.Engine. The vectors are compared here, in the arithmetic of sqlite-vec, so that every engine
// says the same of the same vectors.
func (*Server) Distances(t *engine.Tx, v memory.Vector, number, from string, args []any, limit int, each func(no int64, distance float64)) error {
	type scored struct {
		no       int64
		distance float64
	}
	var all []scored
	err := t.Batch("compare vectors", 2, "SELECT "+number+", x.vector "+from, args, func(row *engine.Rowset) error {
		no, packed := row.Int(), row.Text()
		if sketch.PackedDimension(len(packed)) != len(v) {
			return fmt.Errorf("vector %d has %d bytes; expected %d", no, len(packed), sketch.PackedSize(len(v)))
		}
		all = append(all, scored{no, sketch.Distance(v, packed)})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.no, b.no)) })
	if limit >= 0 {
		all = all[:min(limit, len(all))]
	}
	for _, s := range all {
		each(s.no, s.distance)
	}
	return nil
}

// Distancer implements engine.Distancer.
func (*Server) Distancer(v memory.Vector) func(packed []byte) float64 {
	return func(packed []byte) float64 { return sketch.Distance(v, packed) }
}
