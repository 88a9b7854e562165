package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// advice is a long answer of an agent that speaks of everything a little; about 1,000 words.
func advice() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "Step %d: compare the offers for a boat, a trailer, insurance and a mooring before you decide anything. ", i+1)
		if i == 40 {
			b.WriteString("For the hull I recommend two coats of tung oil in autumn. ")
		}
	}
	return b.String()
}

func TestLongAnswersOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.say(
		memory.Message{ID: "a1", Speaker: "Dora", Content: "Good morning, what's on the list?"},
		memory.Message{ID: "a2", Role: memory.RoleAssistant, Speaker: "Agent", Content: "Let me know how I can help."},
		memory.Message{ID: "b1", Speaker: "Dora", Content: "My boat trailer has a flat tyre and the mooring costs 900 a year, what would you do first?"},
		memory.Message{ID: "b2", Role: memory.RoleAssistant, Speaker: "Agent", Content: advice()},
		memory.Message{ID: "b3", Speaker: "Dora", Content: "Thanks, that helps a lot."},
		memory.Message{ID: "b4", Role: memory.RoleAssistant, Speaker: "Agent", Content: advice()[200:] + " Anything else?"},
	)
	t.Run("they do not bury what a person told while asking", func(t *testing.T) {
		t.Parallel()
		got := w.recall(alice, wire.RecallRequest{Query: "How much does the mooring of my boat cost a year?"})
		if len(got.Items) == 0 || got.Items[0].ID != "b1" {
			t.Errorf("found first is %v; want b1", textsOf(got.Items))
		}
	})
	t.Run("they are found and shown by the part that answers", func(t *testing.T) {
		t.Parallel()
		tokens := 400
		got := w.recall(alice, wire.RecallRequest{Query: "Which oil did you recommend for the hull?", MaxTokens: &tokens})
		for _, item := range got.Items {
			if item.ID != "b2" {
				continue
			}
			p := item.Passage
			if p == nil || !strings.Contains(item.Text, "tung oil") || p.Of != len(advice()) || item.Text != advice()[p.Start:p.End] || len(item.Text) > 2000 {
				t.Errorf("the item has %d bytes, passage %+v: %s", len(item.Text), p, item.Text)
			}
			return
		}
		t.Errorf("the answer is not among %v", textsOf(got.Items))
	})
}

func TestLongQuestionsAreLookedUpByTheirRarestTerms(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.say(memory.Message{ID: "wanted", Session: "vet", Content: "The vet said the tortoise should hibernate in the fridge."})
	var talk strings.Builder
	for i := range 10 {
		talk.WriteString("Ann:")
		for k := range 10 {
			word := fmt.Sprintf("topic%c%c", 'a'+i, 'a'+k)
			w.say(memory.Message{Session: memory.SessionID(word), Content: "We spoke of " + word}, memory.Message{Session: memory.SessionID(word), Content: "And so much more of " + word})
			talk.WriteString(" " + word)
		}
		talk.WriteString("\n")
	}
	most := 100
	got := w.recall(alice, wire.RecallRequest{Query: talk.String() + "Ann: where shall the tortoise hibernate?\n", MaxFacts: &most})
	for _, item := range got.Items {
		if item.ID == "wanted" {
			return
		}
	}
	t.Errorf("what the last line asks for is not among %v", textsOf(got.Items))
}
