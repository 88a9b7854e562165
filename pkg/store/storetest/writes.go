package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func opOnce(t *testing.T, h *harness) {
	ran := 0
	decide := func(_ plan.View, w memory.Write) (memory.Changes, error) {
		ran++
		return memory.Changes{Facts: []memory.Fact{fact("b", fmt.Sprintf("Run %d.", ran), 1)},
			Outcome: memory.WriteOutcome{Results: []memory.WriteResult{{ID: "f", Outcome: memory.OutcomeAdded}}},
			Changes: []memory.Change{{What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: "f"}}}, nil
	}
	for range 3 {
		h.must(h.tryWrite(memory.Write{Bank: "b", Op: "same"}, decide))
	}
	h.must(h.tryWrite(memory.Write{Bank: "c", Op: "same"}, decide))
	if ran != 2 {
		t.Errorf("the plan ran %d times; want once a bank", ran)
	}
	want := &memory.WriteOutcome{Op: "same", Write: 1, Results: []memory.WriteResult{{ID: "f", Outcome: memory.OutcomeAdded}}}
	out, err := h.Outcome(context.Background(), "b", "same")
	h.must(err)
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	h.view("b", func(v plan.View) {
		out, err := v.Outcome("same")
		h.must(err)
		if d := cmp.Diff(want, out); d != "" {
			t.Error(d)
		}
		if out, err := v.Outcome("never"); out != nil || err != nil {
			t.Errorf("an op that never was gave %v, %v", out, err)
		}
	})
}

func opOnceInARun(t *testing.T, h *harness) {
	var ran []uint64
	decide := func(_ plan.View, w memory.Write) (memory.Changes, error) {
		ran = append(ran, w.Seq)
		return memory.Changes{Outcome: memory.WriteOutcome{Results: []memory.WriteResult{}}}, nil
	}
	var run []memory.Write
	for i, op := range []string{"a", "b", "a", "", "", "b", "a"} {
		run = append(run, memory.Write{Bank: "b", Kind: memory.WriteRetain, Seq: uint64(i + 1), Op: op, Time: epoch})
	}
	run[5].Bank = "c"
	h.must(h.ApplyWrites(t.Context(), 0, 7, run, decide))
	if d := cmp.Diff([]uint64{1, 2, 4, 5, 6}, ran); d != "" {
		t.Errorf("writes whose plan ran (-want +got):\n%s", d)
	}
}

func ends(t *testing.T, h *harness) {
	for i := range 4 {
		h.say("b", memory.Message{Content: fmt.Sprintf("message %d", i)})
	}
	h.say("b", memory.Message{ID: "seq-1", Content: "kept"})
	h.say("b", memory.Message{ID: "seq-1", Content: "again"})
	end := func(outcome memory.WindowOutcome, states ...memory.MessageState) {
		c := memory.Changes{Window: &memory.WindowEnd{SessionID: "s", Outcome: outcome, Reason: "because"}}
		c.Window.ID, c.Window.New = "w_1", []memory.WindowMessage{{Seq: 1}, {Seq: 6}}
		for i, s := range states {
			c.Ended = append(c.Ended, memory.MessageEnd{Seq: uint64(i + 1), State: s})
		}
		h.put("b", c)
	}
	window := func(want memory.WindowOutcome) {
		t.Helper()
		h.view("b", func(v plan.View) {
			w, err := v.Window("w_1")
			if err != nil || w == nil || w.Outcome != want || w.SessionID != "s" || w.First() != 1 || w.Last() != 6 {
				t.Errorf("the window is %+v, %v; want %s", w, err, want)
			}
		})
	}
	dead, committed, empty := memory.StateDead, memory.StateCommitted, memory.StateEmpty
	end(memory.WindowDead, dead, dead, memory.StateSkipped, memory.StateThrottled, dead, dead)
	window(memory.WindowDead)
	h.states("b", memory.Conservation{Published: 6, Dead: 3, Skipped: 1, Throttled: 1, Duplicate: 1})
	end(memory.WindowFacts, committed, empty, memory.StateSkipped, memory.StateThrottled, committed, committed)
	window(memory.WindowFacts)
	h.states("b", memory.Conservation{Published: 6, Committed: 2, Empty: 1, Skipped: 1, Throttled: 1, Duplicate: 1})
	end(memory.WindowDead, dead, dead, dead, dead, dead, dead)
	window(memory.WindowFacts)
	h.states("b", memory.Conservation{Published: 6, Committed: 2, Empty: 1, Skipped: 1, Throttled: 1, Duplicate: 1})
	// A window of another bank cannot end these messages.
	h.put("c", memory.Changes{Ended: []memory.MessageEnd{{Seq: 1, State: empty}}})
	h.states("b", memory.Conservation{Published: 6, Committed: 2, Empty: 1, Skipped: 1, Throttled: 1, Duplicate: 1})
}

