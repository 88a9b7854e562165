package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// tree returns the composites of a level, by id.
func (b *bank) tree(level int) (out []memory.Composite) {
	for _, id := range slices.Sorted(maps.Keys(b.m.Tree)) {
		if c := b.m.Tree[id]; c.Level == level {
			out = append(out, c)
		}
	}
	return out
}

func (b *bank) summarise(c memory.Composite, text string) memory.Changes {
	b.Helper()
	s := memory.Summary{Composite: c.ID, Text: text}
	for _, child := range c.Children {
		s.Facts = append(s.Facts, memory.FactID(child))
	}
	return b.write(memory.Write{Kind: memory.WriteSummary, By: stamp, Summaries: []memory.Summary{s}})
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	t.Run("a composite has its summary until its members change, and then waits for another", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.say(1, "m1", 1, "Alice", "Alice mends old clocks in Dover.")
		b.say(2, "m2", 2, "Alice", "Alice mends old radios in Dover.")
		c := b.tree(1)[0]
		waits, _ := b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting", len(waits), 1)
		b.summarise(c, "Alice mends clocks and radios in Dover.")
		waits, _ = b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting after it", len(waits), 0)
		b.say(3, "m3", 3, "Alice", "Alice mends old radios in Dover.")
		c = b.tree(1)[0]
		equal(t, "text after a member was said again", c.Text, "Alice mends clocks and radios in Dover.")
		equal(t, "vector", slices.Equal(c.Vector, b.fact(b.m.FactsByID[memory.FactID(c.Representative)].Text).Vector), true)
		b.say(4, "m4", 4, "Alice", "Alice mends old boats in Dover.")
		c = b.tree(1)[0]
		if c.By != nil || c.Text != b.m.FactsByID[memory.FactID(c.Representative)].Text {
			t.Errorf("grown, it says %q by %v", c.Text, c.By)
		}
		waits, _ = b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting when it grew", len(waits), 1)
	})
	t.Run("a composite with enough facts waits for a summary", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.cfg.SummariseMin = 3
		b.say(1, "m1", 1, "Alice", "Alice mends old clocks in Dover.")
		b.say(2, "m2", 2, "Alice", "Alice mends old radios in Dover.")
		waits, _ := b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting with two", len(waits), 0)
		b.say(3, "m3", 3, "Alice", "Alice mends old boats in Dover.")
		waits, _ = b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting with three", len(waits), 1)
	})
	t.Run("an empty summary is not requested again, and one of a composite that no longer exists changes nothing", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.say(1, "m1", 1, "Alice", "Alice mends old clocks in Dover.")
		b.say(2, "m2", 2, "Alice", "Alice mends old radios in Dover.")
		c := b.tree(1)[0]
		ch := b.summarise(c, "")
		equal(t, "composites changed", len(ch.Composites), 0)
		waits, _ := b.m.Pending(memory.PendingSummarise, 10)
		equal(t, "waiting", len(waits), 0)
		b.say(3, "m3", 3, "Alice", "Alice mends old boats in Dover.")
		ch = b.summarise(c, "Alice mends clocks and radios in Dover.")
		equal(t, "outcome", ch.Outcome.Results[0].Outcome, memory.OutcomeRefused)
		equal(t, "rests on", len(ch.Derived), 2)
		gone := c
		gone.Children = append(slices.Clone(c.Children), "f_gone")
		equal(t, "of a fact that is gone", b.summarise(gone, "Alice mends.").Stale, true)
	})
}

func TestModelObservations(t *testing.T) {
	t.Parallel()
	observe := func(b *bank, subject, text string, confidence float64, facts ...memory.FactID) memory.Changes {
		b.Helper()
		return b.write(memory.Write{Kind: memory.WriteObserve, By: stamp, Seen: 7, Observe: &memory.ObserveRequest{Observations: []memory.ObservationInput{
			{Type: memory.ObservationStrategy, Subject: subject, Text: text, Confidence: &confidence, Facts: facts}}}})
	}
	setup := func(t *testing.T) (*bank, []memory.FactID) {
		b := modelBank(t)
		b.say(1, "m1", 1, "Alice", "Alice mends old clocks.")
		b.say(2, "m2", 2, "Alice", "Bob bakes bread.")
		b.say(3, "m3", 3, "Alice", "Carol sails to Dover.")
		return b, []memory.FactID{b.fact("Alice mends old clocks.").ID, b.fact("Bob bakes bread.").ID, b.fact("Carol sails to Dover.").ID}
	}
	t.Run("confidence is clamped, shaped by what the facts show and by skepticism", func(t *testing.T) {
		t.Parallel()
		var got []float64
		for _, skepticism := range []int{1, 3, 4} {
			b, ids := setup(t)
			b.m.Profile.Disposition.Skepticism = skepticism
			c := observe(b, "s", "All keep busy.", 7, ids...)
			got = append(got, c.Observations[0].Confidence)
			equal(t, "seen", b.m.Seen, uint64(7))
		}
		if !(got[0] > got[1] && got[1] > got[2] && got[0] < 1) {
			t.Errorf("confidences by skepticism: %v", got)
		}
		b, ids := setup(t)
		b.m.Profile.Disposition.Skepticism = 5
		equal(t, "two facts for a sceptical bank", len(observe(b, "s", "x", 1, ids[:2]...).Observations), 0)
	})
	t.Run("one fact makes no observation, and the same facts in other words leave it unchanged", func(t *testing.T) {
		t.Parallel()
		b, ids := setup(t)
		equal(t, "of one fact", len(observe(b, "s", "Alice keeps busy.", 1, ids[0], ids[0]).Observations), 0)
		observe(b, "s", "All keep busy.", .8, ids[:2]...)
		equal(t, "changed by other words", len(observe(b, "s", "All are busy.", .2, ids[:2]...).Observations), 0)
		equal(t, "changed by another fact", len(observe(b, "s", "All are busy.", .8, ids...).Observations), 1)
		equal(t, "observations", len(b.m.Observed), 1)
	})
	t.Run("a forgotten fact takes the observation along, an ended one lowers its confidence", func(t *testing.T) {
		t.Parallel()
		b, ids := setup(t)
		before := observe(b, "s", "All keep busy.", .8, ids...).Observations[0]
		b.decide(memory.Decided{Fact: ids[2], Version: b.m.FactsByID[ids[2]].Version, Targets: []memory.Decision{
			{Target: ids[1], Version: b.m.FactsByID[ids[1]].Version, Action: memory.ActionSupersede}}})
		after := b.m.Observed[before.ID]
		if after.Confidence >= before.Confidence || len(after.Facts) != 2 {
			t.Errorf("after a fact ended: %+v", after)
		}
		b.write(memory.Write{Kind: memory.WriteForget, Upto: 9, Forget: &memory.ForgetRequest{ID: string(ids[0]), KeepMessages: true}})
		equal(t, "observations", len(b.m.Observed), 0)
		equal(t, "an observation of what is gone", observe(b, "t", "All keep busy.", .8, ids...).Stale, true)
	})
}

