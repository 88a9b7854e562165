package query

import (
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// rank keeps the keyword scores of candidates whose Seq is their row number.
func (g *gatherer) rank(r memory.Record, candidates []rank.Candidate) {
	into := g.pool.of(r, memory.StrategyKeyword)
	for _, s := range g.score(r, candidates) {
		into.set(int64(candidates[s.Index].Seq), s.Score)
	}
}

// score gives candidates with calibrated scores, by the frequencies that terms
// have in a record.
func (g *gatherer) score(r memory.Record, candidates []rank.Candidate) []rank.Scored {
	if len(candidates) == 0 {
		return nil
	}
	size, df := g.found[r].size, g.found[r].df
	stats := rank.Stats{N: max(size, 1), DF: func(stem string) int { return df[stem] }}
	total := 0.0
	for _, t := range g.q.Terms {
		total += idf(stats.N, df[t.Stem])
	}
	out := rank.Rank(g.q.Question, candidates, stats, g.weights)
	for i := range out {
		out[i].Score = calibrate(out[i].Score, total)
	}
	return out
}

// calibrate maps a ranking score onto (0, 1) and keeps every order. A score
// counts against what a message has that holds each word of the question once,
// in no word more: 2.6 for holding them, and .44 for each unit of their
// weight. Such a score gives .88, half of it .44, none .08.
func calibrate(score, total float64) float64 {
	return 1 / (1 + math.Exp(2.5-4.5*score/(2.6+.44*total)))
}
