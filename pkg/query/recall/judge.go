package recall

import (
	"context"
	"fmt"
	"maps"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	judgedNodes  = 20 // composites and facts that a judge looks at
	judgedOthers = 20 // messages and observations
)

// judgeItems keeps the items that a language model scores at the request's threshold or above. Items that were not
// shown are dropped; items without a score are kept. On any failure all items are kept, and degraded has the reason.
func (e *Engine) judgeItems(ctx context.Context, q Request, found *Found) {
	if q.judge == nil || len(found.ranked) == 0 {
		return
	}
	list, isLeaf := judged(found.ranked)
	items := prompt.ItemList{Redact: e.Redact}
	lines := ""
	for i, r := range list {
		lines += items.Line(prompt.Shown{Item: r.item, Part: isLeaf[i], Reasons: true})
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout(e.cfg.JudgeTimeout))
	defer cancel()
	back := admission.Leave(ctx)
	c, err := e.Judge.Complete(ctx, memory.Prompt{System: prompt.JudgeSystem(), User: prompt.Ask(e.Redact(q.Query), prompt.Fence(lines), false),
		Schema: []byte(prompt.JudgeSchema), SchemaName: memory.StageJudge})
	back()
	if err != nil {
		found.Degrade("judge: the language model failed or was too slow; nothing is dropped")
		return
	}
	scores := judgements(c.Text)
	if len(scores) == 0 {
		found.Degrade("judge: the language model's answer could not be read; nothing is dropped")
		return
	}
	found.ranked = make([]ranked, 0, len(list))
	found.Reply.Judged = &wire.Judged{}
	missing := 0
	for i, r := range list {
		score, ok := scores[i+1]
		if !ok {
			missing++
		}
		if ok && score < *q.judge {
			found.Reply.Judged.Dropped++
			continue
		}
		if ok && q.explain {
			r.item.Explain = withContribution(r.item.Explain, "judge", score)
		}
		found.Reply.Judged.Kept++
		found.ranked = append(found.ranked, r)
	}
	if missing > 0 {
		found.Degrade(fmt.Sprintf("judge: %d of %d items got no judgement and are kept", missing, len(list)))
	}
}

// judged returns the items that a judge is shown, in order. The leaves of a composite that are no items follow it.
func judged(list []ranked) (out []ranked, isLeaf []bool) {
	nodes, others := 0, 0
	var chosen []ranked
	seen := map[string]bool{}
	for _, r := range list {
		n, most := &others, judgedOthers
		if r.item.Record == memory.RecordComposite || r.item.Record == memory.RecordFact {
			n, most = &nodes, judgedNodes
		}
		if *n < most {
			*n++
			chosen = append(chosen, r)
			seen[r.item.ID] = true
		}
	}
	for _, r := range chosen {
		out, isLeaf = append(out, r), append(isLeaf, false)
		for _, leaf := range r.leaves {
			if !seen[leaf.ID] {
				seen[leaf.ID] = true
				out, isLeaf = append(out, ranked{item: leaf}), append(isLeaf, true)
			}
		}
	}
	return out, isLeaf
}

// judgements reads a judge's answer: the first score of each number.
func judgements(text string) map[int]float64 {
	items, _, err := reply.Items(text, "judgements")
	if err != nil {
		return nil
	}
	out := map[int]float64{}
	for _, raw := range items {
		j, err := prompt.ReadJudgement(raw)
		if _, have := out[j.Number]; err == nil && !have {
			out[j.Number] = j.Score
		}
	}
	return out
}

// withContribution returns an explanation with one more contribution; m, which other items may share, is not changed.
func withContribution(m map[string]memory.Contribution, name string, score float64) map[string]memory.Contribution {
	out := map[string]memory.Contribution{}
	maps.Copy(out, m)
	out[name] = memory.Contribution{Score: score}
	return out
}
