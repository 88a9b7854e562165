package rank_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// BenchmarkRank measures one question over 300 candidates of about 25 words each, every neighbour being a candidate
// too.
func BenchmarkRank(b *testing.B) {
	words := strings.Fields(`yesterday we went to the pottery class with my kids and it was such great fun painting bowls near
		Lisbon though nobody knew how long the concert would take or who had bought those tickets last summer`)
	var lines []string
	for i := range 300 {
		var text []string
		for j := range 25 {
			text = append(text, words[(i*7+j*(i%5+1))%len(words)])
		}
		lines = append(lines, fmt.Sprintf("%s: %s %d.", []string{"Anna", "Benjamin"}[i%2], strings.Join(text, " "), i))
	}
	c := talk(lines...)
	q := ask("When did Anna buy tickets for the concert in Lisbon with the kids?")
	stats := rank.Stats{N: 100_000, DF: func(string) int { return 900 }}
	b.ReportAllocs()
	for b.Loop() {
		rank.Rank(q, c, stats, rank.DefaultWeights())
	}
}
