package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var day = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

func at(days int) time.Time { return day.AddDate(0, 0, days) }

// bank is a bank under test.
type bank struct {
	*testing.T
	m   *consolidatetest.Memory
	cfg plan.Config
	ops int
}

func newBank(t *testing.T) *bank {
	return &bank{T: t, m: consolidatetest.New("alice"), cfg: settings()}
}

func (b *bank) write(w memory.Write) memory.Changes {
	b.Helper()
	b.ops++
	if w.Op == "" {
		w.Op = fmt.Sprintf("op%d", b.ops)
	}
	if w.Time.IsZero() {
		w.Time = at(100 + b.ops)
	}
	return write(b.T, b.m, b.cfg, w)
}

// say stores a message and the window that draws these statements from it.
func (b *bank) say(seq uint64, id string, days int, speaker string, statements ...string) memory.Changes {
	b.Helper()
	if _, ok := b.m.Events[seq]; !ok {
		b.m.Say(seq, memory.MessageID(id), "s1", speaker, at(days), "")
	}
	var facts []memory.Fact
	for _, s := range statements {
		f := consolidatetest.Fact(b.T, speaker, s)
		f.Sources = []memory.Source{{Message: memory.MessageID(id), Seq: seq, Said: at(days), Start: at(days)}}
		facts = append(facts, f)
	}
	return b.window(seq, seq, 0, facts...)
}

func (b *bank) window(first, last uint64, generation int, facts ...memory.Fact) memory.Changes {
	b.Helper()
	w := memory.Window{ID: memory.NewWindowID(b.m.ID, "s1", first, last, generation), Generation: generation, Trigger: memory.TriggerFlush}
	for s := first; s <= last; s++ {
		w.New = append(w.New, memory.WindowMessage{Seq: s})
	}
	end := &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}
	if len(facts) == 0 {
		end.Outcome = memory.WindowEmpty
	}
	return b.write(memory.Write{Kind: memory.WriteWindow, Upto: last, Window: end, Facts: facts})
}

func (b *bank) fact(text string) memory.Fact {
	b.Helper()
	f, ok := b.m.Fact(text)
	if !ok {
		b.Fatalf("no fact %q", text)
	}
	return f
}

func (b *bank) forget(r memory.ForgetRequest) memory.Changes {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteForget, Upto: 1 << 40, Forget: &r})
}

