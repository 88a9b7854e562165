package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// waiting checks that what waits for a model is read back and counted by bank, and removed when it is resolved or when
// its fact is removed.
func waiting(t *testing.T, h *harness) {
	ctx := context.Background()
	h.say("b", memory.Message{Content: "hello"})
	older, newer := fact("b", "Ann likes tea.", 1), fact("b", "Ann likes green tea.", 1)
	decide := memory.PendingQuestion{PendingKey: memory.PendingKey{Kind: memory.PendingDecide, ID: string(newer.ID)}, Targets: []memory.FactID{older.ID}}
	ask := memory.PendingQuestion{PendingKey: memory.PendingKey{Kind: memory.PendingObserve, ID: "op"}, Request: &memory.ObserveRequest{Query: "tea\x00"}, Consolidate: true}
	first := h.put("b", memory.Changes{Facts: []memory.Fact{older, newer}, Pending: []memory.PendingQuestion{decide, ask}})
	h.put("c", memory.Changes{Facts: []memory.Fact{fact("c", "Bob likes tea.", 1)}})
	read := func(kind memory.PendingKind) (out []memory.PendingQuestion) {
		t.Helper()
		h.view("b", func(v plan.View) {
			var err error
			out, err = v.Pending(kind, 10)
			h.must(err)
		})
		return out
	}
	decide.Write, decide.At = first, at(int(first))
	if d := cmp.Diff([]memory.PendingQuestion{decide}, read(memory.PendingDecide)); d != "" {
		t.Error(d)
	}
	if got := read(memory.PendingObserve); len(got) != 1 || !got[0].Consolidate || got[0].Request == nil {
		t.Errorf("the request came back as %+v", got)
	}
	logs, err := h.Backlogs(ctx)
	h.must(err)
	if d := cmp.Diff([]consolidate.Backlog{{Bank: "b", Decisions: 1, Requests: 1, OldestDecision: at(int(first))}}, logs); d != "" {
		t.Error(d)
	}
	unobserved, err := h.Unobserved(ctx, 2)
	h.must(err)
	if d := cmp.Diff([]consolidate.Unobserved{{Bank: "b", Facts: 2}}, unobserved); d != "" {
		t.Error(d)
	}
	h.put("b", memory.Changes{Resolved: []memory.PendingKey{ask.PendingKey, {Kind: memory.PendingDecide, ID: "f_none"}}, Observed: 1 << 30})
	if got := read(memory.PendingObserve); len(got) != 0 {
		t.Errorf("resolved and still waiting: %+v", got)
	}
	if unobserved, err = h.Unobserved(ctx, 1); err != nil || len(unobserved) != 1 || unobserved[0].Bank != "c" {
		t.Errorf("unobserved are %+v, %v", unobserved, err)
	}
	h.must(h.Look(ctx, "b", func(v plan.View) error {
		seen, err := v.LastObserved()
		if seen != 1<<30 {
			t.Errorf("a model has seen up to %d", seen)
		}
		return err
	}))
	h.put("b", memory.Changes{RemovedFacts: []memory.FactID{newer.ID}})
	if got := read(memory.PendingDecide); len(got) != 0 {
		t.Errorf("its fact is gone and it still waits: %+v", got)
	}
}

// decisionsKept checks that decisions are stored, and that forgetting a fact queues the writes in which a model wrote
// about it, and those that rest on what is rewritten.
func decisionsKept(t *testing.T, h *harness) {
	ctx := context.Background()
	h.say("b", memory.Message{Content: "hello"})
	h.say("b", memory.Message{Content: "hello again"})
	a, b, c, d := fact("b", "Ann likes tea.", 1), fact("b", "Ann likes green tea.", 1), fact("b", "Bob bakes.", 2), fact("b", "Bob bakes bread.", 2)
	h.put("b", memory.Changes{Facts: []memory.Fact{a, b, c, d}})
	stamp := memory.Stamp{Model: "m", Prompt: "decide/1"}
	one := memory.DecisionResult{Fact: b.ID, Target: a.ID, Action: memory.ActionMerge, Write: h.writes + 1, Stamp: stamp}
	two := memory.DecisionResult{Fact: b.ID, Target: c.ID, Action: memory.ActionUpdate, Reason: "it moved on", Write: h.writes + 1, Stamp: stamp}
	first := h.put("b", memory.Changes{Decisions: []memory.DecisionResult{one, two}, Derived: []memory.FactID{a.ID, b.ID, c.ID}})
	h.put("b", memory.Changes{Derived: []memory.FactID{d.ID}})
	h.view("b", func(v plan.View) {
		found, err := v.DecisionsOf([]memory.FactID{c.ID, b.ID})
		h.must(err)
		want := []memory.DecisionResult{one, two}
		if two.Target < one.Target {
			want = []memory.DecisionResult{two, one}
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	})
	applied, err := h.AppliedDecisions(ctx, "b", []memory.FactID{b.ID})
	h.must(err)
	if diff := cmp.Diff([]memory.DecisionResult{one}, applied); diff != "" {
		t.Error(diff)
	}
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "forget-1", Kind: memory.WriteForget}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{RemovedFacts: []memory.FactID{a.ID}, Forgotten: &memory.Forgotten{Facts: []memory.FactID{a.ID}}}, nil
	}))
	h.absent(string(a.ID))
	erasures, err := h.Erasures(ctx, "", 10)
	h.must(err)
	if len(erasures) != 1 || erasures[0].Seq != first || erasures[0].Stream != "MEM_WRITES" {
		t.Errorf("queued are %+v", erasures)
	}
	stale := h.put("b", memory.Changes{Stale: true})
	if erasures, err = h.Erasures(ctx, "", 10); err != nil || len(erasures) != 2 || erasures[1].Seq != stale {
		t.Errorf("queued are %+v, %v", erasures, err)
	}
}

// modelStamps checks that a store knows which model wrote the text of a composite or an observation.
func modelStamps(t *testing.T, h *harness) {
	by := &memory.Stamp{Model: "m", Prompt: "summarise/1"}
	f := fact("b", "Ann likes tea.", 1)
	node := memory.Composite{ID: "c_1", Bank: "b", Level: 1, Text: "Tea.", Representative: string(f.ID), Children: []string{string(f.ID)}, Said: at(1), By: by}
	o := memory.Observation{ID: "o_1", Bank: "b", Type: memory.ObservationRisk, Subject: "s", Text: "Tea.", Facts: []memory.FactID{f.ID}, Said: at(1), Given: true, By: by}
	h.put("b", memory.Changes{Facts: []memory.Fact{f}, Composites: []memory.Composite{node}, Observations: []memory.Observation{o}})
	look := func(want *memory.Stamp) {
		t.Helper()
		h.view("b", func(v plan.View) {
			nodes, err := v.Composites([]memory.CompositeID{"c_1"})
			h.must(err)
			seen, err := v.Observations([]memory.ObservationID{"o_1"})
			h.must(err)
			if len(nodes) != 1 || len(seen) != 1 {
				t.Fatalf("found %v and %v", nodes, seen)
			}
			if d := cmp.Diff([]*memory.Stamp{want, want}, []*memory.Stamp{nodes[0].By, seen[0].By}); d != "" {
				t.Error(d)
			}
		})
	}
	look(by)
	node.By, o.By = nil, nil
	h.put("b", memory.Changes{Composites: []memory.Composite{node}, Observations: []memory.Observation{o}})
	look(nil)
}
