package rank_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// A bank's participants are named, so "Anna" is a speaker of the question and no term of it.
func ExampleParseQuestion() {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	q := rank.ParseQuestion("When did Anna buy a bike in April?", now, []string{"Anna", "Ben"})
	for _, t := range q.Terms {
		fmt.Println(t.Stem, t.Forms())
	}
	fmt.Println(q.Speakers, q.When.From.Format(time.DateOnly), q.When.To.Format(time.DateOnly))
	// Output:
	// buy [buy bought]
	// bike [bike]
	// april [april]
	// [Anna] 2026-04-01 2026-05-01
}

func ExampleRank() {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	candidates := []rank.Candidate{
		{ID: "m1", Seq: 1, Session: "a", Speaker: "Ben", Text: "Which bike should I buy?"},
		{ID: "m2", Seq: 2, Session: "b", Speaker: "Anna", Text: "I bought a red bike yesterday."},
		{ID: "m3", Seq: 3, Session: "c", Speaker: "Anna", Text: "Soup again."},
	}
	q := rank.ParseQuestion("Which bike did Anna buy?", now, []string{"Anna", "Ben"})
	for _, s := range rank.Rank(q, candidates, rank.Stats{N: 1000}, rank.DefaultWeights()) {
		fmt.Printf("%s has %.0f %% of the terms\n", s.ID, 100*s.OwnCover)
	}
	// Output:
	// m2 has 100 % of the terms
	// m1 has 100 % of the terms
	// m3 has 0 % of the terms
}

// A new signal is a name, a weight and a function of one candidate. Here, who shouts is believed less.
func ExampleSignal() {
	shouts := rank.Signal{Name: "shouts", Talk: -1, Else: -1, Value: func(v *rank.View) float64 {
		text := v.Candidate.Text
		if text == strings.ToUpper(text) && text != strings.ToLower(text) {
			return 1
		}
		return 0
	}}
	weights := rank.DefaultWeights()
	weights.Signals = append(weights.Signals, shouts)

	candidates := []rank.Candidate{{ID: "m1", Seq: 1, Session: "a", Text: "THE KEY IS LOST"}, {ID: "m2", Seq: 2, Session: "b", Text: "The key is lost"}}
	q := rank.ParseQuestion("Where is the key?", time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC), nil)
	for _, s := range rank.Rank(q, candidates, rank.Stats{N: 1000}, weights) {
		fmt.Println(s.ID, "shouts:", s.Parts[len(s.Parts)-1] < 0)
	}
	// Output:
	// m2 shouts: false
	// m1 shouts: true
}
