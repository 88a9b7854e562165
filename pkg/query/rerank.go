package query

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
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

// rerank orders the best of what was found anew by the reranker, within its
// time. On any failure the order stands and degraded says why.
func (s *Service) rerank(ctx context.Context, a ask, start time.Time, f *found) {
	cfg := s.cfg.Recall
	if s.reranker == nil {
		return
	}
	if best := f.ranked[:min(len(f.ranked), cfg.RerankDepth)]; len(best) > 1 {
		scores, why := s.reranked(ctx, a, start, best)
		if why != "" {
			f.degrade("rerank: " + why)
		}
		for i, score := range scores {
			best[i].item.Score = score
		}
		if scores != nil {
			slices.SortFunc(best, better)
		}
	}
	if a.minScore > 0 {
		f.ranked = slices.DeleteFunc(f.ranked, func(r ranked) bool { return r.item.Score < a.minScore })
	}
}

// reranked gives the blended scores, or why there are none.
func (s *Service) reranked(ctx context.Context, a ask, start time.Time, best []ranked) ([]float64, string) {
	texts, scores := make([]string, len(best)), make([]float64, len(best))
	for i, r := range best {
		texts[i], scores[i] = s.redact(r.item.Text), r.item.Score
	}
	ctx, cancel := within(ctx, a, start, s.cfg.Recall.RerankTimeout)
	defer cancel()
	ctx, span := telemetry.Start(ctx, "rerank")
	given, err := s.reranker.Rerank(ctx, s.redact(a.query), texts)
	span.Number(telemetry.Count, len(texts)).End(err)
	if err != nil {
		return nil, "the reranker failed or was too slow"
	}
	blended, ok := Blend(scores, given, s.cfg.Recall.RerankWeight)
	if !ok {
		return nil, "the reranker's answer was not one number for each item"
	}
	return blended, ""
}
