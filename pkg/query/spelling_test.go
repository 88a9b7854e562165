package query_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestAskedWithMistakes asks with words that nobody spelled so.
func TestAskedWithMistakes(t *testing.T) {
	t.Parallel()
	asked := []answer{
		{"whens the weding", "Our Theo and Klara get married on the ninth of May."},
		{"Which resturant was it?", "That restaurant under the viaduct was superb."},
		{"what apointment do i have", "I put the appointment with the notary on Thursday."},
		{"wehre is the trumpett", "Lent the trumpet to cousin Bo."},
		{"Who is Micheal?", "Michael runs the bike shed."},
		{"what colour theatre seats", "They reupholstered the theater in crimson."},
		{"any alergies?", "My allergies flare up around hazel trees."},
		{"Wann war die Gebrutstagsfeier?", "Zur Geburtstagsfeier kamen nur elf Gäste."},
		{"do you happen to know how long the guarantee of the dishwahser still lasts", "Dishwasher bought in June, receipt in the blue folder."},
		{"Quel est le rendevous ?", "Le rendezvous avec la banque est reporté."},
		{"где мой чемодна", "Чемодан остался у тёти."},
	}
	expectAnswers(t, asked)
}

// TestNoMistakeIsMadeOfAnotherWord asks for what nobody spoke of, in words that are one letter from what was said.
func TestNoMistakeIsMadeOfAnotherWord(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	asked := []struct{ question, said string }{
		{"Do I own a horse?", "The house has a leaking roof."},
		{"Is there news from Marla?", "Maria says the ferry is late."},
		{"Is a beach nearby?", "We mended the bench in the yard."},
		{"Which trains do I take?", "The trails up there are icy."},
	}
	for i, a := range asked {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Speaker: "Vera", Content: a.said})
	}
	for _, a := range asked {
		if got := textsOf(w.recall(alice, wire.RecallRequest{Query: a.question}).Items); slices.Contains(got, a.said) {
			t.Errorf("%q is answered with %q", a.question, a.said)
		}
	}
}

// TestWordOfAnotherSessionIsNoMistake asks one session for what only another speaks of, in a word one letter from one that
// the session has.
func TestWordOfAnotherSessionIsNoMistake(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.say(memory.Message{ID: "stove", Session: "kitchen", Speaker: "Odd", Content: "Rita's morcha simmered until lunch."},
		memory.Message{ID: "square", Session: "town", Speaker: "Odd", Content: "Everyone there drinks mocha with my aunt."})
	narrowed := func(question string) []string {
		return textsOf(w.recall(alice, wire.RecallRequest{Query: question, Filter: memory.Filter{Session: "town"}}).Items)
	}
	if got := narrowed("Where is the morcha?"); len(got) > 0 {
		t.Errorf("a word of the other session finds %q here", got)
	}
	if got := narrowed("Who drinks moccha?"); !slices.Contains(got, "Everyone there drinks mocha with my aunt.") {
		t.Errorf("a word that the bank does not have finds %q", got)
	}
}
