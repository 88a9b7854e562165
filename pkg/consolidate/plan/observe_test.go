package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (b *bank) observe(r memory.ObserveRequest) memory.Changes {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteObserve, Observe: &r})
}

func TestObserve(t *testing.T) {
	t.Parallel()
	t.Run("the four types come out of what was said", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		for i, s := range []string{"Alice loves painting landscapes.", "Alice enjoys painting portraits.", "Alice likes painting birds.", "The storm caused flooding in the cellar of Alice.",
			"Alice moved out because of flooding.", "The road of Alice closed due to flooding.", "Alice keeps bees on the roof.", "Alice feeds bees with syrup.", "Alice sells honey from bees."} {
			b.say(uint64(10+i), fmt.Sprintf("n%d", i), i, "Alice", s)
		}
		b.observe(memory.ObserveRequest{})
		var types []memory.ObservationType
		for _, o := range b.m.Observed {
			types = append(types, o.Type)
		}
		for _, want := range []memory.ObservationType{memory.ObservationPattern, memory.ObservationCausal, memory.ObservationGeneralization, memory.ObservationPreference} {
			if !slices.Contains(types, want) {
				t.Errorf("no %s among %v", want, types)
			}
		}
	})
	t.Run("types, confidence and query narrow what is observed", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		b.say(10, "n1", 0, "Bob", "Bob loves painting landscapes.")
		b.say(11, "n2", 1, "Bob", "Bob enjoys painting portraits.")
		b.say(12, "n3", 2, "Bob", "Bob likes painting birds.")
		high := 0.99
		equal(t, "too certain", len(b.observe(memory.ObserveRequest{MinConfidence: &high}).Observations), 0)
		equal(t, "preferences", len(b.observe(memory.ObserveRequest{Types: []memory.ObservationType{memory.ObservationPreference}}).Observations), 1)
		c := b.observe(memory.ObserveRequest{Query: "what does Bob paint?"})
		equal(t, "about Bob", len(c.Outcome.Observations), 1)
	})
	t.Run("a later run updates an observation and adds no twin", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		first := b.observe(memory.ObserveRequest{}).Observations[0]
		b.m.Say(9, "m9", "s1", "Alice", at(20), "")
		f := b.sourced(9, 20, "Alice went running at dawn.")
		f.Type = memory.TypeEvent
		b.window(9, 9, 0, f)
		b.observe(memory.ObserveRequest{})
		equal(t, "observations", len(b.m.Observed), 1)
		if o := b.m.Observed[first.ID]; len(o.Facts) != 5 || o.Confidence <= first.Confidence {
			t.Errorf("after a fifth run: %+v", o)
		}
	})
	t.Run("a sceptical bank is less certain", func(t *testing.T) {
		t.Parallel()
		confidence := map[int]float64{}
		for _, s := range []int{1, 3, 4} {
			b := newBank(t)
			d := memory.Disposition{Skepticism: s, Literalism: 3, Empathy: 3}
			b.write(memory.Write{Kind: memory.WriteBank, Profile: &memory.BankUpdate{Disposition: &d}})
			runs(b)
			confidence[s] = b.observe(memory.ObserveRequest{}).Observations[0].Confidence
		}
		if !(confidence[1] > confidence[3] && confidence[3] > confidence[4]) {
			t.Errorf("confidence by skepticism: %v", confidence)
		}
	})
	t.Run("two statements, three of one message, three of one day, and words that are no topic show nothing", func(t *testing.T) {
		t.Parallel()
		for name, said := range map[string][]struct {
			message int
			text    string
			days    int
		}{
			"two":          {{1, "Bob loves painting landscapes.", 0}, {2, "Bob enjoys painting portraits.", 1}},
			"one message":  {{1, "Bob loves painting landscapes.", 0}, {1, "Bob enjoys painting portraits.", 0}, {1, "Bob likes painting birds.", 0}},
			"one day":      {{1, "Bob loves painting landscapes.", 0}, {2, "Bob enjoys painting portraits.", 0}, {3, "Bob likes painting birds.", 0}},
			"a date":       {{1, "Bob sold a lamp (6 March 2026).", 0}, {2, "Bob fixed a boat (8 March 2026).", 1}, {3, "Bob ran home (9 March 2026).", 2}},
			"other words":  {{1, "Bob: Ich habe ein Boot.", 0}, {2, "Bob: Ich mag mein Rad.", 1}, {3, "Bob: Ich gehe heim.", 2}},
			"a language":   {{1, "Bob: 我喜欢猫。", 0}, {2, "Bob: 我想回家。", 1}, {3, "Bob: 我会游泳。", 2}},
			"attributions": {{1, "Bob said: Tea is hot.", 0}, {2, "Bob said: Snow is cold.", 1}, {3, "Bob said: Rain is wet.", 2}},
		} {
			b := newBank(t)
			facts := map[int][]memory.Fact{}
			for _, s := range said {
				if facts[s.message] == nil {
					b.m.Say(uint64(s.message), memory.MessageID(fmt.Sprintf("m%d", s.message)), "s1", "Bob", at(s.days), "")
				}
				f := b.sourced(uint64(s.message), s.days, s.text)
				f.Entities = []memory.EntityID{"person:bob"}
				facts[s.message] = append(facts[s.message], f)
			}
			for m := range len(facts) {
				b.window(uint64(m+1), uint64(m+1), 0, facts[m+1]...)
			}
			if c := b.observe(memory.ObserveRequest{}); len(c.Observations) > 0 {
				t.Errorf("%s: %q", name, c.Observations[0].Text)
			}
		}
	})
	t.Run("ready-made observations rest on facts alone", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		runs(b)
		o := b.observe(memory.ObserveRequest{}).Observations[0]
		id := b.fact("Alice went running before breakfast.").ID
		c := b.observe(memory.ObserveRequest{Observations: []memory.ObservationInput{
			{Type: memory.ObservationRisk, Text: "Alice may hurt her knee.", Facts: []memory.FactID{id, memory.FactID(o.ID)}},
			{Type: memory.ObservationRisk, Text: "Nothing holds this.", Facts: []memory.FactID{memory.FactID(o.ID)}},
			{Type: "hunch", Text: "Alice is fine."}}})
		equal(t, "taken", len(c.Observations), 1)
		equal(t, "refused", len(c.Outcome.Results), 2)
		equal(t, "facts", c.Observations[0].Facts, []memory.FactID{id})
		b.forget(memory.ForgetRequest{ID: "m2"})
		if _, ok := b.m.Observed[c.Observations[0].ID]; ok {
			t.Error("an observation outlived its only fact")
		}
	})
}

