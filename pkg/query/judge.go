package query

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/answer"
)

// How much a judge looks at: the nearest composites and facts, and the nearest
// messages and observations.
const (
	judgedNodes  = 20
	judgedOthers = 20
)

// withoutJudge says what a request asks of a language model that there is none of.
func (s *Service) withoutJudge(a ask, f *found) {
	if s.judge != nil {
		return
	}
	if a.judge != nil {
		f.degrade("judge: no language model is configured")
	}
	if a.adequacy > 0 {
		f.degrade("adequacy: no language model is configured")
	}
}

// sift keeps what a language model judges at the threshold or above. What it was
// not shown goes; what it was shown and did not judge stays. On any failure
// everything stays and degraded says why.
func (s *Service) sift(ctx context.Context, a ask, start time.Time, f *found) {
	if a.judge == nil || s.judge == nil || len(f.ranked) == 0 {
		return
	}
	list, parts := fragments(f.ranked)
	shelf := answer.Shelf{Redact: s.redact}
	lines := ""
	for i, r := range list {
		lines += shelf.Line(answer.Shown{Item: r.item, Part: parts[i], Reasons: true})
	}
	ctx, cancel := within(ctx, a, start, s.cfg.JudgeTimeout)
	defer cancel()
	c, err := s.judge.Complete(ctx, memory.Prompt{System: answer.JudgeSystem(), User: answer.Ask(s.redact(a.query), answer.Fence(lines), false),
		Schema: []byte(answer.JudgeSchema), SchemaName: memory.StageJudge})
	if err != nil {
		f.degrade("judge: the language model failed or was too slow; nothing is dropped")
		return
	}
	scores := judgements(c.Text)
	if len(scores) == 0 {
		f.degrade("judge: the language model's answer could not be read; nothing is dropped")
		return
	}
	f.ranked = make([]ranked, 0, len(list))
	f.reply.Judged = &memory.Judged{}
	missing := 0
	for i, r := range list {
		score, judged := scores[i+1]
		if !judged {
			missing++
		}
		if judged && score < *a.judge {
			f.reply.Judged.Dropped++
			continue
		}
		if judged && a.explain {
			r.item.Explain = explained(r.item.Explain, "judge", score)
		}
		f.reply.Judged.Kept++
		f.ranked = append(f.ranked, r)
	}
	if missing > 0 {
		f.degrade(fmt.Sprintf("judge: %d of %d items got no judgement and are kept", missing, len(list)))
	}
}

// fragments gives what a judge is shown, in order: the leaves of a composite that
// have no place of their own stand behind it, as parts.
func fragments(list []ranked) (out []ranked, parts []bool) {
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
		out, parts = append(out, r), append(parts, false)
		for _, leaf := range r.leaves {
			if !seen[leaf.ID] {
				seen[leaf.ID] = true
				out, parts = append(out, ranked{item: leaf}), append(parts, true)
			}
		}
	}
	return out, parts
}

// judgements reads a judge's answer: the first score of each number.
func judgements(text string) map[int]float64 {
	items, _, err := reply.Items(text, "judgements")
	if err != nil {
		return nil
	}
	out := map[int]float64{}
	for _, raw := range items {
		j, err := answer.ReadJudgement(raw)
		if _, have := out[j.Number]; err == nil && !have {
			out[j.Number] = j.Score
		}
	}
	return out
}

// explained adds what something gave an item; the map of the item is not changed.
func explained(m map[string]memory.Contribution, name string, score float64) map[string]memory.Contribution {
	out := map[string]memory.Contribution{name: {Score: score}}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}