func heldAt(m *consolidatetest.Memory, t time.Time) []string {
	var out []string
	for _, f := range m.FactsByID {
		if f.ValidAt(t) {
			out = append(out, f.Text)
		}
	}
	slices.Sort(out)
	return out
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conformDecisions(t)
	conformChunks(t)
	t.Run("observing an unchanged bank twice changes nothing", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		observe := memory.Write{Kind: memory.WriteObserve, Observe: &memory.ObserveRequest{}}
		first := b.write(observe)
		if len(first.Observations) == 0 {
			t.Fatal("nothing was observed")
		}
		again := b.write(observe)
		equal(t, "observations changed", len(again.Observations), 0)
		equal(t, "observations named", again.Outcome.Observations, first.Outcome.Observations)
		for _, o := range b.m.Observed {
			for _, id := range o.Facts {
				if _, ok := b.m.FactsByID[id]; !ok {
					t.Errorf("observation %s rests on %s, which is no fact", o.ID, id)
				}
			}
		}
	})
	t.Run("an observation keeps its type, reasoning and facts, and a forgotten source lowers its confidence", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		c := b.write(memory.Write{Kind: memory.WriteObserve, Observe: &memory.ObserveRequest{Types: []memory.ObservationType{memory.ObservationPattern}}})
		o := c.Observations[0]
		if o.Type != memory.ObservationPattern || o.Reasoning == "" || len(o.Facts) != 4 {
			t.Fatalf("observed %+v", o)
		}
		b.forget(memory.ForgetRequest{ID: "m1"})
		after, ok := b.m.Observed[o.ID]
		if !ok || after.Confidence >= o.Confidence || len(after.Facts) != 3 {
			t.Errorf("after forgetting one of four sources: %+v", after)
		}
		b.forget(memory.ForgetRequest{ID: "m2"})
		if _, ok := b.m.Observed[o.ID]; ok {
			t.Error("two facts are no pattern, but the observation is there")
		}
	})
	t.Run("the total order of said and sequence decides which state holds", func(t *testing.T) {
		t.Parallel()
		for _, order := range [][]uint64{{1, 2}, {2, 1}} {
			b := newBank(t)
			texts := map[uint64]string{1: "Alice lives in Paris.", 2: "Alice lives in London."}
			for _, seq := range order {
				b.say(seq, fmt.Sprintf("m%d", seq), 0, "Alice", texts[seq])
			}
			paris, london := b.fact(texts[1]), b.fact(texts[2])
			if paris.Live() || !london.Live() || paris.Superseded != london.ID || london.Superseded != "" {
				t.Errorf("order %v: Paris %+v, London %+v", order, paris, london)
			}
		}
	})
	t.Run("an as-of query before a change finds the old text", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice lives in Paris.")
		b.say(2, "m2", 10, "Alice", "Alice moved to London.")
		b.say(3, "m3", 20, "Alice", "Alice lives in Paris.")
		equal(t, "at first", heldAt(b.m, at(5)), []string{"Alice lives in Paris."})
		equal(t, "then", heldAt(b.m, at(15)), []string{"Alice moved to London."})
		equal(t, "again", heldAt(b.m, at(25)), []string{"Alice lives in Paris."})
		equal(t, "intervals of Paris", len(b.fact("Alice lives in Paris.").Valid), 2)
		equal(t, "facts", len(b.m.FactsByID), 2)
	})
	t.Run("consolidate runs with three waiting, or forced with one, and never with none", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		run := func(force bool) bool {
			return *b.write(memory.Write{Kind: memory.WriteConsolidate, Consolidate: &memory.ConsolidateRequest{Force: force}}).Outcome.Ran
		}
		equal(t, "forced with none", run(true), false)
		b.say(1, "m1", 0, "Alice", "Alice plays chess.")
		equal(t, "with one", run(false), false)
		equal(t, "forced with one", run(true), true)
		b.say(2, "m2", 1, "Alice", "Alice bought a boat.", "Alice studies law.")
		equal(t, "with two", run(false), false)
		b.say(3, "m3", 1, "Alice", "Alice owns three cats.")
		equal(t, "with three", run(false), true)
		equal(t, "again", run(false), false)
	})
	t.Run("confidence stays within 0 and 1 and an unknown type of relation is mapped and counted", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		over, under := consolidatetest.Fact(t, "Alice", "Alice owns a boat."), consolidatetest.Fact(t, "Alice", "Alice fears spiders.")
		over.Confidence, under.Confidence = 7, -3
		c := b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{over, under}, Relations: []memory.Relation{
			{From: "person:alice", To: string(memory.NewFactID(b.m.ID, over.Text, over.Kind)), Type: "befriends", Strength: 4}}})
		equal(t, "over", b.fact(over.Text).Confidence, 1)
		equal(t, "under", b.fact(under.Text).Confidence, 0)
		if len(c.Relations) != 1 || c.Relations[0].Type != memory.RelRelatedTo || c.Relations[0].Strength != 1 {
			t.Errorf("relations: %+v", c.Relations)
		}
		if r := c.Outcome.Results[2]; r.Outcome != memory.OutcomeUpdated || r.Reason == "" {
			t.Errorf("the unknown type is not reported: %+v", r)
		}
	})
	t.Run("a relation to an unknown target or to itself is skipped and reported and the rest applied", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		f := consolidatetest.Fact(t, "Alice", "Alice owns a boat.")
		id := string(memory.NewFactID(b.m.ID, f.Text, f.Kind))
		c := b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{f}, Relations: []memory.Relation{
			{From: id, To: "f_nobody", Type: memory.RelCauses}, {From: id, To: id, Type: memory.RelCauses},
			{From: "person:alice", To: id, Type: memory.RelImplies, Strength: 0.5}}})
		equal(t, "relations kept", len(c.Relations), 1)
		equal(t, "first", c.Outcome.Results[1].Outcome, memory.OutcomeRefused)
		equal(t, "second", c.Outcome.Results[2].Outcome, memory.OutcomeRefused)
	})
	t.Run("statements are stored byte for byte and a hub entity merges nothing unrelated", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		texts := []string{"Alice  adopted a dog — Rex!", "alice repairs old clocks", "Alice's knee needs surgery.", "ALICE SINGS BARITONE"}
		for i, s := range texts {
			b.say(uint64(i+1), fmt.Sprintf("m%d", i+1), i, "Alice", s)
		}
		for _, s := range texts {
			equal(t, "text", b.m.FactsByID[memory.NewFactID(b.m.ID, s, memory.KindWorld)].Text, s)
		}
		equal(t, "composites", len(b.m.Tree), 0)
	})
	t.Run("a pair exactly at the threshold stands together, and one below it does not", func(t *testing.T) {
		t.Parallel()
		one, two := placed("olives ripen", 0.8, around(10, 0)...), placed("olives fall", 0.8, around(45, 0)...)
		exact := memory.Cosine(one.Vector.Unit(), two.Vector.Unit())
		for _, c := range []struct {
			threshold float64
			want      int
		}{{exact, 1}, {exact + 1e-9, 0}} {
			b := planeBank(t)
			b.cfg.Thresholds.Cluster, b.cfg.Thresholds.Diameter = c.threshold, c.threshold
			b.give(0, one, two)
			equal(t, fmt.Sprint("composites at ", c.threshold), len(b.m.Tree), c.want)
		}
	})
	t.Run("a conflict is resolved or dismissed once, for a party, and a dismissed pair stays dismissed", func(t *testing.T) {
		t.Parallel()
		for _, dismiss := range []bool{false, true} {
			b := newBank(t)
			b.say(1, "m1", 0, "Alice", "Alice eats raw fish.")
			c := b.say(2, "m2", 1, "Alice", "Alice does not eat raw fish.")
			if len(c.Conflicts) != 1 || c.Conflicts[0].State != memory.ConflictOpen {
				t.Fatalf("conflicts: %+v", c.Conflicts)
			}
			x := c.Conflicts[0]
			decide := func(r memory.ConflictRequest) memory.Changes {
				r.ID = x.ID
				return b.write(memory.Write{Kind: memory.WriteConflict, Conflict: &r})
			}
			equal(t, "a stranger wins", decide(memory.ConflictRequest{Winner: "f_nobody"}).Outcome.Code, 400)
			old := uint64(99)
			equal(t, "another version", decide(memory.ConflictRequest{Winner: x.A, Version: &old}).Outcome.Code, 409)
			equal(t, "decided", decide(memory.ConflictRequest{Winner: x.A, Dismiss: dismiss}).Outcome.Code, 0)
			equal(t, "decided twice", decide(memory.ConflictRequest{Dismiss: true}).Outcome.Code, 409)
			loser := b.m.FactsByID[x.B]
			if !dismiss && (loser.Live() || loser.Superseded != x.A || len(loser.Valid) != 1 || loser.Valid[0].To == nil) {
				t.Errorf("the loser is not closed: %+v", loser)
			}
			if dismiss && !loser.Live() {
				t.Error("a dismissed conflict closed a party")
			}
			b.say(3, "m3", 2, "Alice", "Alice does not eat raw fish.", "Alice eats raw fish.")
			want := memory.ConflictResolved
			if dismiss {
				want = memory.ConflictDismissed
			}
			equal(t, "state after another say", b.m.Disputes[x.ID].State, want)
			equal(t, "conflicts", len(b.m.Disputes), 1)
		}
	})
	t.Run("the same statement in another form is one record with two sources", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice is allergic to shellfish.")
		before := b.fact("Alice is allergic to shellfish.").Confidence
		b.say(2, "m2", 1, "Alice", "ALICE is  allergic to ｓhellfish!")
		f := b.fact("Alice is allergic to shellfish.")
		equal(t, "facts", len(b.m.FactsByID), 1)
		equal(t, "sources", f.MessageIDs(), []memory.MessageID{"m1", "m2"})
		equal(t, "said", f.Said, at(1))
		if f.Confidence <= before || f.Confidence > 1 {
			t.Errorf("confidence went from %v to %v", before, f.Confidence)
		}
	})
	t.Run("a correction supersedes and is never dropped as a duplicate", func(t *testing.T) {
		t.Parallel()
		for _, pair := range [][2]string{
			{"Alice lives in Paris.", "Alice moved to London."},
			{"Alice has two dogs.", "Alice now has three dogs."},
			{"Alice has one brother.", "Alice has 2 brothers."},
			{"Alice's favourite colour is blue.", "Alice's favourite colour is now green."},
			{"Alice eats meat every day.", "Alice no longer eats meat every day."},
			{"The team meeting starts on Monday morning.", "Actually, the team meeting starts on Tuesday morning."},
		} {
			b := newBank(t)
			b.say(1, "m1", 0, "Alice", pair[0])
			b.say(2, "m2", 5, "Alice", pair[1])
			old, now := b.fact(pair[0]), b.fact(pair[1])
			if old.Superseded != now.ID || old.Live() || !now.Live() {
				t.Errorf("%q after %q: old superseded by %q, live %v; new live %v", pair[1], pair[0], old.Superseded, old.Live(), now.Live())
			}
		}
	})
	t.Run("an entity shared by 400 facts costs a new fact no more reads", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		for i := range 401 {
			before := b.m.Reads
			retain(t, b.m, b.cfg, fmt.Sprintf("r%d", i), at(i), "Alice", fmt.Sprintf("Alice owns item q%dx%d.", i*7919, i))
			if reads := b.m.Reads - before; reads > 80 {
				t.Fatalf("fact %d of the entity took %d reads", i+1, reads)
			}
		}
	})
	conformTree(t)
	conformEntities(t)
}

// runs tells of four runs on four days, each in a message of its own.
func runs(b *bank) {
	for i, s := range []string{"Alice went running along the river.", "Alice went running before breakfast.",
		"Alice went running with Bob in the rain.", "Alice went running up the castle hill."} {
		seq := uint64(i + 1)
		id := fmt.Sprintf("m%d", seq)
		b.m.Say(seq, memory.MessageID(id), "s1", "Alice", at(3*i), "")
		f := consolidatetest.Fact(b.T, "Alice", s)
		f.Type = memory.TypeEvent
		f.Sources = []memory.Source{{Message: memory.MessageID(id), Seq: seq, Said: at(3 * i), Start: at(3 * i)}}
		b.window(seq, seq, 0, f)
	}
}
