package plan_test

import (
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// neural are the settings under an embedding model.
func neural(e *consolidatetest.Embedder) plan.Config {
	cfg := plan.DefaultConfig()
	cfg.Thresholds, cfg.Model, cfg.Dimension = e.Thresholds(), e.Name(), e.Dimension()
	return cfg
}

func TestVectorsOfAnotherModel(t *testing.T) {
	t.Parallel()
	now, old := consolidatetest.NewEmbedder("test:new"), consolidatetest.NewEmbedder("test:old")
	foreign := func(text string) memory.Fact {
		f := consolidatetest.FactWithoutVector(text)
		f.Vector, f.Model = old.Vector(t, text), old.Name()
		return f
	}
	held := func(t *testing.T, m *consolidatetest.Memory, text string) memory.Fact {
		t.Helper()
		f, ok := m.Fact(text)
		if !ok {
			t.Fatalf("there is no fact %q", text)
		}
		if f.Vector != nil || f.Model != "" {
			t.Errorf("%q has a vector of %q", text, f.Model)
		}
		return f
	}
	t.Run("facts of a window are stored without vectors", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		m.Say(1, "m1", "s", "Alice", at(1), "")
		f := foreign("Alice drives a car.")
		f.Sources = []memory.Source{{Message: "m1", Seq: 1, Said: at(1), Start: at(1)}}
		w := memory.Window{ID: memory.NewWindowID("alice", "s", 1, 1, 0), New: []memory.WindowMessage{{Seq: 1}}}
		c := write(t, m, neural(now), memory.Write{Kind: memory.WriteWindow, Op: "w", Time: at(1), Facts: []memory.Fact{f},
			Window: &memory.WindowEnd{Window: w, SessionID: "s", Outcome: memory.WindowFacts}})
		if c.Outcome.Code != 0 || c.Window == nil || c.Window.Outcome != memory.WindowFacts {
			t.Errorf("the window ended as %+v", c.Outcome)
		}
		held(t, m, f.Text)
	})
	t.Run("retained and edited facts are stored without vectors too", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		write(t, m, neural(now), memory.Write{Kind: memory.WriteRetain, Op: "r", Time: at(1), Facts: []memory.Fact{foreign("Alice drives a car.")}})
		f := held(t, m, "Alice drives a car.")
		next := "Alice drives a red car."
		c := write(t, m, neural(now), memory.Write{Kind: memory.WriteEdit, Op: "e", Time: at(2),
			Edit: &memory.EditWrite{EditRequest: memory.EditRequest{ID: f.ID, Text: next}, Vector: old.Vector(t, next), Model: old.Name()}})
		if c.Outcome.Code != 0 {
			t.Errorf("the edit was refused: %+v", c.Outcome)
		}
		held(t, m, next)
	})
	t.Run("a vector of the right model but the wrong size, or of no size, is left out too", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		short, zero := consolidatetest.FactWithoutVector("Alice drives a car."), consolidatetest.FactWithoutVector("Alice has a dog.")
		short.Vector, short.Model = memory.Vector{1, 0}, now.Name()
		zero.Vector, zero.Model = make(memory.Vector, now.Dimension()), now.Name()
		write(t, m, neural(now), memory.Write{Kind: memory.WriteRetain, Op: "r", Time: at(1), Facts: []memory.Fact{short, zero}})
		held(t, m, short.Text)
		held(t, m, zero.Text)
	})
}

