package query_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestStates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, text := range []string{"Where do people live, and why do they live there?", "Some live and work where they live.", "My car, your car, which car?", "How many cats do people have?",
		"What is a favourite colour, or a favourite?", "How old is old?"} {
		w.say(memory.Message{Speaker: "Bob", Content: text})
	}
	states := []struct{ attribute, value, text, question string }{
		{"residence", "bogota", "Carla moved to Bogota.", "Where does Carla live now?"},
		{"employer", "acme", "Carla is paid by Acme.", "Which company does Carla work for?"},
		{"job", "baker", "Carla bakes for money.", "What does Carla do for a living?"},
		{"vehicle", "saab", "Carla bought a Saab.", "Which car does Carla drive?"},
		{"number of cat", "3", "Carla feeds three of them.", "How many cats does Carla have?"},
		{"favourite colour", "teal", "Carla loves teal.", "What is Carla's favorite colour?"},
		{"age", "40", "Carla turned 40.", "How old is Carla?"},
		{"marital status", "married", "Carla has a wife.", "Is Carla married?"},
	}
	var facts []memory.Fact
	for _, s := range states {
		facts = append(facts, memory.Fact{Text: s.text, Entities: []memory.EntityID{"person:carla"}, State: &memory.State{Subject: "person:carla", Attribute: s.attribute, Value: s.value}})
	}
	ended := memory.Fact{Text: "Carla grew up in Lima.", Entities: []memory.EntityID{"person:carla"}, State: &memory.State{Subject: "person:carla", Attribute: "residence", Value: "lima"},
		Valid: []memory.Interval{{From: noon.Add(-3 * time.Hour), To: ptr(noon.Add(-2 * time.Hour))}}}
	denied := memory.Fact{Text: "Carla left Rome.", Entities: []memory.EntityID{"person:carla"}, State: &memory.State{Subject: "person:carla", Attribute: "residence", Value: "not rome"}}
	w.know(alice, append(facts, ended, denied)...)
	for _, s := range states {
		t.Run("the current state comes first when it is asked for: "+s.attribute, func(t *testing.T) {
			t.Parallel()
			if got := textsOf(w.recall(alice, wire.RecallRequest{Query: s.question}).Items); len(got) < 2 || got[0] != s.text {
				t.Errorf("%q returns %q", s.question, got)
			}
		})
	}
	for question, not := range map[string]string{"Where did Carla meet Bob?": "Carla moved to Bogota.", "How many dogs does Carla have?": "Carla feeds three of them.", "Who likes Carla's colour?": "Carla loves teal."} {
		t.Run("a state that is not asked for does not come first: "+question, func(t *testing.T) {
			t.Parallel()
			for _, i := range w.recall(alice, wire.RecallRequest{Query: question, Explain: true}).Items {
				if i.Text == not && i.Score >= .9 {
					t.Errorf("%q scores %.2f", not, i.Score)
				}
			}
		})
	}
	t.Run("what was valid at a time comes first when that time is asked for", func(t *testing.T) {
		t.Parallel()
		then := noon.Add(-150 * time.Minute)
		got := textsOf(w.recall(alice, wire.RecallRequest{Query: "Where does Carla live?", Filter: memory.Filter{AsOf: &then}}).Items)
		if len(got) == 0 || got[0] != ended.Text {
			t.Errorf("got %q", got)
		}
	})
}

func TestTheNewerPartyOfAnOpenConflictStandsFirst(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	old := memory.Fact{Text: "Ilse plays the cello on Sunday.", Said: noon.Add(-48 * time.Hour)}
	late := memory.Fact{Text: "Ilse has put the cello aside for good, and paints.", Said: noon.Add(-time.Hour)}
	of := func(f memory.Fact) memory.Fact {
		f.Entities = []memory.EntityID{"person:ilse"}
		return f
	}
	facts := w.complete(alice, []memory.Fact{of(old), of(late)})
	w.apply(alice, memory.Changes{Facts: facts, Entities: entitiesOf(facts)})
	ask := func() []string {
		return textsOf(w.recall(alice, wire.RecallRequest{Query: "Does Ilse play the cello on Sunday?"}).Items)
	}
	if got := ask(); len(got) != 2 || got[0] != old.Text {
		t.Fatalf("without a conflict: %q", got)
	}
	a, b := min(facts[0].ID, facts[1].ID), max(facts[0].ID, facts[1].ID)
	c := memory.Conflict{ID: memory.NewConflictID(alice, a, b), A: a, B: b, State: memory.ConflictOpen}
	w.apply(alice, memory.Changes{Conflicts: []memory.Conflict{c}})
	if got := ask(); len(got) != 2 || got[0] != late.Text {
		t.Errorf("with an open conflict: %q", got)
	}
	c.State = memory.ConflictDismissed
	w.apply(alice, memory.Changes{Conflicts: []memory.Conflict{c}})
	if got := ask(); len(got) != 2 || got[0] != old.Text {
		t.Errorf("with a dismissed one: %q", got)
	}
}