// TestAnyDecisions lets a model decide anything about facts that stand close together, and holds the bank to the
// invariants after each write.
func TestAnyDecisions(t *testing.T) {
	t.Parallel()
	cfg := plan.DefaultConfig()
	cfg.Cap, cfg.Decide, cfg.Summarise, cfg.SummariseMin = 4, true, true, 2
	rapid.Check(t, func(rt *rapid.T) {
		m := consolidatetest.New("alice")
		pick := func(label string) memory.Fact {
			return m.FactsByID[rapid.SampledFrom(slices.Sorted(maps.Keys(m.FactsByID))).Draw(rt, label)]
		}
		for i := range rapid.IntRange(2, 30).Draw(rt, "writes") {
			w := memory.Write{Op: fmt.Sprintf("op%d", i), Time: at(100 + i), Upto: 1 << 40, By: stamp}
			switch kind := rapid.IntRange(0, 5).Draw(rt, "kind"); {
			case kind < 2 || len(m.FactsByID) < 2:
				seq := uint64(i + 1)
				id := memory.MessageID(fmt.Sprintf("m%d", seq))
				said := at(rapid.IntRange(0, 9).Draw(rt, "said"))
				m.Say(seq, id, "s1", "Alice", said, "")
				n := rapid.IntRange(0, 30).Draw(rt, "fact")
				f := placed(fmt.Sprintf("thing glows %c%c", 'a'+rune(n%20), 'b'+rune(n/20)), .8, around(float64(n)*3, 0)...)
				f.Pinned = rapid.IntRange(0, 9).Draw(rt, "pinned") == 0
				f.Sources = []memory.Source{{Message: id, Seq: seq, Said: said, Start: said}}
				w.Kind, w.Facts, w.By = memory.WriteRetain, []memory.Fact{f}, nil
			case kind == 2 && len(m.Tree) > 0:
				c := m.Tree[rapid.SampledFrom(slices.Sorted(maps.Keys(m.Tree))).Draw(rt, "composite")]
				w.Kind, w.Summaries = memory.WriteSummary, []memory.Summary{{Composite: c.ID, Text: fmt.Sprintf("summary %d", i)}}
			case kind == 3:
				w.Kind, w.Forget = memory.WriteForget, &memory.ForgetRequest{ID: string(pick("forgotten").ID), KeepMessages: rapid.Bool().Draw(rt, "keep")}
			default:
				w.Kind = memory.WriteDecide
				for range rapid.IntRange(1, 3).Draw(rt, "decided") {
					f := pick("newer")
					d := memory.Decided{Fact: f.ID, Version: f.Version}
					for range rapid.IntRange(1, 3).Draw(rt, "targets") {
						o := pick("older")
						x := memory.Decision{Target: o.ID, Version: o.Version, Action: rapid.SampledFrom([]memory.Action{memory.ActionUpdate,
							memory.ActionSupersede, memory.ActionMerge, memory.ActionContradict, memory.ActionIgnore, "odd"}).Draw(rt, "action")}
						if x.Action == memory.ActionUpdate {
							x.Text, x.Vector = f.Text+" "+o.Text, f.Vector
						}
						d.Targets = append(d.Targets, x)
					}
					w.Decide = append(w.Decide, d)
				}
			}
			if _, err := m.Write(w, cfg); err != nil {
				rt.Fatal(err)
			}
			checkInvariants(t, m, cfg)
			checkPointers(rt, m)
			for k := range m.Waits {
				f, ok := m.FactsByID[memory.FactID(k.ID)]
				if k.Kind == memory.PendingDecide && (!ok || !f.Live()) {
					rt.Fatalf("%s waits and does not hold", k.ID)
				}
				if _, ok := m.Tree[memory.CompositeID(k.ID)]; k.Kind == memory.PendingSummarise && !ok {
					rt.Fatalf("%s waits and is no more", k.ID)
				}
			}
			if t.Failed() {
				rt.Fatal("an invariant does not hold")
			}
		}
	})
}
