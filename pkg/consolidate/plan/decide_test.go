package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var stamp = &memory.Stamp{Model: "fake:model", Prompt: "decide/1"}

// modelBank has a language model that is asked about everything near.
func modelBank(t *testing.T) *bank {
	b := newBank(t)
	b.cfg.Decide, b.cfg.Summarise, b.cfg.Observe, b.cfg.SummariseMin = true, true, true, 2
	b.cfg.DecideCosine, b.cfg.DecideWords = 0.3, 1
	b.cfg.Thresholds.Cluster, b.cfg.Thresholds.Diameter = 0.3, 0.2
	return b
}

// decision decides about two facts as they are now.
func (b *bank) decision(newer, older string, action memory.Action, text string) memory.Decided {
	b.Helper()
	f, t := b.fact(newer), b.fact(older)
	d := memory.Decision{Target: t.ID, Version: t.Version, Action: action, Text: text}
	if text != "" {
		d.Vector = consolidatetest.Hashed(b.T, text)
	}
	return memory.Decided{Fact: f.ID, Version: f.Version, Targets: []memory.Decision{d}}
}

func (b *bank) decide(list ...memory.Decided) memory.Changes {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteDecide, Decide: list, By: stamp})
}

const (
	older = "Alice plays chess at the club."
	newer = "Alice plays chess at the library club with Bob on 3 evenings."
	both  = "Alice plays chess with Bob at the library club on 3 evenings."
)

