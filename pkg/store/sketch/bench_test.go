package sketch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// BenchmarkNearest searches 400 candidates among rows of 384 bits.
func BenchmarkNearest(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 1_000_000} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/workers=%d", rows, workers), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				random := func() []uint64 {
					out := make([]uint64, 6)
					for i := range out {
						out[i] = r.Uint64()
					}
					return out
				}
				x := sketch.NewIndex(sketch.NewCoder(make(memory.Vector, 384)))
				e := x.Edit()
				for i := range rows {
					e.Put(int64(i+1), random())
				}
				e.Commit()
				s, q := x.Snapshot(), random()
				b.ResetTimer()
				for b.Loop() {
					s.Nearest(q, 400, workers, nil)
				}
			})
		}
	}
}

// BenchmarkSketch sketches one vector as the store keeps it.
func BenchmarkSketch(b *testing.B) {
	c := sketch.NewCoder(make(memory.Vector, 384))
	raw, into := make([]byte, sketch.PackedSize(384)), make([]uint64, 6)
	for b.Loop() {
		c.SketchPacked(raw, into)
	}
}

// BenchmarkDistance compares one vector with another as the store keeps it.
func BenchmarkDistance(b *testing.B) {
	v := make(memory.Vector, 384)
	for i := range v {
		v[i] = float32(i) / 384
	}
	raw := sketch.Pack(v)
	for b.Loop() {
		sketch.Distance(v, raw)
	}
}