func outbox(t *testing.T, h *harness) {
	ctx := context.Background()
	h.say("b", memory.Message{ID: "m", Content: "one"})
	h.say("b", memory.Message{ID: "m", Content: "a repeat is no change"})
	w := h.put("c", memory.Changes{Changes: []memory.Change{
		{What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: "f_1", IDs: []string{"x"}},
		{What: memory.ChangeComposite, Op: memory.OutcomeRemoved, Record: "c_1"},
	}})
	all, err := h.Outbox(ctx, 0, 10)
	h.must(err)
	want := []memory.Change{
		{ID: memory.NewChangeID("MEM_MESSAGES", 1, 0), What: memory.ChangeMessage, Op: memory.OutcomeAdded, Record: "m", Message: 1, Time: at(1)},
		{ID: memory.NewChangeID("MEM_WRITES", w, 0), What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: "f_1", IDs: []string{"x"}, Write: w, Time: at(1)},
		{ID: memory.NewChangeID("MEM_WRITES", w, 1), What: memory.ChangeComposite, Op: memory.OutcomeRemoved, Record: "c_1", Write: w, Time: at(1)},
	}
	var found []memory.Change
	for _, e := range all {
		found = append(found, e.Change)
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Fatal(d)
	}
	if all[0].Bank != "b" || all[1].Bank != "c" {
		t.Errorf("banks are %q and %q", all[0].Bank, all[1].Bank)
	}
	if rest, err := h.Outbox(ctx, all[0].No, 10); err != nil || len(rest) != 2 || rest[0].No != all[1].No {
		t.Errorf("after the first there are %v, %v", rest, err)
	}
	if first, err := h.Outbox(ctx, 0, 1); err != nil || len(first) != 1 || first[0].No != all[0].No {
		t.Errorf("one entry gave %v, %v", first, err)
	}
	h.must(h.Sent(ctx, all[1].No))
	h.must(h.Sent(ctx, all[0].No))
	left, err := h.Outbox(ctx, 0, 10)
	if err != nil || len(left) != 1 || left[0].No != all[2].No {
		t.Errorf("after two were sent there are %v, %v", left, err)
	}
	// All that is there is removed by a number that nothing has yet, and so are those that come later.
	for range 2 {
		h.put("b", memory.Changes{Changes: []memory.Change{{What: "fact", Record: "f_4"}}})
		h.must(h.Sent(ctx, math.MaxInt64))
		if left, err := h.Outbox(ctx, 0, 10); err != nil || len(left) != 0 {
			t.Errorf("after all were sent there are %v, %v", left, err)
		}
	}
}

func banksApart(t *testing.T, h *harness) {
	for _, b := range []memory.BankID{"b", "c"} {
		h.say(b, memory.Message{ID: "m", Content: "shared words of " + string(b), Speaker: "Ann"})
		f := fact(b, "Shared words.", 1)
		f.Key, f.Entities, f.Vector = "k", []memory.EntityID{"person:ann"}, vector(8, 1, 0)
		f.State = &memory.State{Subject: "person:ann", Attribute: "a", Value: string(b)}
		h.put(b, memory.Changes{Facts: []memory.Fact{f}, Entities: []memory.Entity{{ID: "person:ann", Type: "person", Name: "Ann of " + string(b)}},
			Conflicts:    []memory.Conflict{{ID: memory.ConflictID("x_" + b), A: f.ID, B: "f_2", State: memory.ConflictOpen}},
			Observations: []memory.Observation{{ID: memory.ObservationID("o_" + b), Bank: b, Type: "pattern", Text: "Shared.", Facts: []memory.FactID{f.ID}}}})
	}
	other := memory.NewFactID("c", "Shared words.", memory.KindWorld)
	h.view("b", func(v plan.View) {
		count := func(what string, n int, err error) {
			t.Helper()
			if err != nil || n != 0 {
				t.Errorf("%s: found %d of another bank, %v", what, n, err)
			}
		}
		facts, err := v.Facts([]memory.FactID{other})
		count("facts", len(facts), err)
		nodes, err := v.Nodes(0, []string{string(other)})
		count("nodes", len(nodes), err)
		conflicts, err := v.Conflicts([]memory.FactID{other})
		count("conflicts", len(conflicts), err)
		observations, err := v.ObservationsOf([]memory.FactID{other})
		count("observations", len(observations), err)
		observations, err = v.Observations([]memory.ObservationID{"o_c"})
		count("observations by id", len(observations), err)
		messages, err := v.Messages([]uint64{2})
		count("messages", len(messages), err)
		resting, err := v.FactsOfMessages([]uint64{1})
		for _, f := range resting {
			if f.ID == other {
				t.Error("a fact of another bank rests on the message")
			}
		}
		h.must(err)
		near, err := v.Nearest(0, vector(8, 1, 0), []string{"shared", "words"}, []memory.EntityID{"person:ann"}, -1, 10)
		if err != nil || len(near) != 1 || near[0].ID == string(other) {
			t.Errorf("nearest are %v, %v; want the bank's own", near, err)
		}
		named, err := v.EntitiesNamed("Ann of c")
		count("entities", len(named), err)
	})
	if n := h.matching("b", memory.RecordFact, "shared"); n != 1 {
		t.Errorf("the word finds %d facts; want 1", n)
	}
	// Nor can a plan.
	f := fact("c", "Shared words.", 1)
	h.put("b", memory.Changes{RemovedFacts: []memory.FactID{other}})
	h.view("c", func(v plan.View) {
		found, err := v.Facts([]memory.FactID{f.ID})
		if err != nil || len(found) != 1 {
			t.Errorf("another bank's write removed the fact: %v, %v", found, err)
		}
	})
}

