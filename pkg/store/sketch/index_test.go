package sketch_test

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// plain is a reference index: a map that is searched row by row.
type plain map[int64][]uint64

func (p plain) nearest(q []uint64, limit int, pass func(int64) bool) []int64 {
	type row struct {
		no int64
		d  int
	}
	var all []row
	for no, b := range p {
		d := 0
		for i := range q {
			d += bits.OnesCount64(q[i] ^ b[i])
		}
		if pass == nil || pass(no) {
			all = append(all, row{no, d})
		}
	}
	slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.no, b.no)) })
	out := make([]int64, min(limit, len(all)))
	for i := range out {
		out[i] = all[i].no
	}
	return out
}

func TestIndex(t *testing.T) {
	t.Parallel()
	t.Run("returns what a row-by-row search returns, whatever was put and removed", func(t *testing.T) {
		t.Parallel()
		for _, dimension := range []int{40, 384, 1000} {
			r := rand.New(rand.NewPCG(uint64(dimension), 1))
			c := sketch.NewCoder(make(memory.Vector, dimension))
			random := func() []uint64 {
				out := make([]uint64, c.Words())
				for i := range out {
					out[i] = r.Uint64() & r.Uint64() & r.Uint64() // many near to each other
				}
				return out
			}
			x, want := sketch.NewIndex(c), plain{}
			for range 60 {
				e := x.Edit()
				for range r.IntN(600) {
					if no := int64(r.IntN(9000)); r.IntN(4) > 0 {
						b := random()
						e.Put(no, b)
						want[no] = b
					} else {
						e.Remove(no)
						delete(want, no)
					}
				}
				e.Commit()
				s := x.Snapshot()
				if s.Rows() != len(want) {
					t.Fatalf("%d rows; want %d", s.Rows(), len(want))
				}
				q, limit := random(), 1+r.IntN(500)
				var pass func(int64) bool
				if r.IntN(2) == 0 {
					of := 1 + r.Int64N(50)
					pass = func(no int64) bool { return no%of == 0 }
				}
				if got := s.Nearest(q, limit, 2, pass); !slices.Equal(got, want.nearest(q, limit, pass)) {
					t.Fatalf("%d dimensions, %d of %d rows: another result than row by row", dimension, limit, s.Rows())
				}
			}
		}
	})
	t.Run("returns the same with several goroutines, many rows at one distance included", func(t *testing.T) {
		t.Parallel()
		c := sketch.NewCoder(make(memory.Vector, 64))
		x, want := sketch.NewIndex(c), plain{}
		e := x.Edit()
		for i := range 140_000 {
			b := []uint64{0xff << (8 * (i % 3))}
			no := int64(140_000 - i)
			e.Put(no, b)
			want[no] = b
		}
		e.Commit()
		q := []uint64{0xff00}
		for _, workers := range []int{1, 2, 4} {
			if got := x.Snapshot().Nearest(q, 700, workers, nil); !slices.Equal(got, want.nearest(q, 700, nil)) {
				t.Errorf("%d goroutines give another result than row by row", workers)
			}
		}
	})
	t.Run("does not change earlier snapshots", func(t *testing.T) {
		t.Parallel()
		x := sketch.NewIndex(sketch.NewCoder(make(memory.Vector, 64)))
		e := x.Edit()
		e.Put(1, []uint64{1})
		e.Put(2, []uint64{3})
		e.Commit()
		before := x.Snapshot()
		e = x.Edit()
		e.Remove(1)
		e.Put(2, []uint64{^uint64(0)})
		e.Put(3, []uint64{0})
		if got := x.Snapshot().Nearest([]uint64{0}, 9, 1, nil); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("before the commit there are %v", got)
		}
		e.Commit()
		if got := before.Nearest([]uint64{0}, 9, 1, nil); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("the earlier state holds %v", got)
		}
		if got := x.Snapshot().Nearest([]uint64{0}, 9, 1, nil); !slices.Equal(got, []int64{3, 2}) {
			t.Errorf("the later state holds %v", got)
		}
	})
	t.Run("skips vectors that it cannot hold", func(t *testing.T) {
		t.Parallel()
		x := sketch.NewIndex(sketch.NewCoder(make(memory.Vector, 64)))
		e := x.Edit()
		e.Put(-1, []uint64{0})
		e.Put(sketch.MaxRow, []uint64{0})
		e.Put(1, []uint64{0, 0})
		e.Remove(5)
		e.Commit()
		s := x.Snapshot()
		if s.Rows() != 0 || s.Nearest([]uint64{0}, 5, 1, nil) == nil || len(s.Nearest([]uint64{0, 0}, 5, 1, nil)) != 0 || s.Nearest([]uint64{0}, 0, 1, nil) != nil {
			t.Errorf("it holds %d rows", s.Rows())
		}
	})
}

func TestCoder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	random := func() memory.Vector {
		v := make(memory.Vector, 100)
		for i := range v {
			v[i] = float32(r.NormFloat64()) + 2
		}
		return v.Unit()
	}
	var all []memory.Vector
	for range 500 {
		all = append(all, random())
	}
	c := sketch.NewCoder(sketch.Centre(all))
	t.Run("splits vectors of one direction in half in every dimension", func(t *testing.T) {
		t.Parallel()
		above := make([]int, 100)
		for _, v := range all {
			for i, b := range c.Sketch(v) {
				for j := range 64 {
					if b>>j&1 == 1 {
						above[64*i+j]++
					}
				}
			}
		}
		for i, n := range above {
			if n < 150 || n > 350 {
				t.Errorf("in dimension %d %d of 500 lie above the centre", i, n)
			}
		}
	})
	t.Run("reads a packed vector as the vector, and no other size", func(t *testing.T) {
		t.Parallel()
		into := make([]uint64, c.Words())
		for _, v := range all {
			if into[0] = 1; !c.SketchPacked(sketch.Pack(v), into) || !slices.Equal(into, c.Sketch(sketch.Unpack(sketch.Pack(v)))) {
				t.Fatal("a packed vector has another sketch")
			}
		}
		if c.SketchPacked(sketch.Pack(all[0])[1:], into) || c.SketchPacked(nil, into) || c.SketchPacked(sketch.Pack(all[0]), into[1:]) {
			t.Error("what has another size was sketched")
		}
		if c.Dimension() != 100 || sketch.Centre(nil) != nil {
			t.Errorf("the coder has %d dimensions", c.Dimension())
		}
	})
}
