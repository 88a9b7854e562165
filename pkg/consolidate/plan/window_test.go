package plan_test

import (
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (b *bank) states(seqs ...uint64) []memory.MessageState {
	var out []memory.MessageState
	for _, s := range seqs {
		out = append(out, b.m.Events[s].State)
	}
	return out
}

func (b *bank) sourced(seq uint64, days int, text string) memory.Fact {
	f := consolidatetest.Fact(b.T, "Alice", text)
	id := memory.MessageID(fmt.Sprintf("m%d", seq))
	f.Sources = []memory.Source{{Message: id, Seq: seq, Said: at(days), Start: at(days)}}
	return f
}

func TestWindow(t *testing.T) {
	t.Parallel()
	t.Run("every new message takes its window's end, carried ones their own", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		for seq := uint64(1); seq <= 5; seq++ {
			b.m.Say(seq, memory.MessageID(fmt.Sprintf("m%d", min(seq, 4))), "s1", "Alice", at(0), "")
		}
		w := memory.Window{ID: "w_1", New: []memory.WindowMessage{{Seq: 1}, {Seq: 2, Carry: memory.CarryFiltered},
			{Seq: 3, Carry: memory.CarryRecalled}, {Seq: 4, Carry: memory.CarryThrottled}, {Seq: 5}}}
		b.write(memory.Write{Kind: memory.WriteWindow, Window: &memory.WindowEnd{Window: w, Outcome: memory.WindowFacts},
			Facts: []memory.Fact{b.sourced(1, 0, "Alice owns a boat.")}})
		equal(t, "states", b.states(1, 2, 3, 4, 5), []memory.MessageState{memory.StateCommitted, memory.StateSkipped, memory.StateSkipped,
			memory.StateThrottled, memory.StateDuplicate})
	})
	t.Run("a window of which the log lost messages is one of the others", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(2, "m2", "dnes", "Jana", at(0), "") // 1 and 4 are not there
		b.m.Say(3, "m3", "dnes", "Jana", at(1), "")
		b.forget(memory.ForgetRequest{ID: "m3"})
		w := memory.Window{ID: "w_1", Session: "dnes", New: []memory.WindowMessage{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}}}
		c := b.write(memory.Write{Kind: memory.WriteWindow, Window: &memory.WindowEnd{Window: w, Outcome: memory.WindowFacts},
			Facts: []memory.Fact{b.sourced(2, 0, "Jana owns a kayak.")}})
		if c.Window == nil || c.Window.ID != "w_1" || c.Window.First() != 2 || c.Window.Last() != 3 || len(c.Facts) != 1 {
			t.Errorf("got %+v with %d facts", c.Window, len(c.Facts))
		}
	})
	t.Run("a window of an erased bank is none of the one that has its name now", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(7, "m7", "dnes", "Jana", at(0), "") // 5 and 6 went with the bank
		end := func(seqs ...uint64) memory.Changes {
			w := memory.Window{ID: memory.WindowID(fmt.Sprint("w_", seqs))}
			for _, seq := range seqs {
				w.New = append(w.New, memory.WindowMessage{Seq: seq})
			}
			return b.write(memory.Write{Kind: memory.WriteWindow, Window: &memory.WindowEnd{Window: w, Outcome: memory.WindowFacts},
				Facts: []memory.Fact{b.sourced(seqs[len(seqs)-1], 0, "Jana owns a kayak.")}})
		}
		if c := end(5, 6); c.Window != nil || !c.Stale || len(b.m.FactsByID) != 0 {
			t.Errorf("it is kept: %+v, stale %t, %d facts", c.Window, c.Stale, len(b.m.FactsByID))
		}
		if c := end(6, 7); c.Window == nil || len(b.m.FactsByID) != 1 {
			t.Errorf("one with a message of the new bank is not: %d facts", len(b.m.FactsByID))
		}
	})
	t.Run("the first end stands, but facts or empty take the place of a dead one", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Alice", at(0), "")
		end := func(o memory.WindowOutcome, facts ...memory.Fact) memory.Changes {
			w := memory.Window{ID: "w_1", New: []memory.WindowMessage{{Seq: 1}}}
			return b.write(memory.Write{Kind: memory.WriteWindow, Window: &memory.WindowEnd{Window: w, Outcome: o}, Facts: facts})
		}
		end(memory.WindowDead)
		equal(t, "after dead", b.states(1), []memory.MessageState{memory.StateDead})
		if c := end(memory.WindowDead); c.Window != nil {
			t.Error("a second dead end took the place of the first")
		}
		end(memory.WindowFacts, b.sourced(1, 0, "Alice owns a boat."))
		equal(t, "after facts", b.states(1), []memory.MessageState{memory.StateCommitted})
		end(memory.WindowEmpty)
		end(memory.WindowFacts, b.sourced(1, 0, "Alice owns a plane."))
		equal(t, "after a second end", b.states(1), []memory.MessageState{memory.StateCommitted})
		equal(t, "facts", len(b.m.FactsByID), 1)
	})
	t.Run("a higher generation takes the place of the older one's facts, and an older one behind it is void", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.", "Alice sails.")
		b.say(2, "m2", 1, "Alice", "Alice owns a boat.")
		b.window(1, 1, 1, b.sourced(1, 0, "Alice rents a yacht."))
		if _, ok := b.m.Fact("Alice sails."); ok {
			t.Error("a fact of the older generation is there")
		}
		equal(t, "sources of what another window says too", b.fact("Alice owns a boat.").MessageIDs(), []memory.MessageID{"m2"})
		b.fact("Alice rents a yacht.")
		b.m.Say(3, "m3", "s1", "Alice", at(2), "")
		b.window(3, 3, 1, b.sourced(3, 2, "Alice paints."))
		c := b.window(3, 3, 0, b.sourced(3, 2, "Alice draws."))
		equal(t, "facts of the late older generation", len(c.Facts), 0)
	})
	t.Run("a source that is not the event under its id is dropped, and a fact that rests on it alone refused", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Alice", at(0), "")
		b.m.Say(2, "m1", "s1", "Alice", at(1), "")
		b.m.Say(3, "m3", "s1", "Alice", at(1), "")
		dup := b.sourced(2, 1, "Alice owns a boat.")
		dup.Sources[0].Message = "m1"
		both := b.sourced(3, 1, "Alice owns a plane.")
		both.Sources = append(both.Sources, dup.Sources...)
		none := b.sourced(9, 1, "Alice owns a train.")
		loose := consolidatetest.Fact(t, "Alice", "Alice owns nothing.")
		c := b.window(2, 3, 0, dup, both, none, loose)
		for i, want := range []memory.Outcome{memory.OutcomeRefused, memory.OutcomeAdded, memory.OutcomeRefused, memory.OutcomeRefused} {
			r := c.Outcome.Results[i]
			equal(t, fmt.Sprint("result ", i), r.Outcome, want)
			if want == memory.OutcomeRefused && r.Reason == "" {
				t.Errorf("result %d has no reason", i)
			}
		}
		equal(t, "sources", b.fact("Alice owns a plane.").MessageIDs(), []memory.MessageID{"m3"})
	})
	t.Run("a replaced message ends the facts that rest on it alone, also those that arrive later", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.", "Alice sails.")
		b.say(2, "m2", 1, "Alice", "Alice sails.")
		b.m.Say(3, "m3", "s1", "Alice", at(5), "m1")
		b.m.Say(4, "m4", "s1", "Alice", at(6), "nobody")
		b.window(3, 4, 0)
		boat := b.fact("Alice owns a boat.")
		if boat.Live() || !boat.ValidAt(at(4)) || boat.ValidAt(at(5)) || boat.Superseded != "" {
			t.Errorf("the boat: %+v", boat)
		}
		if !b.fact("Alice sails.").Live() {
			t.Error("a fact with another source ended")
		}
		late := b.sourced(1, 0, "Alice fishes.")
		b.m.Say(5, "m5", "s1", "Alice", at(7), "")
		b.window(5, 5, 0, late)
		if f := b.fact("Alice fishes."); f.Live() || !f.ValidAt(at(3)) {
			t.Errorf("a late fact of the replaced message: %+v", f)
		}
		b.say(6, "m6", 8, "Alice", "Alice owns a boat.")
		if f := b.fact("Alice owns a boat."); !f.Live() {
			t.Errorf("said again, the boat is not live: %+v", f)
		}
	})
	t.Run("the state before a replaced one holds again from then on", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice lives in Paris.")
		b.say(2, "m2", 2, "Alice", "Alice lives in London.")
		b.m.Say(3, "m3", "s1", "Alice", at(4), "m2")
		b.window(3, 3, 0)
		equal(t, "then", heldAt(b.m, at(3)), []string{"Alice lives in London."})
		equal(t, "after", heldAt(b.m, at(5)), []string{"Alice lives in Paris."})
	})
	t.Run("a message that is stored later is not replaced, however far the store is", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Alice", at(4), "m2")
		b.m.Say(2, "m2", "s1", "Alice", at(2), "")
		b.window(1, 1, 0)
		b.window(2, 2, 0, b.sourced(2, 2, "Alice owns a boat."))
		if f := b.fact("Alice owns a boat."); !f.Live() {
			t.Errorf("the boat is not live: %+v", f)
		}
	})
	t.Run("a value that comes back holds twice, though two wordings of what took its place became one", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 2, "Ana", "Ana drives a Citroen now.")
		b.say(2, "m2", 0, "Ana", "Ana drives a Lancia.")
		b.say(3, "m3", 6, "Ana", "Ana drives a Citroen.")
		equal(t, "wordings", []bool{b.fact("Ana drives a Citroen now.").Merged != "", b.fact("Ana drives a Citroen.").Live()}, []bool{true, true})
		b.say(4, "m4", 4, "Ana", "Ana drives a Lancia.")
		for days, want := range map[int]string{1: "Lancia", 3: "Citroen", 5: "Lancia", 7: "Citroen"} {
			equal(t, fmt.Sprintf("on day %d", days), heldAt(b.m, at(days)), []string{"Ana drives a " + want + "."})
		}
	})
	t.Run("a write that can never be applied is invalid", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		for _, w := range []memory.Write{{Kind: "nonsense"}, {Kind: memory.WriteWindow}, {Kind: memory.WriteForget}, {Kind: memory.WriteWindow, Window: &memory.WindowEnd{}}} {
			w.Bank = "alice"
			if _, err := plan.Plan(b.m, w, b.cfg); memory.Code(err) != 400 {
				t.Errorf("%+v: %v", w, err)
			}
		}
	})
}
