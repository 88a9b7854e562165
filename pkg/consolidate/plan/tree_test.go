package plan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// placed is a statement at a place of the vector space.
func placed(text string, confidence float64, v ...float32) memory.Fact {
	return memory.Fact{Text: text, Kind: memory.KindWorld, Type: memory.TypeFact, Confidence: confidence, Vector: memory.Vector(v).Unit()}
}

// around returns a vector at an angle, in degrees, in a plane of three dimensions.
func around(degrees float64, plane int) []float32 {
	v := make([]float32, 6)
	v[2*plane] = float32(math.Cos(degrees * math.Pi / 180))
	v[2*plane+1] = float32(math.Sin(degrees * math.Pi / 180))
	return v
}

// planeBank is a bank under the default thresholds: 0.75 is 41 degrees, 0.70 is 45.
func planeBank(t *testing.T) *bank {
	b := newBank(t)
	b.cfg = plan.DefaultConfig()
	return b
}

func (b *bank) give(days int, facts ...memory.Fact) memory.Changes {
	b.Helper()
	for i := range facts {
		if facts[i].Said.IsZero() {
			facts[i].Said = at(days)
		}
	}
	return b.write(memory.Write{Kind: memory.WriteRetain, Facts: facts})
}

func level(b *bank, n int) []memory.Composite {
	var out []memory.Composite
	for _, c := range b.m.Tree {
		if c.Level == n {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(x, y memory.Composite) int { return len(y.Children) - len(x.Children) })
	return out
}

func TestTree(t *testing.T) {
	t.Parallel()
	t.Run("a fact without a vector stands in no composite", func(t *testing.T) {
		t.Parallel()
		b := planeBank(t)
		b.give(0, placed("fig one", 0.8), placed("fig two", 0.8))
		equal(t, "composites", len(b.m.Tree), 0)
	})
}

// rootOf returns the highest composite above a fact.
func rootOf(b *bank, text string) memory.CompositeID {
	id := string(b.fact(text).ID)
	for root := memory.CompositeID(""); ; {
		up := memory.CompositeID("")
		for _, c := range b.m.Tree {
			if slices.Contains(c.Children, id) {
				up = c.ID
			}
		}
		if up == "" {
			return root
		}
		root, id = up, string(up)
	}
}

// conformTree holds what is promised of the tree.
func conformTree(t *testing.T) {
	t.Helper()
	t.Run("one new fact alone joins a composite, composites grow and are split at the cap, and nobody is left out", func(t *testing.T) {
		t.Parallel()
		b := planeBank(t)
		b.give(0, placed("apples are red", 0.8, around(0, 0)...), placed("apples were picked", 0.8, around(4, 0)...))
		equal(t, "first composite", len(level(b, 1)), 1)
		for i := 2; i < 20; i++ {
			was := rootOf(b, "apples are red")
			c := b.give(i, placed(fmt.Sprintf("apples number %d fell", i), 0.8, around(float64(i), 0)...))
			if i == 2 {
				equal(t, "whose place the grown composite has", c.Renewed[rootOf(b, "apples are red")], was)
			}
			in := 0
			for _, c := range level(b, 1) {
				in += len(c.Children)
			}
			equal(t, "facts in composites", in, i+1)
			checkInvariants(t, b.m, b.cfg)
		}
		if n := len(level(b, 1)); n < 3 {
			t.Errorf("20 facts stand in %d composites of at most 8", n)
		}
	})
	t.Run("a chain whose ends are apart is not one composite", func(t *testing.T) {
		t.Parallel()
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 0, 1}} {
			b := planeBank(t)
			for _, i := range order {
				b.give(i, placed(fmt.Sprintf("link %d", i), 0.8, around(float64(i)*25, 0)...))
			}
			checkInvariants(t, b.m, b.cfg)
			for _, c := range level(b, 1) {
				if len(c.Children) > 2 {
					t.Errorf("order %v: one composite holds %d links of the chain", order, len(c.Children))
				}
			}
		}
	})
	t.Run("superseding or forgetting a member rebuilds every ancestor at once", func(t *testing.T) {
		t.Parallel()
		b := planeBank(t)
		for i := range 20 {
			f := placed(fmt.Sprintf("pear tree %d blooms", i), 0.5+float64(i)/100, around(float64(i), 0)...)
			f.Key = fmt.Sprintf("k%d", i)
			b.give(i, f)
		}
		top := b.m.Tree[rootOf(b, "pear tree 19 blooms")]
		equal(t, "text of the root", top.Text, "pear tree 19 blooms")
		if top.Level < 2 {
			t.Fatalf("the root stands at level %d", top.Level)
		}
		over := placed("lightning", 0.1, around(0, 2)...)
		over.Key, over.Said = "k19", at(30)
		b.give(30, over)
		checkInvariants(t, b.m, b.cfg)
		top = b.m.Tree[rootOf(b, "pear tree 18 blooms")]
		equal(t, "text after superseding", top.Text, "pear tree 18 blooms")
		b.forget(memory.ForgetRequest{ID: string(b.fact("pear tree 18 blooms").ID)})
		checkInvariants(t, b.m, b.cfg)
		equal(t, "text after forgetting", b.m.Tree[rootOf(b, "pear tree 17 blooms")].Text, "pear tree 17 blooms")
		for _, c := range b.m.Tree {
			if c.Text == "pear tree 18 blooms" || c.Text == "pear tree 19 blooms" {
				t.Errorf("level %d keeps the old text %q", c.Level, c.Text)
			}
		}
	})
	t.Run("a crafted set grows three levels, and the same log the same tree", func(t *testing.T) {
		t.Parallel()
		grow := func() *bank {
			b := planeBank(t)
			for i := range 120 {
				b.give(i, placed(fmt.Sprintf("plum %d ripens", i), 0.8, around(math.Mod(float64(i)*7.3, 40), 0)...))
			}
			checkInvariants(t, b.m, b.cfg)
			return b
		}
		one, two := grow(), grow()
		if len(level(one, 3)) == 0 {
			t.Errorf("levels: %d, %d, %d composites", len(level(one, 1)), len(level(one, 2)), len(level(one, 3)))
		}
		equal(t, "composites", len(one.m.Tree), len(two.m.Tree))
		for id, c := range one.m.Tree {
			if fmt.Sprint(c) != fmt.Sprint(two.m.Tree[id]) {
				t.Errorf("composite %s differs", id)
			}
		}
	})
}