func (b *bank) pairOfFacts() {
	b.Helper()
	b.say(1, "m1", 1, "Alice", older)
	b.say(2, "m2", 2, "Alice", newer)
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	t.Run("a new fact with an older one near it waits for a decision, and the decision takes it out", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		waits, _ := b.m.Pending(memory.PendingDecide, 10)
		if len(waits) != 1 || waits[0].ID != string(b.fact(newer).ID) || !slices.Equal(waits[0].Targets, []memory.FactID{b.fact(older).ID}) {
			t.Fatalf("waiting: %+v", waits)
		}
		b.decide(memory.Decided{Fact: b.fact(newer).ID, Version: b.fact(newer).Version})
		waits, _ = b.m.Pending(memory.PendingDecide, 10)
		equal(t, "waiting", len(waits), 0)
		equal(t, "live facts", len(b.m.Live()), 2)
	})
	t.Run("without a model, and where rules found an outcome, nothing waits", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.cfg.Decide, b.cfg.Summarise = false, false
		b.pairOfFacts()
		equal(t, "waiting without a model", len(b.m.Waits), 0)
		b = modelBank(t)
		b.say(1, "m1", 1, "Alice", "Alice lives in Paris.")
		b.say(2, "m2", 2, "Alice", "Alice lives in London.")
		b.say(3, "m3", 3, "Alice", "Alice lives in London.")
		waits, _ := b.m.Pending(memory.PendingDecide, 10)
		equal(t, "waiting after a change of state", len(waits), 0)
	})
	t.Run("a fact that has ended no longer waits for a decision", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		b.write(memory.Write{Kind: memory.WriteForget, Upto: 2, Forget: &memory.ForgetRequest{ID: string(b.fact(newer).ID)}})
		waits, _ := b.m.Pending(memory.PendingDecide, 10)
		equal(t, "waiting", len(waits), 0)
	})
	t.Run("supersede ends the older fact where the newer begins", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		c := b.decide(b.decision(newer, older, memory.ActionSupersede, ""))
		was := b.fact(older)
		if was.Live() || was.Superseded != b.fact(newer).ID || !was.ValidAt(at(1)) || was.ValidAt(at(2)) {
			t.Errorf("the older fact is %+v", was)
		}
		equal(t, "decisions kept", len(c.Decisions), 1)
		equal(t, "model", c.Decisions[0].Model+" "+c.Decisions[0].Prompt, "fake:model decide/1")
		checkInvariants(t, b.m, b.cfg)
	})
	t.Run("merge keeps the newer wording with the sources of both", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		b.decide(b.decision(newer, older, memory.ActionMerge, ""))
		f := b.fact(newer)
		equal(t, "sources", f.MessageIDs(), []memory.MessageID{"m1", "m2"})
		equal(t, "merged into", b.fact(older).Merged, f.ID)
		checkInvariants(t, b.m, b.cfg)
	})
	t.Run("merge is refused where it would lose a number or a name", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.say(1, "m1", 1, "Alice", newer)
		b.say(2, "m2", 2, "Alice", older)
		c := b.decide(b.decision(older, newer, memory.ActionMerge, ""))
		equal(t, "outcome", c.Outcome.Results[0].Outcome, memory.OutcomeRefused)
		equal(t, "live facts", len(b.m.Live()), 2)
	})
	t.Run("contradict opens a conflict, once, and a dismissed pair stays dismissed", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		b.decide(b.decision(newer, older, memory.ActionContradict, ""))
		equal(t, "conflicts", len(b.m.Disputes), 1)
		for id := range b.m.Disputes {
			b.write(memory.Write{Kind: memory.WriteConflict, Conflict: &memory.ConflictRequest{ID: id, Dismiss: true}})
		}
		b.decide(b.decision(newer, older, memory.ActionContradict, ""))
		for _, x := range b.m.Disputes {
			equal(t, "state", x.State, memory.ConflictDismissed)
		}
	})
	t.Run("the decision to ignore changes nothing", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		c := b.decide(b.decision(newer, older, memory.ActionIgnore, ""))
		if len(c.Facts)+len(c.Conflicts)+len(c.Outcome.Results) > 0 {
			t.Errorf("changed %+v", c)
		}
	})
	t.Run("a pinned fact and one given by hand under a key are not ended: a conflict is open instead", func(t *testing.T) {
		t.Parallel()
		for _, action := range []memory.Action{memory.ActionSupersede, memory.ActionUpdate} {
			b := modelBank(t)
			b.pairOfFacts()
			pin := true
			b.write(memory.Write{Kind: memory.WriteEdit, Edit: &memory.EditWrite{EditRequest: memory.EditRequest{ID: b.fact(older).ID, Pin: &pin}}})
			b.decide(b.decision(newer, older, action, map[memory.Action]string{memory.ActionUpdate: both}[action]))
			equal(t, "live facts", len(b.m.Live()), 2)
			equal(t, "conflicts", len(b.m.Disputes), 1)
		}
		b := modelBank(t)
		f := consolidatetest.Fact(t, "Alice", older)
		f.Key, f.Said = "hobby", at(1)
		b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{f}})
		b.say(2, "m2", 200, "Alice", newer)
		b.decide(b.decision(newer, older, memory.ActionSupersede, ""))
		equal(t, "live facts", len(b.m.Live()), 2)
		equal(t, "conflicts", len(b.m.Disputes), 1)
	})
	t.Run("an unknown action, a fact against itself and a fact that is not there are refused, and the rest is applied", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		d := b.decision(newer, older, memory.ActionSupersede, "")
		self := memory.Decision{Target: d.Fact, Version: d.Version, Action: memory.ActionMerge}
		odd := d.Targets[0]
		odd.Action = "explode"
		gone := memory.Decision{Target: "f_gone", Version: 1, Action: memory.ActionMerge}
		d.Targets = []memory.Decision{self, odd, gone, d.Targets[0]}
		c := b.decide(d, memory.Decided{Fact: "f_other", Version: 7, Targets: d.Targets[3:]})
		if b.fact(older).Live() {
			t.Error("the sound decision was not applied")
		}
		refused := 0
		for _, r := range c.Outcome.Results {
			if r.Outcome == memory.OutcomeRefused && r.Reason != "" {
				refused++
			}
		}
		equal(t, "refused", refused, 4)
		equal(t, "stale", c.Stale, true)
	})
	t.Run("an update whose wording holds what neither fact does is refused", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "  ", "Alice plays chess with Mallory at the library club on 3 evenings.",
			"Alice plays chess with Bob at the library club on 4 evenings.", "Alice plays chess with Bob since May 2019.",
			strings.Repeat("Alice plays chess. ", 1000)} {
			b := modelBank(t)
			b.pairOfFacts()
			c := b.decide(b.decision(newer, older, memory.ActionUpdate, text))
			if len(b.m.Live()) != 2 || len(c.Outcome.Results) != 1 || c.Outcome.Results[0].Outcome != memory.OutcomeRefused {
				t.Errorf("%.60q: %+v", text, c.Outcome.Results)
			}
		}
	})
	t.Run("an update in the words of one of the two makes no third fact", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		b.decide(b.decision(newer, older, memory.ActionUpdate, newer))
		equal(t, "facts", len(b.m.FactsByID), 2)
		equal(t, "sources", b.fact(newer).MessageIDs(), []memory.MessageID{"m1", "m2"})
	})
	t.Run("relations come with decisions: an unknown type is mapped and counted, a relation to itself refused", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		f, o := string(b.fact(newer).ID), string(b.fact(older).ID)
		c := b.write(memory.Write{Kind: memory.WriteDecide, By: stamp, Decide: []memory.Decided{{Fact: memory.FactID(f), Version: b.fact(newer).Version}},
			Relations: []memory.Relation{{From: f, To: o, Type: "specializes", Strength: 1.7}, {From: f, To: o, Type: "haunts", Strength: .5}, {From: f, To: f, Type: "causes", Strength: 1}}})
		equal(t, "related", slices.Sorted(maps.Keys(b.m.Related)), []string{f + "|" + o + "|related_to", f + "|" + o + "|specializes"})
		equal(t, "strength", b.m.Related[f+"|"+o+"|specializes"].Strength, 1)
		equal(t, "reported", len(c.Outcome.Results), 2)
	})
	t.Run("forgetting a fact takes what a model made of it along, and the other lives again", func(t *testing.T) {
		t.Parallel()
		for _, forget := range []string{older, newer} {
			b := modelBank(t)
			b.pairOfFacts()
			b.decide(b.decision(newer, older, memory.ActionUpdate, both))
			equal(t, "live facts", len(b.m.Live()), 1)
			b.write(memory.Write{Kind: memory.WriteForget, Upto: 2, Forget: &memory.ForgetRequest{ID: string(b.fact(forget).ID)}})
			live := b.m.Live()
			if len(live) != 1 || live[0].Text == both || live[0].Text == forget {
				t.Errorf("after forgetting %q there live %+v", forget, live)
			}
			if _, there := b.m.Fact(both); there {
				t.Error("the wording that a model made of it is still there")
			}
			checkInvariants(t, b.m, b.cfg)
		}
	})
}

