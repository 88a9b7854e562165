package plan_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// benchFact is a line of the facts that a language model wrote from long conversations.
type benchFact struct {
	Sample  string `json:"sample_id"`
	Session string `json:"session"`
	Speaker string `json:"speaker"`
	Fact    string `json:"fact"`
}

func benchFacts(t *testing.T) map[string][]benchFact {
	t.Helper()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		t.Skip("EUNOE_BENCH_DIR is not set: the tree over facts of real conversations is NOT measured")
	}
	file, err := os.Open(filepath.Join(dir, "locomo-dev-facts.jsonl"))
	if err != nil {
		t.Skipf("the tree over facts of real conversations is NOT measured: %v", err)
	}
	defer file.Close()
	out := map[string][]benchFact{}
	for s := bufio.NewScanner(file); s.Scan(); {
		var f benchFact
		if err := json.Unmarshal(s.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		out[f.Sample] = append(out[f.Sample], f)
	}
	return out
}

func TestTreeOverRealFacts(t *testing.T) {
	t.Parallel()
	all := benchFacts(t)
	cfg := plan.DefaultConfig()
	cfg.Thresholds = hashed.New().Thresholds()
	var facts, inTree, composites, alike, deepest int
	levels := map[int]int{}
	for _, sample := range slices.Sorted(mapKeys(all)) {
		began := time.Now()
		m := consolidatetest.New(memory.BankID(sample))
		for i, f := range all[sample] {
			retain(t, m, cfg, fmt.Sprintf("op%d", i), time.Date(2023, 5, 8, 12, 0, i, 0, time.UTC), f.Speaker, f.Fact)
		}
		checkInvariants(t, m, cfg)
		live := m.Live()
		leaves := 0
		for _, c := range m.Tree {
			levels[c.Level]++
			deepest = max(deepest, c.Level)
			if c.Level == 1 {
				leaves += len(c.Children)
			}
			composites++
			if shareWithRepresentative(m, c) {
				alike++
			}
		}
		facts += len(live)
		inTree += leaves
		merged := 0
		for _, f := range m.FactsByID {
			if f.Merged != "" {
				merged++
				t.Logf("  merged: %q into %q", f.Text, m.FactsByID[f.Merged].Text)
			}
			if f.Superseded != "" {
				t.Logf("  superseded: %q by %q", f.Text, m.FactsByID[f.Superseded].Text)
			}
		}
		for _, x := range m.Disputes {
			t.Logf("  conflict: %q and %q", m.FactsByID[x.A].Text, m.FactsByID[x.B].Text)
		}
		t.Logf("%s: %d live of %d, %d in composites, %d merged, %v", sample, len(live), len(m.FactsByID), leaves, merged, time.Since(began))
	}
	share := float64(inTree) / float64(facts)
	words := float64(alike) / float64(composites)
	t.Logf("%d facts, %.1f%% in composites, levels %v, %.1f%% of %d composites share a word", facts, 100*share, levels, 100*words, composites)
	if share < 0.15 {
		t.Errorf("%.1f%% of the facts are in composites; 15%% are expected", 100*share)
	}
	if deepest < 2 {
		t.Errorf("the tree has %d levels; two are expected", deepest)
	}
	if words < 0.90 {
		t.Errorf("in %.1f%% of the composites every member shares a word with the representative; 90%% are expected", 100*words)
	}
}

// shareWithRepresentative reports whether every member of a composite shares a content word that is no name with its
// representative.
func shareWithRepresentative(m *consolidatetest.Memory, c memory.Composite) bool {
	text := func(id string) string {
		if c.Level == 1 {
			return m.FactsByID[memory.FactID(id)].Text
		}
		return m.Tree[memory.CompositeID(id)].Text
	}
	rep := plainStems(text(c.Representative))
	for _, child := range c.Children {
		if child != c.Representative && !slices.ContainsFunc(plainStems(text(child)), func(s string) bool { return slices.Contains(rep, s) }) {
			return false
		}
	}
	return true
}

func plainStems(s string) []string {
	names := strings.ToLower(strings.Join(text.Names(s), " "))
	var out []string
	for _, t := range text.Terms(s) {
		if !t.Stop && !t.Name && !t.Number && !slices.Contains(strings.Fields(names), t.Text) {
			out = append(out, t.Stem)
		}
	}
	return out
}
