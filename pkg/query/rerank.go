package query

import (
	"context"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Blend mixes each score with what a reranker gave it: (1-share) × score +
// share × given, where given is scaled onto [0, 1] by the lowest and highest
// given. It reports false, and blends nothing, when the reranker did not give
// exactly one finite number for each.
func Blend(scores, given []float64, share float64) ([]float64, bool) {
	if len(given) != len(scores) || len(scores) == 0 {
		return nil, false
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range given {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	out := make([]float64, len(scores))
	for i, v := range given {
		scaled := 1.0
		if hi > lo {
			scaled = (v - lo) / (hi - lo)
		}
		out[i] = (1-share)*scores[i] + share*scaled
	}
	return out, true
}

// rerank orders the best entries anew by a reranker, within its time. On any
// failure the order stands and degraded says why.
func (g *gatherer) rerank(ctx context.Context, model memory.Reranker, entries []entry) []entry {
	if model == nil || len(entries) < 2 {
		return entries
	}
	best := entries[:min(len(entries), g.cfg.RerankDepth)]
	items, err := g.items(best, nil)
	if err != nil || len(items) != len(best) {
		g.degraded = append(g.degraded, "rerank: the items could not be read")
		return entries
	}
	texts, scores := make([]string, len(best)), make([]float64, len(best))
	for i, item := range items {
		texts[i], scores[i] = item.Text, best[i].score
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.RerankTimeout)
	defer cancel()
	if !g.deadline.IsZero() {
		var done context.CancelFunc
		ctx, done = context.WithDeadline(ctx, g.deadline)
		defer done()
	}
	given, err := model.Rerank(ctx, g.a.query, texts)
	if err != nil {
		g.degraded = append(g.degraded, "rerank: the reranker failed or was too slow")
		return entries
	}
	blended, ok := Blend(scores, given, g.cfg.RerankWeight)
	if !ok {
		g.degraded = append(g.degraded, "rerank: the reranker's answer was not one number for each item")
		return entries
	}
	out := append([]entry{}, entries...)
	for i := range best {
		out[i].score = blended[i]
	}
	sortEntries(out[:len(best)])
	return out
}
