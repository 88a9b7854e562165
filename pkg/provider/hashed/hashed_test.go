package hashed_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

func embed(t testing.TB, texts ...string) []memory.Vector {
	t.Helper()
	v, err := hashed.New().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	t.Run("every text has a vector of unit length", func(t *testing.T) {
		t.Parallel()
		texts := []string{"", " ", "!!!", "😊", "the", "Alice lives in Lisbon.", "我喜欢猫", "a\xffb"}
		for i, v := range embed(t, texts...) {
			var sum float64
			for _, f := range v {
				sum += float64(f) * float64(f)
			}
			if len(v) != hashed.Dimension || math.Abs(sum-1) > 1e-5 {
				t.Errorf("%q: %d dimensions, square length %v", texts[i], len(v), sum)
			}
			if err := v.Check("vector"); err != nil {
				t.Errorf("%q: %v", texts[i], err)
			}
		}
	})
	t.Run("the same text always has the same vector", func(t *testing.T) {
		t.Parallel()
		v := embed(t, "Alice lives in Lisbon.", "Alice lives in Lisbon.", "alice lives in LISBON")
		if string(v[0].Bytes()) != string(v[1].Bytes()) {
			t.Error("two vectors of one text differ")
		}
		// A change here is a change of the model: give it a new name.
		want := memory.Cosine(v[0], embed(t, "Alice moved to Lisbon in May 2023.")[0])
		if math.Abs(want-goldenCosine) > 1e-6 {
			t.Errorf("cosine is %.7f, the model's is %.7f", want, goldenCosine)
		}
	})
	t.Run("similar statements have similar vectors, and others do not", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			a, b string
			low  float64
			high float64
		}{
			{"Alice lives in Lisbon.", "Alice is living in Lisbon", 0.85, 1},
			{"Alice adopted a dog named Rex.", "Alice has adopted a dog called Rex.", 0.60, 1},
			{"Alice likes hiking in the mountains.", "Alice loves mountain hikes.", 0.55, 1},
			{"Alice works at a bakery.", "Bob bought a red bicycle.", -0.2, 0.3},
			{"Alice likes tea.", "Alice went to Rome.", -0.2, 0.5},
			{"我喜欢猫", "我很喜欢猫", 0.6, 1},
		} {
			v := embed(t, c.a, c.b)
			if got := memory.Cosine(v[0], v[1]); got < c.low || got > c.high {
				t.Errorf("%q and %q: cosine %.3f, want %.2f to %.2f", c.a, c.b, got, c.low, c.high)
			}
		}
	})
	t.Run("a cancelled context ends it", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := hashed.New().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

const goldenCosine = 0.3369021

func FuzzEmbed(f *testing.F) {
	f.Add("Alice lives in Lisbon.")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if err := embed(t, text)[0].Check("vector"); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	texts := []string{"Caroline attended an LGBTQ support group recently and found the transgender stories inspiring."}
	e := hashed.New()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
