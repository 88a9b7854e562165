package plan_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestAnyWrites lets random writes change a bank whose facts stand close together, and holds it to the invariants after
// each.
func TestAnyWrites(t *testing.T) {
	t.Parallel()
	cfg := plan.DefaultConfig()
	cfg.Cap = 4
	rapid.Check(t, func(rt *rapid.T) {
		m := consolidatetest.New("alice")
		seq := uint64(0)
		pick := func(label string) memory.FactID {
			ids := slices.Sorted(maps.Keys(m.FactsByID))
			if len(ids) == 0 {
				return "f_none"
			}
			return rapid.SampledFrom(ids).Draw(rt, label)
		}
		for i := range rapid.IntRange(1, 40).Draw(rt, "writes") {
			w := memory.Write{Op: fmt.Sprintf("op%d", i), Time: at(100 + i), Upto: 1 << 40}
			switch rapid.IntRange(0, 7).Draw(rt, "kind") {
			case 5:
				w.Kind, w.Forget = memory.WriteForget, &memory.ForgetRequest{ID: string(pick("forgotten")), KeepMessages: rapid.Bool().Draw(rt, "keep")}
			case 6:
				w.Kind, w.Edit = memory.WriteEdit, &memory.EditWrite{EditRequest: memory.EditRequest{ID: pick("edited"),
					Text: fmt.Sprintf("edit %d", rapid.IntRange(0, 5).Draw(rt, "text"))}, Vector: memory.Vector(around(rapid.Float64Range(0, 90).Draw(rt, "angle"), 0))}
			case 7:
				w.Kind, w.Observe = memory.WriteObserve, &memory.ObserveRequest{}
			default:
				seq++
				m.Say(seq, memory.MessageID(fmt.Sprintf("m%d", seq)), "s1", "Alice", at(int(seq)), "")
				var facts []memory.Fact
				for range rapid.IntRange(1, 4).Draw(rt, "facts") {
					n := rapid.IntRange(0, 30).Draw(rt, "fact")
					f := placed(fmt.Sprintf("thing %d glows", n), rapid.Float64Range(0, 1).Draw(rt, "confidence"), around(float64(n)*3, 0)...)
					f.Entities = []memory.EntityID{"concept:things"}
					f.Said = at(rapid.IntRange(0, 30).Draw(rt, "said"))
					if rapid.Bool().Draw(rt, "keyed") {
						f.Key = fmt.Sprintf("k%d", rapid.IntRange(0, 3).Draw(rt, "key"))
					} else {
						f.Sources = []memory.Source{{Message: memory.MessageID(fmt.Sprintf("m%d", seq)), Seq: seq, Said: f.Said, Start: f.Said}}
					}
					facts = append(facts, f)
				}
				w.Kind, w.Facts = memory.WriteRetain, facts
			}
			before := maps.Clone(m.Tree)
			c, err := m.Write(w, cfg)
			if err != nil {
				rt.Fatal(err)
			}
			checkRenewed(rt, before, c)
			checkInvariants(t, m, cfg)
			checkPointers(rt, m)
			if t.Failed() {
				rt.Fatal("an invariant does not hold")
			}
		}
	})
}

// checkRenewed checks that a composite which takes another's place is new, and that the other goes and hands its place
// to nobody else.
func checkRenewed(t *rapid.T, before map[memory.CompositeID]memory.Composite, c memory.Changes) {
	heirs := map[memory.CompositeID]bool{}
	for id, was := range c.Renewed {
		_, stood := before[was]
		_, known := before[id]
		made := slices.ContainsFunc(c.Composites, func(x memory.Composite) bool { return x.ID == id && x.Level == before[was].Level })
		if known || !stood || !made || heirs[was] || !slices.Contains(c.RemovedComposites, was) {
			t.Fatalf("%s takes the place of %s in %+v", id, was, c)
		}
		heirs[was] = true
	}
}

// checkPointers holds what facts point to: merged and superseded ones lead to facts that are there, no key has two live
// facts, and every fact above a merged one has its sources.
func checkPointers(t *rapid.T, m *consolidatetest.Memory) {
	keys := map[string]memory.FactID{}
	for id, f := range m.FactsByID {
		if f.Live() && f.Key != "" {
			if other, ok := keys[f.Key]; ok {
				t.Fatalf("key %s has the live facts %s and %s", f.Key, id, other)
			}
			keys[f.Key] = id
		}
		if _, ok := m.FactsByID[f.Superseded]; f.Superseded != "" && !ok {
			t.Fatalf("%s is superseded by %s, which is not there", id, f.Superseded)
		}
		if f.Merged == "" {
			continue
		}
		to, ok := m.FactsByID[f.Merged]
		if !ok {
			t.Fatalf("%s is merged into %s, which is not there", id, f.Merged)
		}
		for _, s := range f.Sources {
			if !slices.ContainsFunc(to.Sources, func(o memory.Source) bool { return o.Seq == s.Seq }) {
				t.Fatalf("%s lacks the source %s of %s, which it absorbed", to.ID, s.Message, id)
			}
		}
	}
	for _, o := range m.Observed {
		if len(o.Facts) == 0 || math.IsNaN(o.Confidence) || o.Confidence < 0 || o.Confidence > 1 {
			t.Fatalf("observation %+v", o)
		}
		for _, id := range o.Facts {
			if _, ok := m.FactsByID[id]; !ok {
				t.Fatalf("observation %s rests on %s, which is not there", o.ID, id)
			}
		}
	}
}