// conformDecisions holds what is promised of decisions.
func conformDecisions(t *testing.T) {
	t.Helper()
	t.Run("a model's word ends only what is not newer, and equal times cannot end each other", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		c := b.decide(b.decision(older, newer, memory.ActionSupersede, ""))
		equal(t, "outcome", c.Outcome.Results[0].Outcome, memory.OutcomeRefused)
		equal(t, "live facts", len(b.m.Live()), 2)
		b = modelBank(t)
		b.say(1, "m1", 1, "Alice", older, newer)
		b.decide(b.decision(older, newer, memory.ActionSupersede, ""), b.decision(newer, older, memory.ActionSupersede, ""))
		equal(t, "live facts of one time", len(b.m.Live()), 1)
	})
	t.Run("an update keeps the sources of both, holds from the newer one's start and is applied once", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		d := b.decision(newer, older, memory.ActionUpdate, both)
		b.decide(d)
		u := b.fact(both)
		equal(t, "sources", u.MessageIDs(), []memory.MessageID{"m1", "m2"})
		equal(t, "from", u.Valid[0].From, at(2))
		equal(t, "vector", memory.Cosine(u.Vector, consolidatetest.Hashed(t, both)) > 0.999, true)
		equal(t, "live facts", len(b.m.Live()), 1)
		was := b.fact(older)
		if was.Superseded != u.ID || !was.ValidAt(at(1)) || was.ValidAt(at(2)) || b.fact(newer).Merged != u.ID {
			t.Errorf("older %+v\nnewer %+v", was, b.fact(newer))
		}
		before := maps.Clone(b.m.FactsByID)
		c := b.decide(d)
		equal(t, "again", c.Outcome.Results[0].Outcome, memory.OutcomeRefused)
		if diff := cmp.Diff(before, b.m.FactsByID); diff != "" {
			t.Error(diff)
		}
		checkInvariants(t, b.m, b.cfg)
	})
	t.Run("every other action is applied once too, and null wordings are refused", func(t *testing.T) {
		t.Parallel()
		for _, action := range []memory.Action{memory.ActionSupersede, memory.ActionMerge, memory.ActionContradict, memory.ActionIgnore, memory.ActionUpdate} {
			b := modelBank(t)
			b.pairOfFacts()
			d := b.decision(newer, older, action, "")
			b.decide(d)
			facts, disputes := maps.Clone(b.m.FactsByID), len(b.m.Disputes)
			b.decide(d)
			if diff := cmp.Diff(facts, b.m.FactsByID); diff != "" {
				t.Errorf("%s a second time: %s", action, diff)
			}
			equal(t, string(action)+" conflicts", len(b.m.Disputes), disputes)
			if action == memory.ActionUpdate {
				equal(t, "live facts after an update without a wording", len(b.m.Live()), 2)
			}
		}
	})
	t.Run("a decision about a fact that moved on is skipped and reported, the rest applied", func(t *testing.T) {
		t.Parallel()
		b := modelBank(t)
		b.pairOfFacts()
		b.say(3, "m3", 3, "Alice", "Bob bakes bread.")
		b.say(4, "m4", 4, "Alice", "Bob bakes rye bread.")
		stale := b.decision(newer, older, memory.ActionSupersede, "")
		b.say(5, "m5", 5, "Alice", older)
		c := b.decide(stale, b.decision("Bob bakes rye bread.", "Bob bakes bread.", memory.ActionSupersede, ""))
		equal(t, "the one that moved on", b.fact(older).Live(), true)
		equal(t, "the other", b.fact("Bob bakes bread.").Live(), false)
		equal(t, "reported", c.Outcome.Results[0].Outcome, memory.OutcomeRefused)
	})
}

func TestPlanOfADecisionIsPure(t *testing.T) {
	t.Parallel()
	b := modelBank(t)
	b.pairOfFacts()
	w := memory.Write{Bank: "alice", Seq: 99, Kind: memory.WriteDecide, Op: "d", Time: at(9), By: stamp,
		Decide: []memory.Decided{b.decision(newer, older, memory.ActionUpdate, both)}}
	one, err1 := plan.Plan(b.m, w, b.cfg)
	two, err2 := plan.Plan(b.m, w, b.cfg)
	if diff := cmp.Diff(one, two); diff != "" || err1 != nil || err2 != nil {
		t.Errorf("%v %v %s", err1, err2, diff)
	}
}
