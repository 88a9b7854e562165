package server

import (
	"cmp"
	"math"
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
	var other memory.Vector
	err := t.Batch("compare vectors", 2, "SELECT "+number+", x.vector "+from, args, func(row *engine.Rowset) error {
		no, packed := row.Int(), row.Text()
		other = sketch.UnpackInto(other, packed)
		all = append(all, scored{no, distance(v, other)})
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
	var other memory.Vector
	return func(packed []byte) float64 {
		other = sketch.UnpackInto(other, packed)
		return distance(v, other)
	}
}

// distance is the Euclidean distance of vectors of one size, summed in float32, in order.
func distance(a, b memory.Vector) float64 {
	var sum float32
	for i := range min(len(a), len(b)) {
		d := a[i] - b[i]
		sum += float32(d * d) // rounded before it is added, on every processor
	}
	return float64(float32(math.Sqrt(float64(sum))))
}
