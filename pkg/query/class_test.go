package query_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// TestAClassIsAnsweredByItsThings asks for classes whose names nobody said, by things that classes.txt does not name.
func TestAClassIsAnsweredByItsThings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	small := []string{"That was a long week, I must say.", "See you on Sunday then.", "The rent went up again.", "I slept badly, the neighbours were loud.",
		"Das war vielleicht ein Tag.", "Wir sehen uns am Sonntag.", "My sister called twice.", "Could you send me the address?"}
	for i, text := range small {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("s%d", i)), Speaker: "Vera", Content: text})
	}
	asked := []struct{ question, said string }{
		{"What pets did I have?", "Our borzoi Igor ate the sofa when I was nine."},
		{"Which instruments do I play?", "On Tuesdays I practise the bassoon until nobody can stand it."},
		{"What vehicles have I driven?", "I once drove a hearse to Aachen."},
		{"Which diseases did I have as a child?", "I got measles the summer I turned six."},
		{"Which sports did I try?", "A year of dressage gave me a sore back."},
		{"What fruit can I not eat?", "Papayas give me a rash."},
		{"Which countries do I know?", "The winter in Kyrgyzstan was the coldest of all."},
		{"How many languages do I speak?", "With the cook I talk in Catalan."},
		{"Which cheeses do I like?", "Give me gorgonzola and I am happy."},
		{"What kinds of hats do I own?", "The fedora hangs in the hall."},
		{"Welche Haustiere hatte ich?", "Das Meerschweinchen hieß Else."},
		{"In welchen Ländern war ich?", "Die Fähre nach Griechenland fuhr nachts."},
		{"¿En qué países estuve?", "El tren cruzó Alemania de noche."},
		{"Quels pays ai-je visités ?", "On a dormi en Finlande sous la neige."},
	}
	for i, a := range asked {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Speaker: "Vera", Content: a.said})
	}
	for _, a := range asked {
		t.Run(a.question, func(t *testing.T) {
			t.Parallel()
			got := textsOf(w.recall(alice, wire.RecallRequest{Query: a.question}).Items)
			if !slices.Contains(got[:min(4, len(got))], a.said) {
				t.Errorf("got %q; expected %q among the first four", got, a.said)
			}
		})
	}
}
