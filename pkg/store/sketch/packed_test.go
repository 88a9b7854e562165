package sketch_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// leaning returns vectors of n dimensions around a few topics, with a component that all share.
func leaning(r *rand.Rand, n, dimension int) []memory.Vector {
	noise := func() memory.Vector {
		v := make(memory.Vector, dimension)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	var topics []memory.Vector
	for range 40 {
		topics = append(topics, noise())
	}
	out := make([]memory.Vector, n)
	for i := range out {
		v, topic := noise(), topics[r.IntN(len(topics))]
		for j := range v {
			v[j] += topic[j] + .5
		}
		out[i] = v.Unit()
	}
	return out
}

func TestPack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	t.Run("packing what was unpacked returns the same bytes, of any size", func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(7, 8))
		for n := 1; n < 400; n++ {
			v := make(memory.Vector, n)
			stretch := math.Exp(20 * (r.Float64() - .5))
			for i := range v {
				v[i] = float32(r.NormFloat64() * stretch)
			}
			raw := sketch.Pack(v)
			if len(raw) != sketch.PackedSize(n) || sketch.PackedDimension(len(raw)) != n {
				t.Fatalf("%d dimensions take %d bytes, which are those of %d", n, len(raw), sketch.PackedDimension(len(raw)))
			}
			got := sketch.Unpack(raw)
			if again := sketch.Pack(got); !bytes.Equal(raw, again) {
				t.Fatalf("of %d dimensions the bytes became others", n)
			}
			if c := memory.Cosine(v, got); c < 1-1e-5 {
				t.Fatalf("of %d dimensions the cosine to what was unpacked is %v", n, c)
			}
			if was, now := length(v), length(got); math.Abs(was-now) > was/30000 {
				t.Fatalf("of %d dimensions the length %v became %v", n, was, now)
			}
		}
	})
	t.Run("nothing but a packed vector is unpacked", func(t *testing.T) {
		t.Parallel()
		for n := range 8 {
			if got := sketch.Unpack(make([]byte, n)); (got != nil) != (n >= 6 && sketch.PackedDimension(n) > 0) {
				t.Errorf("%d bytes gave %v", n, got)
			}
		}
		if got := sketch.Unpack(sketch.Pack(make(memory.Vector, 5))); !slices.Equal(got, make(memory.Vector, 5)) {
			t.Errorf("a zero vector became %v", got)
		}
	})
	all := leaning(r, 4000, 384)
	t.Run("cosines stay within a thousandth, and the ten nearest nearly all the ten nearest", func(t *testing.T) {
		t.Parallel()
		packed := make([]memory.Vector, len(all))
		for i, v := range all {
			packed[i] = sketch.Unpack(sketch.Pack(v))
		}
		found, worst := 0, 0.
		const asked = 60
		for _, q := range all[:asked] {
			want, got := ten(q, all), ten(q, packed)
			for _, i := range want {
				worst = max(worst, math.Abs(memory.Cosine(q, all[i])-memory.Cosine(q, packed[i])))
				if slices.Contains(got, i) {
					found++
				}
			}
		}
		if recall := float64(found) / (10 * asked); recall < .995 || worst > .001 {
			t.Errorf("recall@10 is %.4f, the largest difference of a cosine %.6f", recall, worst)
		}
	})
	t.Run("vectors past the thresholds of duplicates and clusters stay past them", func(t *testing.T) {
		t.Parallel()
		r := rand.New(rand.NewPCG(9, 10))
		for _, threshold := range []float64{.70, .75, .85, .92} {
			for i := range 200 {
				// A neighbour at a known distance from the threshold.
				at := threshold + .001*float64(1-2*(i%2))
				a, b := all[i], all[r.IntN(len(all))]
				side := make(memory.Vector, len(a))
				c := memory.Cosine(a, b)
				for j := range side {
					side[j] = b[j] - float32(c)*a[j]
				}
				side = side.Unit()
				near := make(memory.Vector, len(a))
				for j := range near {
					near[j] = float32(at)*a[j] + float32(math.Sqrt(1-at*at))*side[j]
				}
				got := memory.Cosine(sketch.Unpack(sketch.Pack(a)), sketch.Unpack(sketch.Pack(near)))
				if got >= threshold != (at >= threshold) {
					t.Fatalf("a cosine of %.4f became %.6f", at, got)
				}
			}
		}
	})
}

func length(v memory.Vector) float64 {
	sum := 0.
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// ten returns the indexes of the ten vectors nearest to q.
func ten(q memory.Vector, all []memory.Vector) []int {
	cosines, out := make([]float64, len(all)), make([]int, len(all))
	for i, v := range all {
		cosines[i], out[i] = memory.Cosine(q, v), i
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(cosines[b], cosines[a]), cmp.Compare(a, b)) })
	return out[:10]
}

func ExamplePack() {
	v := memory.Vector{.6, -.8, 0}
	raw := sketch.Pack(v)
	fmt.Println(len(raw), "bytes for", len(v.Bytes()))
	fmt.Printf("%.2f\n", sketch.Unpack(raw))
	// Output:
	// 8 bytes for 12
	// [0.60 -0.80 0.00]
}

// The distance to a packed vector is that to the vector it stands for, bit for bit, as the elements are added up in order.
func TestDistanceIsThatToTheUnpackedVector(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 8))
	for n := range 400 {
		v, other := make(memory.Vector, n+1), make(memory.Vector, n+1)
		for i := range v {
			v[i], other[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
		}
		raw := sketch.Pack(other)
		var sum float32
		for i, x := range sketch.Unpack(raw) {
			d := v[i] - x
			square := d * d
			sum += square
		}
		want := float64(float32(math.Sqrt(float64(sum))))
		if got := sketch.Distance(v, raw); got != want {
			t.Errorf("of %d elements the distance is %v; expected %v", n+1, got, want)
		}
		if got := sketch.Distance(v, string(raw)); got != want {
			t.Errorf("of %d elements in a string the distance is %v; expected %v", n+1, got, want)
		}
	}
}
