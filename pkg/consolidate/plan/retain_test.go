package plan_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func keyed(t *testing.T, key, text string) memory.Fact {
	f := consolidatetest.Fact(t, "Alice", text)
	f.Key = key
	return f
}

func (b *bank) one(f memory.Fact) memory.WriteResult {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{f}}).Outcome.Results[0]
}

func TestRetain(t *testing.T) {
	t.Parallel()
	t.Run("the same key with other text supersedes, with the same text merges, and back again", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		first := b.one(keyed(t, "city", "Alice dwells by the sea."))
		equal(t, "first", first.Outcome, memory.OutcomeAdded)
		equal(t, "same", b.one(keyed(t, "city", "alice dwells by the sea")).Outcome, memory.OutcomeMerged)
		second := b.one(keyed(t, "city", "Alice dwells in the hills."))
		equal(t, "other", second.Outcome, memory.OutcomeSuperseded)
		if f := b.fact("Alice dwells by the sea."); f.Live() || string(f.Superseded) != second.ID {
			t.Errorf("the old text: %+v", f)
		}
		back := b.one(keyed(t, "city", "Alice dwells by the sea."))
		equal(t, "back", back.Outcome, memory.OutcomeSuperseded)
		if f := b.fact("Alice dwells by the sea."); !f.Live() || len(f.Valid) != 2 {
			t.Errorf("the first text again: %+v", f)
		}
		if b.fact("Alice dwells in the hills.").Live() {
			t.Error("two texts of one key are live")
		}
		equal(t, "another bank of keys", b.one(keyed(t, "hobby", "Alice collects stamps.")).Outcome, memory.OutcomeAdded)
	})
	t.Run("states retained by hand follow the order in which they were said", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		for i, s := range []string{"Alice lives in Paris.", "Alice moved to London.", "Alice lives in Paris."} {
			f := consolidatetest.Fact(t, "Alice", s)
			f.Said = at(10 * i)
			b.one(f)
		}
		equal(t, "then", heldAt(b.m, at(15)), []string{"Alice moved to London."})
		equal(t, "again", heldAt(b.m, at(25)), []string{"Alice lives in Paris."})
		equal(t, "first", heldAt(b.m, at(5)), []string{"Alice lives in Paris."})
	})
	t.Run("a state holds from when it began, and what was said later decides", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		paris, london := consolidatetest.Fact(t, "Alice", "Alice lives in Paris."), consolidatetest.Fact(t, "Alice", "Alice moved to London.")
		paris.Said, london.Said = at(20), at(40)
		from := at(10)
		london.Occurred.From = &from
		b.one(london)
		b.one(paris)
		equal(t, "when London began", heldAt(b.m, at(15)), []string{"Alice moved to London."})
		equal(t, "when Paris was said", heldAt(b.m, at(25)), []string{"Alice moved to London."})
		equal(t, "what took the place of Paris", b.fact("Alice lives in Paris.").Superseded, b.fact("Alice moved to London.").ID)
	})
	t.Run("sources are named by message id", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(7, "m7", "s1", "Alice", at(3), "")
		f := consolidatetest.Fact(t, "Alice", "Alice owns a boat.")
		f.Sources = []memory.Source{{Message: "m7"}}
		equal(t, "known", b.one(f).Outcome, memory.OutcomeAdded)
		got := b.fact("Alice owns a boat.")
		equal(t, "source", got.Sources, []memory.Source{{Message: "m7", Seq: 7, Said: at(3), Start: at(3)}})
		equal(t, "said", got.Said, at(3))
		f = consolidatetest.Fact(t, "Alice", "Alice owns a plane.")
		f.Sources = []memory.Source{{Message: "m8"}}
		equal(t, "unknown", b.one(f).Outcome, memory.OutcomeRefused)
	})
	t.Run("wordings of one statement merge, and what differs in a small word does not", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		long := "Alice planted twelve old apple trees behind the stone house near the river bank."
		equal(t, "first", b.one(consolidatetest.Fact(t, "Alice", long)).Outcome, memory.OutcomeAdded)
		longer := "Alice planted twelve old apple trees behind the small stone house near the river bank."
		r := b.one(consolidatetest.Fact(t, "Alice", longer))
		equal(t, "longer", r.Outcome, memory.OutcomeMerged)
		short, full := b.fact(long), b.fact(longer)
		first, second := short.Said, full.Said
		if short.Live() || string(short.Merged) != r.ID || !short.ValidAt(first) || short.ValidAt(second) {
			t.Errorf("the older wording: %+v", short)
		}
		if !full.ValidAt(second) || full.ValidAt(first) {
			t.Errorf("the longer wording holds %+v, before it was said", full.Valid)
		}
		again := consolidatetest.Fact(t, "Alice", long)
		again.Said = first.AddDate(0, 0, -5)
		equal(t, "said before", b.one(again).Outcome, memory.OutcomeMerged)
		if short, full = b.fact(long), b.fact(longer); !short.ValidAt(again.Said) || short.ValidAt(second) || full.ValidAt(first) {
			t.Errorf("an earlier repetition: the shorter wording holds %+v, the longer one %+v", short.Valid, full.Valid)
		}
		for _, other := range []string{
			"Alice planted thirteen old apple trees behind the small stone house near the river bank.",
			"Alice never planted twelve old apple trees behind the small stone house near the river bank.",
			"Bob planted twelve old apple trees behind the small stone house near the river bank.",
			"Alice plants twelve old apple trees behind the small stone house near the river bank.",
			"Alice planted twelve old apple trees before the small stone house after the river bank.",
			"Alice planted twelve old pear trees behind the small stone house near the river bank.",
		} {
			if r := b.one(consolidatetest.Fact(t, "Alice", other)); r.Outcome == memory.OutcomeMerged {
				t.Errorf("%q was merged", other)
			}
		}
	})
	t.Run("a conflict is opened where one denies the other, and not where words differ", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			a, b string
			want int
		}{
			{"Alice eats raw fish.", "Alice doesn't eat raw fish.", 1},
			{"Alice loves opera music.", "Alice hates opera music.", 1},
			{"Alice eats raw fish.", "Bob doesn't eat raw fish.", 0},
			{"Alice eats raw fish.", "Alice doesn't eat raw meat.", 0},
			{"Alice likes opera music.", "Alice loves opera music.", 0},
			{"Jon follows his dreams.", "Jon won't quit on his dreams.", 0},
		} {
			b := newBank(t)
			b.one(consolidatetest.Fact(t, "Alice", c.a))
			b.one(consolidatetest.Fact(t, "Alice", c.b))
			equal(t, c.a+" "+c.b, len(b.m.Disputes), c.want)
			equal(t, "live", len(b.m.Live()), 2)
		}
	})
	t.Run("a vector of another size is left out, and the fact is kept", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.cfg.Dimension = 384
		bad := consolidatetest.Fact(t, "Alice", "Alice owns a boat.")
		bad.Vector = memory.Vector{1, 2, 3}
		c := b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{bad, consolidatetest.Fact(t, "Alice", "Alice sails.")}})
		equal(t, "bad", c.Outcome.Results[0].Outcome, memory.OutcomeAdded)
		equal(t, "good", c.Outcome.Results[1].Outcome, memory.OutcomeAdded)
		bare, _ := b.m.Fact("Alice owns a boat.")
		equal(t, "dimensions", len(bare.Vector), 0)
		equal(t, "model", bare.Model, "")
	})
	t.Run("the bank's quota of facts holds", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.write(memory.Write{Kind: memory.WriteBank, Profile: &memory.BankUpdate{Quotas: &memory.Quotas{Facts: 2}}})
		c := b.write(memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{consolidatetest.Fact(t, "", "A boat sank."), consolidatetest.Fact(t, "", "The train left."), consolidatetest.Fact(t, "", "Snow fell.")}})
		equal(t, "third", c.Outcome.Results[2].Outcome, memory.OutcomeRefused)
		equal(t, "facts", len(b.m.FactsByID), 2)
	})
	t.Run("an edit with other text is a new fact that supersedes the old from then on", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(1, "m1", 0, "Alice", "Alice owns a boat.")
		old := b.fact("Alice owns a boat.")
		edit := func(e memory.EditRequest) memory.WriteOutcome {
			return b.write(memory.Write{Kind: memory.WriteEdit, Edit: &memory.EditWrite{EditRequest: e}}).Outcome
		}
		stale := old.Version + 7
		equal(t, "another version", edit(memory.EditRequest{ID: old.ID, Version: &stale, Text: "x"}).Code, 409)
		equal(t, "nobody", edit(memory.EditRequest{ID: "f_nobody"}).Code, 404)
		pin, tags := true, []string{"Sea", " sea ", "sport"}
		equal(t, "pinned", edit(memory.EditRequest{ID: old.ID, Version: &old.Version, Pin: &pin, Tags: &tags}).Results[0].Outcome, memory.OutcomeUpdated)
		equal(t, "tags", b.fact("Alice owns a boat.").Tags, []string{"sea", "sport"})
		o := edit(memory.EditRequest{ID: old.ID, Text: "Alice owns two boats."})
		now := b.fact("Alice owns two boats.")
		old = b.fact("Alice owns a boat.")
		equal(t, "superseded by", old.Superseded, now.ID)
		equal(t, "result", o.Results[0].ID, string(now.ID))
		if old.Live() || !now.Live() || !now.Pinned || !old.ValidAt(at(50)) || now.ValidAt(at(50)) {
			t.Errorf("old %+v, new %+v", old, now)
		}
		equal(t, "sources", now.MessageIDs(), old.MessageIDs())
		equal(t, "editing the old one", edit(memory.EditRequest{ID: old.ID, Text: "Alice swims."}).Code, 409)
	})
	t.Run("a bank is made once", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		name := "Alice's memory"
		d := memory.Disposition{Skepticism: 5, Literalism: 1, Empathy: 2}
		make := memory.Write{Kind: memory.WriteBank, Profile: &memory.BankUpdate{Create: true, Name: &name, Disposition: &d}}
		equal(t, "made", b.write(make).Outcome.Code, 0)
		equal(t, "made again", b.write(make).Outcome.Code, 409)
		equal(t, "disposition", b.m.Profile.Disposition, d)
		d.Empathy = 9
		equal(t, "out of range", b.write(memory.Write{Kind: memory.WriteBank, Profile: &memory.BankUpdate{Disposition: &d}}).Outcome.Code, 400)
	})
	t.Run("feedback counts uses and changes no fact", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		feedback := memory.Write{Kind: memory.WriteFeedback, Feedback: &memory.FeedbackRequest{Retrieved: []string{"f_a", "f_b", "f_gone"}, Used: []string{"f_b"}, Outcome: "success"}}
		equal(t, "for nothing that is stored", b.write(feedback).Outcome.Code, 404)
		b.m.FactsByID["f_a"], b.m.FactsByID["f_b"] = memory.Fact{ID: "f_a"}, memory.Fact{ID: "f_b"}
		c := b.write(feedback)
		equal(t, "uses", len(c.Uses), 2)
		equal(t, "used", c.Uses[1].Used+c.Uses[1].Success+c.Uses[0].Used, 2)
		equal(t, "facts", len(c.Facts), 0)
	})
}