func profileKept(t *testing.T, h *harness) {
	n := 3
	b := memory.Bank{ID: "b", Name: "Zoë's \"bank\"", Description: "two\nlines\t\u2028", Background: " x ", Mission: "<m>", Instructions: "&",
		Disposition: memory.Disposition{Skepticism: 5, Literalism: 1, Empathy: 2}, Windows: &memory.WindowSettings{TriggerEvery: &n}, Created: at(1), Version: 4}
	h.put("b", memory.Changes{Bank: &b})
	before := h.dump()
	h.reopen("", 0)
	if d := cmp.Diff(before, h.dump()); d != "" {
		t.Error(d)
	}
	h.view("b", func(v plan.View) {
		found, err := v.Bank()
		h.must(err)
		if d := cmp.Diff(b, found); d != "" {
			t.Error(d)
		}
	})
	h.put("b", memory.Changes{Observations: []memory.Observation{{ID: "o_1", Bank: "b", Type: "pattern", Subject: "s", Text: "It works."}}})
	if items := h.items("b", memory.RecordObservation); len(items) != 1 {
		t.Errorf("observations after the restart: %v", items)
	}
}

func wrongDimension(t *testing.T, h *harness) {
	h.reopen("model-a", 8)
	h.say("b", memory.Message{Content: "one"})
	good := fact("b", "A good fact.", 1)
	good.Vector, good.Model = vector(8, 1, 0), "model-a"
	h.put("b", memory.Changes{Facts: []memory.Fact{good}})
	bad := fact("b", "A bad fact.", 1)
	bad.Vector = vector(16, 1, 0)
	end := memory.WindowEnd{SessionID: "s", Outcome: memory.WindowFacts}
	end.ID, end.New = "w_1", []memory.WindowMessage{{Seq: 1}}
	h.must(h.tryWrite(memory.Write{Bank: "b", Op: "bad", Kind: memory.WriteWindow, Window: &end}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Facts: []memory.Fact{bad}, Window: &end, Ended: []memory.MessageEnd{{Seq: 1, State: memory.StateCommitted}}}, nil
	}))
	out, err := h.Outcome(context.Background(), "b", "bad")
	if err != nil || out == nil || out.Code != 409 || !strings.Contains(out.Message, "8 dimensions") || !strings.Contains(out.Message, "16") {
		t.Errorf("the outcome is %+v, %v; want 409 with both sizes", out, err)
	}
	h.absent("A bad fact")
	h.states("b", memory.Conservation{Published: 1, Dead: 1})
}

func wrongEmbedder(t *testing.T, h *harness) {
	h.reopen("model-a", 8)
	f := fact("b", "A fact.", 1)
	f.Vector, f.Model = vector(16, 1, 0), "model-b"
	decide := func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Facts: []memory.Fact{f}}, nil
	}
	// No vector is stored yet, so the settings do not fit the log.
	if err := h.tryWrite(memory.Write{Bank: "b"}, decide); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("a log of another embedder gave %v; want a conflict", err)
	}
	h.reopen("model-b", 16)
	h.must(h.tryWrite(memory.Write{Bank: "b"}, decide))
	h.must(h.Close())
	if s, err := h.opener("model-a", 8); !errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "model-b") {
		t.Errorf("opening with another embedder gave %v, %v; want a conflict that names the pinned one", s, err)
	}
	h.Store = h.open("model-b", 16)
}
