package plan_test

import (
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// settings are those of the embedder the tests use.
func settings() plan.Config {
	cfg := plan.DefaultConfig()
	cfg.Thresholds = hashed.New().Thresholds()
	return cfg
}

// write plans and applies a write and fails the test on an error.
func write(t testing.TB, m *consolidatetest.Memory, cfg plan.Config, w memory.Write) memory.Changes {
	t.Helper()
	c, err := m.Write(w, cfg)
	if err != nil {
		t.Fatalf("write %s: %v", w.Op, err)
	}
	return c
}

func retain(t testing.TB, m *consolidatetest.Memory, cfg plan.Config, op string, at time.Time, speaker, text string) memory.Changes {
	t.Helper()
	return write(t, m, cfg, memory.Write{Kind: memory.WriteRetain, Op: op, Time: at, Facts: []memory.Fact{consolidatetest.Fact(t, speaker, text)}})
}

// checkInvariants holds a bank to what is promised of every bank.
func checkInvariants(t testing.TB, m *consolidatetest.Memory, cfg plan.Config) {
	t.Helper()
	parents := map[string]memory.CompositeID{}
	for id, c := range m.Tree {
		if n := len(c.Children); n < 2 || n > cfg.Cap {
			t.Errorf("composite %s has %d members", id, n)
		}
		if c.ID != memory.NewCompositeID(m.ID, c.Level, c.Children) {
			t.Errorf("composite %s is not named after its members", id)
		}
		if !slices.Contains(c.Children, c.Representative) {
			t.Errorf("composite %s is represented by no member of it", id)
		}
		for _, child := range c.Children {
			if p, ok := parents[child]; ok {
				t.Errorf("%s stands in %s and in %s", child, p, id)
			}
			parents[child] = id
			text, v, rep := memberOf(m, c, child)
			if text == "" {
				t.Errorf("composite %s holds %s, which is not there or not live", id, child)
				continue
			}
			if child == c.Representative && c.By == nil && text != c.Text {
				t.Errorf("composite %s says %q, its representative %q", id, c.Text, text)
			}
			if cos := memory.Cosine(v, rep); cos < cfg.Thresholds.Diameter-1e-6 {
				t.Errorf("composite %s: member %s is at %.3f from the representative", id, child, cos)
			}
		}
	}
	for id, f := range m.FactsByID {
		if f.Confidence < 0 || f.Confidence > 1 {
			t.Errorf("fact %s has confidence %v", id, f.Confidence)
		}
		if f.Live() && f.Superseded != "" {
			t.Errorf("fact %s is live and superseded", id)
		}
		for i, v := range f.Valid {
			if v.To != nil && !v.To.After(v.From) || i > 0 && (f.Valid[i-1].To == nil || v.From.Before(*f.Valid[i-1].To)) {
				t.Errorf("fact %s has intervals %v", id, f.Valid)
			}
		}
		if f.ID != memory.NewFactID(m.ID, f.Text, f.Kind) {
			t.Errorf("fact %s is not named after its text", id)
		}
	}
}

func memberOf(m *consolidatetest.Memory, c memory.Composite, child string) (string, memory.Vector, memory.Vector) {
	if c.Level == 1 {
		f := m.FactsByID[memory.FactID(child)]
		if !f.Live() {
			return "", nil, nil
		}
		return f.Text, f.Vector, m.FactsByID[memory.FactID(c.Representative)].Vector
	}
	n := m.Tree[memory.CompositeID(child)]
	return n.Text, n.Vector, m.Tree[memory.CompositeID(c.Representative)].Vector
}