// naming is a fact that names these entities.
func naming(t *testing.T, text string, ids ...memory.EntityID) memory.Fact {
	f := consolidatetest.Fact(t, "", text)
	f.Entities = ids
	return f
}

func TestEntities(t *testing.T) {
	t.Parallel()
	t.Run("a name is kept as first written, and its spellings are one entity", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.one(naming(t, "McKenna visited ACME Corp.", "person:mckenna", "organization:acme corp"))
		b.one(naming(t, "MCKENNA left ACME corp.", "person:McKenna", "other:ACME  Corp"))
		equal(t, "person", b.m.Named["person:mckenna"].Name, "McKenna")
		equal(t, "organization", b.m.Named["organization:acme corp"].Name, "ACME Corp")
		equal(t, "of the second fact", b.fact("MCKENNA left ACME corp.").Entities, []memory.EntityID{"organization:acme corp", "person:mckenna"})
		equal(t, "redirect", b.m.Named["other:acme corp"].Redirect, memory.EntityID("organization:acme corp"))
	})
	t.Run("a name with a comma is one entity", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.one(naming(t, "They met in Paris, Texas.", "place:paris, texas"))
		equal(t, "entity", b.m.Named["place:paris, texas"].Name, "Paris, Texas")
	})
}

// conformEntities holds what is promised of entities.
func conformEntities(t *testing.T) {
	t.Helper()
	t.Run("a short form is its person where there is one, and Al is not Alice", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(1, "m1", "s1", "Melanie", at(0), "")
		b.m.Say(2, "m2", "s1", "Alice", at(0), "")
		mel, al := b.sourced(1, 0, "Mel paints."), b.sourced(1, 0, "Al sings.")
		mel.Entities, al.Entities = []memory.EntityID{"person:mel"}, []memory.EntityID{"person:al"}
		b.window(1, 2, 0, mel, al)
		equal(t, "Mel", b.fact("Mel paints.").Entities, []memory.EntityID{"person:melanie"})
		equal(t, "Al", b.fact("Al sings.").Entities, []memory.EntityID{"person:al"})
		equal(t, "redirect", b.m.Named["person:mel"].Redirect, memory.EntityID("person:melanie"))
		equal(t, "aliases", b.m.Named["person:melanie"].Aliases, []string{"Mel"})
		equal(t, "Mel elsewhere", func() []memory.EntityID {
			b.one(naming(t, "Mel rests.", "person:mel"))
			return b.fact("Mel rests.").Entities
		}(), []memory.EntityID{"person:melanie"})
	})
}
