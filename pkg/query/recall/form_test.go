package recall_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

func TestWordsOfFormAreNotLookedUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, terms string }{
		// A request, what is to be told, an order of time, a place in the talk, how long the answer may be.
		{"Could you please give me a short, clear overview of the kitchen renovation?", "kitchen renovation"},
		{"Walk me through the order in which I brought up different aspects of the kitchen renovation across our chats.", "kitchen renovation"},
		{"I'd like you to summarise the kitchen renovation step by step, from first to last", "kitchen renovation"},
		{"Please list all of the plumbers we discussed so far in chronological order. Name at most three items.", "plumbers"},
		{"How many different plumbers did I mention throughout our previous conversations?", "plumbers"},
		{"Give me a short overview of what Owen told you about the plumber", "owen plumber"},
		{"What did Ana say to you about the plumber? What does she tell him?", "ana plumber tell"},
		{"Have I ever told the plumber about the leak?", "told plumber leak"},
		{"What did you say the plumber costs?", "plumber costs"},
		{"Kannst du mir bitte einen kurzen Überblick über die Renovierung der Küche geben?", "renovierung kuche geben"},
		{"Erzähl mir bitte mehr über die Küche, in chronologischer Reihenfolge", "kuche"},
		{"Welche Klempner gab es bisher in unseren Gesprächen?", "klempner gab"},
		{"请你按时间顺序列出厨房", "厨房"},
		{"在我们之前的聊天记录中厨房", "厨房"},
		// The same words, where they are the matter.
		{"When does my order from the bakery arrive?", "order bakery arrive"},
		{"What did Ana mention to the plumber?", "ana mention plumber"},
		{"What is on the list of the plumber?", "list plumber"},
		{"Which two conversations did Ana hold in Paris?", "two conversations ana hold paris"},
		{"Wann kommt meine Bestellung?", "kommt bestellung"},
		// Nothing but form is looked up as it is.
		{"Can you give me a summary?", "summary"},
		{"What did we discuss?", "discuss"},
		// Only what is asked last is a request; a long text is none.
		{"Tell me the news.\nWhat did the plumber find?", "tell news plumber find"},
		{"Tell me " + strings.Repeat("a very long story about plumbers ", 30), "tell long story plumbers"},
	} {
		var got []string
		for _, term := range rank.ParseQuestion(recall.WithoutForm(c.query), time.Time{}, nil).Terms {
			got = append(got, term.Word)
		}
		if !slices.Equal(got, strings.Fields(c.terms)) {
			t.Errorf("%q\nis looked up by %q, expected %q", c.query, got, c.terms)
		}
	}
}
