package sketch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

func TestCoarse(t *testing.T) {
	t.Parallel()
	t.Run("cosine errors stay below half of the allowance, for any size and for few words", func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(1, 9))
		for _, n := range []int{16, 17, 64, 100, 384, 1024} {
			all := leaning(r, 60, n)
			for range 60 { // mostly zeros, as a vector of hashed words
				v := make(memory.Vector, n)
				for range n/8 + 1 {
					v[r.IntN(n)] += float32(r.IntN(5)) - 1.5
				}
				all = append(all, v)
			}
			for _, a := range all {
				ca := sketch.Coarsen(sketch.Pack(a))
				if ca.Dimension() != n {
					t.Fatalf("%d dimensions became %d", n, ca.Dimension())
				}
				for _, b := range all {
					want, got := memory.Cosine(a, b), float64(ca.Cosine(sketch.Coarsen(sketch.Pack(b))))
					if math.Abs(want-got) > sketch.CoarseError/2 {
						t.Fatalf("of %d dimensions the cosine %v became %v", n, want, got)
					}
				}
			}
		}
	})
	t.Run("a zero vector, or one of another size, is similar to nothing", func(t *testing.T) {
		t.Parallel()
		one := sketch.Coarsen(sketch.Pack(memory.Vector{1, -1, 1, -1}))
		for _, o := range []sketch.Coarse{{}, sketch.Coarsen(nil), sketch.Coarsen(make([]byte, 3)), sketch.Coarsen(sketch.Pack(make(memory.Vector, 4))), sketch.Coarsen(sketch.Pack(memory.Vector{1}))} {
			if c := one.Cosine(o); c != 0 {
				t.Errorf("the cosine is %v", c)
			}
		}
		if c := one.Cosine(one); math.Abs(float64(c)-1) > 1e-6 {
			t.Errorf("the cosine to itself is %v", c)
		}
	})
}

func BenchmarkCoarse(b *testing.B) {
	all := leaning(rand.New(rand.NewPCG(5, 6)), 2, 384)
	x, y := sketch.Coarsen(sketch.Pack(all[0])), sketch.Coarsen(sketch.Pack(all[1]))
	for b.Loop() {
		x.Cosine(y)
	}
}