// No vectors: what takes a fact back is found by whom it names.
func TestChangeOfMind(t *testing.T) {
	t.Parallel()
	say := func(b *bank, minute int, text string) memory.WriteResult {
		f := memory.Fact{Text: text, Entities: []memory.EntityID{"person:mira"}, Said: at(minute)}
		return b.one(f)
	}
	t.Run("what was quit holds until then", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		say(b, 0, "Mira smokes two cigars a day.")
		say(b, 1, "Mira collects stamps.")
		equal(t, "the end", say(b, 10, "Mira quit smoking.").Outcome, memory.OutcomeSuperseded)
		equal(t, "before", heldAt(b.m, at(5)), []string{"Mira collects stamps.", "Mira smokes two cigars a day."})
		equal(t, "after", heldAt(b.m, at(15)), []string{"Mira collects stamps.", "Mira quit smoking."})
	})
	t.Run("where it is not said that it is news, a conflict opens and both stay", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		say(b, 0, "Mira's rent is 700 euros.")
		say(b, 10, "Mira's rent is 760 euros.")
		equal(t, "held", len(heldAt(b.m, at(15))), 2)
		equal(t, "conflicts", len(b.m.Disputes), 1)
	})
	t.Run("what one person says of another ends nothing that the other one said: a conflict opens", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		for i, f := range []memory.Fact{{Text: "Mira plays in the band.", Speaker: "Mira"}, {Text: "Mira left the band.", Speaker: "Paul"}} {
			f.Entities, f.Said = []memory.EntityID{"organization:aal", "place:bonn", "person:mira"}, at(10*i)
			b.one(f)
		}
		equal(t, "held", len(heldAt(b.m, at(15))), 2)
		equal(t, "conflicts", len(b.m.Disputes), 1)
	})
}