func TestLateVectors(t *testing.T) {
	t.Parallel()
	e := consolidatetest.NewEmbedder("test:model")
	cfg := neural(e)
	texts := []string{"Alice drives a red car.", "Alice drives a red automobile.", "Alice has a dog."}
	start := func(t *testing.T) *consolidatetest.Memory {
		t.Helper()
		m := consolidatetest.New("alice")
		for i, text := range texts {
			write(t, m, cfg, memory.Write{Kind: memory.WriteRetain, Op: text, Time: at(i), Facts: []memory.Fact{consolidatetest.FactWithoutVector(text)}})
		}
		return m
	}
	vectors := func(t *testing.T, m *consolidatetest.Memory, op string, list ...memory.LateVector) memory.Changes {
		t.Helper()
		return write(t, m, cfg, memory.Write{Kind: memory.WriteVectors, Op: op, Time: at(9), Vectors: list})
	}
	t.Run("late vectors put facts into the tree as if the facts had arrived with them", func(t *testing.T) {
		t.Parallel()
		m, whole := start(t), consolidatetest.New("alice")
		if len(m.Tree) != 0 {
			t.Fatalf("there are %d composites without a vector", len(m.Tree))
		}
		for i, text := range texts {
			f := consolidatetest.FactWithoutVector(text)
			f.Vector, f.Model = e.Vector(t, text), e.Name()
			write(t, whole, cfg, memory.Write{Kind: memory.WriteRetain, Op: text, Time: at(i), Facts: []memory.Fact{f}})
		}
		vectors(t, m, "late", e.LateVector(t, texts[0]), e.LateVector(t, texts[1]), e.LateVector(t, texts[2]))
		if len(whole.Tree) != 1 {
			t.Fatalf("facts with vectors make %d composites; the test needs one", len(whole.Tree))
		}
		for id, c := range whole.Tree {
			if got, ok := m.Tree[id]; !ok || !slices.Equal(got.Children, c.Children) {
				t.Errorf("the composite over %v is %+v", c.Children, got)
			}
		}
		for id, f := range whole.FactsByID {
			if got := m.FactsByID[id]; !slices.Equal(got.Vector, f.Vector) || got.Model != f.Model || got.Version != f.Version || got.Live() != f.Live() {
				t.Errorf("%q is at version %d of %q; with its vector from the start at %d of %q", f.Text, got.Version, got.Model, f.Version, f.Model)
			}
		}
		checkInvariants(t, m, cfg)
	})
	t.Run("late vectors merge facts that turn out to be one statement", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		for i, text := range []string{"Alice keeps bees.", "Alice really keeps bees."} {
			write(t, m, cfg, memory.Write{Kind: memory.WriteRetain, Op: text, Time: at(i), Facts: []memory.Fact{consolidatetest.FactWithoutVector(text)}})
		}
		one, two := e.LateVector(t, "Alice keeps bees."), e.LateVector(t, "Alice really keeps bees.")
		two.Vector = one.Vector
		vectors(t, m, "late", one, two)
		if live := m.Live(); len(live) != 1 || live[0].Text != "Alice really keeps bees." {
			t.Errorf("live are %v", live)
		}
	})
	t.Run("late vectors that come again, or are of another model or size, change nothing", func(t *testing.T) {
		t.Parallel()
		m := start(t)
		vectors(t, m, "late", e.LateVector(t, texts[0]))
		twice := e.LateVector(t, texts[0])
		twice.Vector = e.Vector(t, "Something else entirely.")
		foreign, short := consolidatetest.NewEmbedder("test:other").LateVector(t, texts[1]), e.LateVector(t, texts[2])
		short.Vector = short.Vector[:8]
		c := vectors(t, m, "again", twice, foreign, short)
		if len(c.Facts)+len(c.Composites)+len(c.Changes) != 0 || c.Stale {
			t.Errorf("they changed %+v", c)
		}
		if f, _ := m.Fact(texts[0]); !slices.Equal(f.Vector, e.Vector(t, texts[0])) {
			t.Error("the first vector did not stand")
		}
	})
	t.Run("of several late vectors of a message the first is kept", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		m.Say(1, "m1", "s", "Alice", at(1), "")
		m.Say(2, "m1", "s", "Alice", at(2), "")
		said := memory.LateVector{Record: memory.RecordMessage, ID: "m1", Seq: 1, Model: e.Name(), Vector: e.Vector(t, "one")}
		other, double := said, said
		other.Vector, double.Seq = e.Vector(t, "two"), 2
		c := vectors(t, m, "late", said, other, double)
		if len(c.MessageVectors) != 1 || !slices.Equal(m.Vectors[1], said.Vector) || c.Stale {
			t.Errorf("kept are %+v", c.MessageVectors)
		}
	})
	t.Run("late vectors of records that are gone make their event stale", func(t *testing.T) {
		t.Parallel()
		m := start(t)
		if c := vectors(t, m, "fact", e.LateVector(t, texts[0]), e.LateVector(t, "Nobody said this.")); !c.Stale || len(c.Facts) != 1 {
			t.Errorf("a fact that is gone: stale %v, %d facts", c.Stale, len(c.Facts))
		}
		if c := vectors(t, m, "message", memory.LateVector{Record: memory.RecordMessage, Seq: 7, Model: e.Name(), Vector: e.Vector(t, "x")}); !c.Stale {
			t.Error("a message that is gone does not make it stale")
		}
	})
	t.Run("a write without late vectors is invalid", func(t *testing.T) {
		t.Parallel()
		if _, err := start(t).Write(memory.Write{Kind: memory.WriteVectors, Op: "none"}, cfg); err == nil {
			t.Error("it was accepted")
		}
	})
}
