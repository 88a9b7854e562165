package rank_test

import (
	"math"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

func FuzzRank(f *testing.F) {
	f.Add("When did Anna buy tea?", "I bought tea in May.", "Anna")
	f.Add("東京 \x00\xff?", "東京都", "東")
	f.Add("what what what", "", "")
	f.Fuzz(func(t *testing.T, question, text, speaker string) {
		q := rank.ParseQuestion(question, time.Date(2024, 1, 10, 0, 0, 0, 0, time.UTC), []string{speaker})
		for _, p := range q.Pairs {
			if p[0] >= len(q.Terms) || p[1] >= len(q.Terms) {
				t.Fatalf("pair %v of %d terms", p, len(q.Terms))
			}
		}
		c := []rank.Candidate{{ID: "a", Text: text, Speaker: speaker, Prev: &rank.Neighbour{Text: question}}, {ID: "b", Text: question, Caption: text}}
		for _, s := range rank.Rank(q, c, rank.Stats{}, rank.DefaultWeights()) {
			if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
				t.Fatalf("candidate %s scores %v", s.ID, s.Score)
			}
		}
	})
}
