package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestForget(t *testing.T) {
	t.Parallel()
	t.Run("a fact goes with every message it rests on and the facts that rest on those alone", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.", "Alice sails to Dover.")
		b.say(2, "m2", 1, "Alice", "Alice sails to Dover.", "Dover has chalk cliffs.")
		c := b.forget(memory.ForgetRequest{ID: string(b.fact("Alice owns a boat.").ID)})
		equal(t, "facts", c.Forgotten.Facts, []memory.FactID{memory.NewFactID("alice", "Alice owns a boat.", memory.KindWorld)})
		equal(t, "messages", c.Forgotten.Messages, []uint64{1})
		equal(t, "sources left", b.fact("Alice sails to Dover.").MessageIDs(), []memory.MessageID{"m2"})
		equal(t, "start", b.fact("Alice sails to Dover.").Valid[0].From, at(1))
		equal(t, "receipt", [2]int{c.Outcome.Receipt.Facts, c.Outcome.Receipt.Messages}, [2]int{1, 1})
		late := b.window(1, 1, 1, b.sourced(1, 0, "Alice owns a boat."))
		equal(t, "facts of a late write of the forgotten", len(late.Facts), 0)
		equal(t, "what its outcome tells of them", len(late.Outcome.Results), 0) // as in a rebuild, whose log lacks them
		equal(t, "it is to be erased", late.Stale, true)
	})
	t.Run("an earlier extraction that ends behind a later one and the forget of its message is erased too", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Tove", "Tove breeds huskies.")
		b.window(1, 1, 2, b.sourced(1, 0, "Tove breeds huskies."))
		b.forget(memory.ForgetRequest{ID: "m1"})
		late := b.window(1, 1, 1, b.sourced(1, 0, "Tove has huskies."))
		equal(t, "it is to be erased", late.Stale, true)
		equal(t, "it changes", len(late.Facts), 0)
	})
	t.Run("what a late window refused is not told when it is to be erased", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Tove", at(0), "")
		b.m.Say(2, "m2", "s1", "Tove", at(1), "")
		b.forget(memory.ForgetRequest{ID: "m1"})
		end := memory.Window{ID: memory.NewWindowID("alice", "s1", 1, 2, 0), New: []memory.WindowMessage{{Seq: 1}, {Seq: 2}}}
		late := b.write(memory.Write{Kind: memory.WriteWindow, Upto: 2, Window: &memory.WindowEnd{Window: end, Outcome: memory.WindowEmpty},
			Refused: []memory.WriteResult{{Key: "huskies", Outcome: memory.OutcomeRefused, Reason: "it rests on nothing"}}})
		equal(t, "results", len(late.Outcome.Results), 0)
		equal(t, "it is to be erased", late.Stale, true)
	})
	t.Run("with keep_messages the messages stay", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.", "Alice sails to Dover.")
		c := b.forget(memory.ForgetRequest{ID: string(b.fact("Alice owns a boat.").ID), KeepMessages: true})
		equal(t, "messages", len(c.Forgotten.Messages), 0)
		equal(t, "facts", len(b.m.FactsByID), 1)
	})
	t.Run("an answer goes with either message, for it holds words of both", func(t *testing.T) {
		t.Parallel()
		const text = "Ben: Where is the drill? Alice: In the cellar."
		for _, gone := range []string{"q", "a"} {
			b := newBank(t)
			b.m.Say(1, "q", "s1", "Ben", at(0), "")
			b.m.Say(2, "a", "s1", "Alice", at(1), "")
			f := b.sourced(2, 1, text)
			f.Sources = append([]memory.Source{{Message: "q", Seq: 1, Said: at(0), Start: at(0)}}, f.Sources...)
			f.Tags = []string{memory.TagAnswer}
			f.Sources[1].Message = "a"
			b.window(2, 2, 0, f)
			equal(t, "sources", len(b.fact(text).Sources), 2)
			c := b.forget(memory.ForgetRequest{ID: gone})
			equal(t, "facts after "+gone, len(c.Forgotten.Facts), 1)
			late := b.window(2, 2, 1, f)
			equal(t, "a late write", [2]int{len(late.Facts), len(late.Outcome.Results)}, [2]int{})
			equal(t, "it is to be erased", late.Stale, true)
		}
	})
	t.Run("what the forgotten fact had superseded or absorbed lives again", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice lives in Paris.", "Alice eats meat every day.", "Alice planted twelve old apple trees behind the stone house.")
		b.say(2, "m2", 5, "Alice", "Alice moved to London.", "Alice no longer eats meat every day.", "Alice planted twelve old apple trees behind the small stone house.")
		for _, s := range []string{"Alice lives in Paris.", "Alice eats meat every day.", "Alice planted twelve old apple trees behind the stone house."} {
			if b.fact(s).Live() {
				t.Fatalf("%q is live before", s)
			}
		}
		b.forget(memory.ForgetRequest{ID: "m2"})
		equal(t, "facts", len(b.m.FactsByID), 3)
		for _, f := range b.m.FactsByID {
			if !f.Live() || f.Superseded != "" || f.Merged != "" || !f.Valid[0].From.Equal(at(0)) {
				t.Errorf("after forgetting: %+v", f)
			}
		}
		checkInvariants(t, b.m, b.cfg)
	})
	t.Run("forgetting a session or a speaker takes duplicates of their messages along", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Alice", at(0), "")
		b.m.Say(2, "m2", "s2", "Bob", at(0), "")
		b.m.Say(3, "m1", "s2", "Bob", at(0), "")
		b.m.Say(4, "m4", "s1", "Bob", at(0), "")
		b.window(1, 4, 0, b.sourced(1, 0, "Alice owns a boat."), b.sourced(2, 0, "Bob owns a plane."), b.sourced(4, 0, "Bob snores."))
		equal(t, "session", b.forget(memory.ForgetRequest{Session: "s1"}).Forgotten.Messages, []uint64{1, 3, 4})
		equal(t, "facts left", len(b.m.FactsByID), 1)
		byHand := consolidatetest.Fact(t, "Bob", "Bob cheats at cards.")
		b.one(byHand)
		c := b.forget(memory.ForgetRequest{Speaker: "Bob"})
		equal(t, "speaker", c.Forgotten.Messages, []uint64{2})
		equal(t, "facts", len(b.m.FactsByID), 0)
		equal(t, "entities", len(b.m.Named), 0)
		if c.Forgotten.Bank {
			t.Error("a speaker is not the bank")
		}
	})
	t.Run("only what was said up to the accepted sequence is forgotten", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.")
		b.say(2, "m2", 1, "Alice", "Alice owns a plane.")
		c := b.write(memory.Write{Kind: memory.WriteForget, Upto: 1, Forget: &memory.ForgetRequest{Bank: true}})
		if len(b.m.FactsByID) != 1 || c.Forgotten.Bank {
			t.Errorf("facts %v, whole bank %v", b.m.FactsByID, c.Forgotten.Bank)
		}
		if c := b.forget(memory.ForgetRequest{Bank: true}); !c.Forgotten.Bank || len(b.m.FactsByID) != 0 {
			t.Error("the bank is still there")
		}
	})
	t.Run("an unknown record is 404 and an observation or a composite can be named", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		equal(t, "unknown", b.forget(memory.ForgetRequest{ID: "f_nobody"}).Outcome.Code, 404)
		equal(t, "nothing named", b.forget(memory.ForgetRequest{}).Outcome.Code, 400)
		runs(b)
		o := b.write(memory.Write{Kind: memory.WriteObserve, Observe: &memory.ObserveRequest{}}).Observations[0]
		b.forget(memory.ForgetRequest{ID: string(o.ID)})
		if _, ok := b.m.Observed[o.ID]; ok || len(b.m.FactsByID) != 4 {
			t.Error("the observation is there, or its facts are not")
		}
	})
	t.Run("no change event holds a word of what was said", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		f := consolidatetest.Fact(t, "", "Zanzibar sells saffron.")
		f.Entities = []memory.EntityID{"place:zanzibar"}
		c := b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{f}})
		changes, err := json.Marshal(c.Changes)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(changes)), "zanzibar") || !strings.Contains(string(changes), "n_") {
			t.Errorf("change events: %s", changes)
		}
	})
	t.Run("a conflict goes with its forgotten party", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice eats raw fish.")
		b.say(2, "m2", 1, "Alice", "Alice does not eat raw fish.")
		equal(t, "conflicts", len(b.m.Disputes), 1)
		c := b.forget(memory.ForgetRequest{ID: "m2"})
		equal(t, "conflicts after", len(b.m.Disputes), 0)
		if !slices.ContainsFunc(c.Changes, func(x memory.Change) bool { return x.What == memory.ChangeForget }) {
			t.Errorf("no forget among the changes %+v", c.Changes)
		}
	})
}
