package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

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

// parallelSearches is how many searches of one request run at once.
const parallelSearches = 4

// searchMissing asks a language model whether the items suffice, and searches for what it names as missing, in at most
// as many rounds as the request allows and never twice for the same query. The results are merged. On any failure the
// result is unchanged, and degraded has the reason.
func (e *Engine) searchMissing(ctx context.Context, bank memory.BankID, q Request, found *Found) {
	asked, seen := []string{q.Query}, map[string]bool{memory.NormalText(q.Query): true}
	for range q.Adequacy {
		queries, why := e.missingQueries(ctx, q, asked, *found)
		if why != "" {
			found.Degrade("adequacy: " + why + "; the result stands as it is")
			return
		}
		queries = slices.DeleteFunc(queries, func(query string) bool {
			key := memory.NormalText(query)
			again := seen[key]
			seen[key] = true
			return again
		})
		if len(queries) == 0 {
			return
		}
		asked = append(asked, queries...)
		more := make([]Found, len(queries))
		var group errgroup.Group
		group.SetLimit(parallelSearches)
		for i, query := range queries {
			group.Go(func() error {
				var err error
				if more[i], err = e.search(ctx, bank, q.Next(query)); err != nil {
					more[i] = Found{Reply: wire.RecallReply{Degraded: []string{"adequacy: a search of it failed"}}}
				}
				return nil
			})
		}
		_ = group.Wait() // none returns an error
		for _, m := range more {
			found.ranked = merge(found.ranked, m.ranked)
			found.Reply.Confidence = max(found.Reply.Confidence, m.Reply.Confidence)
			for _, why := range m.Reply.Degraded {
				found.Degrade(why)
			}
		}
	}
}

// missingQueries asks for the queries of one round; there are none when what was found suffices. asked are the queries
// so far, the request's first.
func (e *Engine) missingQueries(ctx context.Context, q Request, asked []string, found Found) (queries []string, why string) {
	found.pack(q)
	items := prompt.ItemList{Redact: e.Redact}
	lines := ""
	for _, item := range found.Reply.Items {
		lines += items.Line(prompt.Shown{Item: item})
	}
	if lines == "" {
		lines = "Nothing was found."
	}
	shown := make([]string, len(asked))
	for i, query := range asked {
		shown[i] = e.Redact(query)
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout(e.cfg.JudgeTimeout))
	defer cancel()
	back := admission.Leave(ctx)
	c, err := e.Judge.Complete(ctx, memory.Prompt{System: prompt.AdequacySystem(), User: prompt.AdequacyAsk(shown, prompt.Fence(lines)),
		Schema: []byte(prompt.AdequacySchema), SchemaName: "adequacy"})
	back()
	if err != nil {
		return nil, "the language model failed or was too slow"
	}
	obj, _, err := reply.Object(c.Text, "enough", "queries")
	queries, enough, ok := prompt.Arguments(obj).Queries()
	if err != nil || !ok {
		return nil, "the language model's answer could not be read"
	}
	if enough {
		return nil, ""
	}
	return queries, ""
}
