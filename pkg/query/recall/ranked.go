package recall

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// ranked is an entry read whole, for models to look at outside the store.
type ranked struct {
	item   memory.Item
	leaves []memory.Item // of a composite, where a judge looks at it
}

const (
	minRanked = 100 // entries that are read whole at least, where there are so many: models may drop some of the first
	maxLeaves = 8   // leaves of one composite that a judge is shown
)

// modelsLook reports whether a model looks at what was found before it is packed.
func (e *Engine) modelsLook(q Request) bool {
	return e.Reranker != nil || e.Judge != nil && (q.judge != nil || q.Adequacy > 0)
}

// ranked reads the best entries whole, in their order; never nil.
func (g *gatherer) ranked(entries []entry) ([]ranked, error) {
	entries = entries[:min(len(entries), max(minRanked, 4*g.req.MaxItems))]
	items, err := g.items(entries, g.explainer())
	if err != nil {
		return nil, err
	}
	out := make([]ranked, len(items))
	for i, item := range items {
		out[i] = ranked{item: item}
	}
	if g.req.judge == nil || !g.wants(memory.RecordFact) {
		return out, nil
	}
	number := map[string]int64{}
	for _, e := range entries {
		if e.record == memory.RecordComposite {
			number[e.id] = e.no
		}
	}
	left := judgedNodes
	for i, r := range out {
		if r.item.Record != memory.RecordComposite || left == 0 {
			continue
		}
		left--
		leaves := g.composites[number[r.item.ID]].Leaves
		if out[i].leaves, err = g.s.Items(memory.RecordFact, leaves[:min(len(leaves), maxLeaves)]); err != nil {
			return nil, err
		}
		for k := range out[i].leaves {
			out[i].leaves[k].Score = r.item.Score
		}
	}
	return out, nil
}

// byScore orders by descending score, ties by id.
func byScore(x, y ranked) int {
	return cmp.Or(cmp.Compare(y.item.Score, x.item.Score), cmp.Compare(x.item.ID, y.item.ID))
}

// Blend mixes each score with the reranker's score of the same item: (1-share) × score + share × given, where given is
// scaled onto [0, 1] by the lowest and highest given. It reports false, and blends nothing, unless given holds exactly
// one finite number for each score.
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

// leastScore returns the score below which min_score removes items, if the first item has the score top. The confidence
// of an item is that of the reply, scaled by its score relative to top. If the confidence of the reply is below
// min_score, the result exceeds every score.
func leastScore(minScore, confidence, top float64) float64 {
	if minScore <= 0 {
		return 0
	}
	if confidence < minScore {
		return math.Inf(1)
	}
	return top * minScore / confidence
}

// rerank orders the best of what was found by the reranker, within its time, and then applies the request's least score.
// On any failure the order stands and degraded says why.
func (e *Engine) rerank(ctx context.Context, q Request, found *Found) {
	if e.Reranker == nil || found.ranked == nil {
		return
	}
	if best := found.ranked[:min(len(found.ranked), e.cfg.RerankDepth)]; len(best) > 1 {
		scores, why := e.rerankScores(ctx, q, best)
		if why != "" {
			found.Degrade("rerank: " + why)
		}
		for i, score := range scores {
			best[i].item.Score = score
		}
		if scores != nil {
			slices.SortFunc(best, byScore)
		}
	}
	if q.minScore > 0 && len(found.ranked) > 0 {
		least := leastScore(q.minScore, found.Reply.Confidence, found.ranked[0].item.Score)
		found.ranked = slices.DeleteFunc(found.ranked, func(r ranked) bool { return r.item.Score < least })
	}
}

// rerankScores returns the blended scores, or why there are none.
func (e *Engine) rerankScores(ctx context.Context, q Request, best []ranked) ([]float64, string) {
	texts, scores := make([]string, len(best)), make([]float64, len(best))
	for i, r := range best {
		texts[i], scores[i] = e.Redact(r.item.Text), r.item.Score
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout(e.cfg.RerankTimeout))
	defer cancel()
	ctx, span := telemetry.Start(ctx, "rerank")
	back := admission.Leave(ctx)
	given, err := e.Reranker.Rerank(ctx, e.Redact(q.Query), texts)
	back()
	span.Number(telemetry.Count, len(texts)).End(err)
	if err != nil {
		return nil, "the reranker failed or was too slow"
	}
	blended, ok := Blend(scores, given, e.cfg.RerankWeight)
	if !ok {
		return nil, "the reranker's answer was not one number for each item"
	}
	return blended, ""
}
