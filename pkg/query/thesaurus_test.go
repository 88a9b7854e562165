package query_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestAskedInOtherWords asks for what was told in words that the question does not have.
func TestAskedInOtherWords(t *testing.T) {
	t.Parallel()
	asked := []answer{
		{"When is the wedding?", "Our Theo and Klara get married on the ninth of May."},
		{"What's my address?", "These days I live above the bakery in Tanner Row."},
		{"Who is my supervisor?", "Ruth has been my boss since the merger."},
		{"Do I take any medication?", "Every evening it's two pills of ramipril."},
		{"What do I do for a living?", "I work as a piano tuner."},
		{"How do I get about, what car do I have?", "I drive the old Saab that was my uncle's."},
		{"Which film did I enjoy?", "Best movie in years was the one about the lighthouse."},
		{"Do I suffer from headaches?", "The migraines come back whenever it thunders."},
		{"Any siblings?", "My brother keeps bees."},
		{"What do we pay for the flat?", "They want 900 for the rent from now on."},
		{"What's wrong with my leg?", "Twisted an ankle on the stairs to the cellar."},
		{"How does Vera get to work?", "Since spring I commute by ferry, it's quicker."},
		{"What is our interest rate?", "The mortgage is fixed at three and a bit until August."},
		{"Was ist mit dem Bein?", "Der Knöchel ist dick, seit ich in den Graben getreten bin."},
		{"Wann ist die Trauung, also die Hochzeit?", "Am Samstag heiratet der Bäcker von nebenan."},
		{"Bin ich Vegetarier?", "Mir kommt kein Fleisch auf den Teller."},
		{"Quel est mon métier ?", "Je travaille au phare depuis dix ans."},
		{"¿Cuál es mi dirección?", "Vivo encima de la panadería."},
		{"Qual è il mio mestiere?", "Adesso lavoro alla stazione dei pompieri."},
	}
	expectAnswers(t, asked)
}

// answer is what was said, and a question that it answers.
type answer struct{ question, said string }

// expectAnswers says everything to one bank, with as much besides, and expects each answer among the first two items.
func expectAnswers(t *testing.T, asked []answer) {
	t.Helper()
	w := newFixture(t)
	for i, a := range asked {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Speaker: "Vera", Content: a.said})
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("n%d", i)), Speaker: "Vera", Content: fmt.Sprintf("Number %d rang again, nobody there.", 40+i)})
	}
	for _, a := range asked {
		t.Run(a.question, func(t *testing.T) {
			t.Parallel()
			got := textsOf(w.recall(alice, wire.RecallRequest{Query: a.question}).Items)
			if !slices.Contains(got[:min(2, len(got))], a.said) {
				t.Errorf("got %q; expected %q among the first two", got, a.said)
			}
		})
	}
}
