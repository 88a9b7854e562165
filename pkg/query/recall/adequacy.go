package recall

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// parallelSearches is how many searches of one request run at once.
const parallelSearches = 4

// searchMissing asks a language model whether the items suffice, and searches for what it names as missing, in at most
// as many rounds as the request allows and never twice for the same query. The results are merged. On any failure the
// result is unchanged, and degraded has the reason.
func (e *Engine) searchMissing(ctx context.Context, bank memory.BankID, q Request, found *Found) {
	asked := []string{q.Query}
	for range q.Adequacy {
		queries, why := e.missingQueries(ctx, q, asked, *found)
		if why != "" {
			found.Degrade("adequacy: " + why + "; the result stands as it is")
			return
		}
		var fresh []string
		for _, query := range queries {
			if !slices.ContainsFunc(asked, func(other string) bool { return memory.NormalText(other) == memory.NormalText(query) }) {
				asked, fresh = append(asked, query), append(fresh, query)
			}
		}
		if len(fresh) == 0 {
			return
		}
		more := make([]Found, len(fresh))
		var group errgroup.Group
		group.SetLimit(parallelSearches)
		for i, query := range fresh {
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

// merge joins two results. What only the second holds gets its place by score; neither order changes otherwise. Of a
// message and a fact that rests on it the one that comes first stays.
func merge(a, b []ranked) []ranked {
	out := make([]ranked, 0, len(a)+len(b))
	have, sources := map[string]int{}, map[memory.MessageID]bool{}
	key := func(i memory.Item) string { return string(i.Record) + " " + i.ID }
	add := func(r ranked) {
		if at, ok := have[key(r.item)]; ok {
			out[at].item.Score = max(out[at].item.Score, r.item.Score)
			return
		}
		switch r.item.Record {
		case memory.RecordMessage:
			if sources[memory.MessageID(r.item.ID)] {
				return
			}
		case memory.RecordFact:
			for _, m := range r.item.Sources {
				if _, shown := have[string(memory.RecordMessage)+" "+string(m)]; shown {
					return
				}
				sources[m] = true
			}
		}
		have[key(r.item)] = len(out)
		out = append(out, r)
	}
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].item.Score >= b[0].item.Score {
			add(a[0])
			a = a[1:]
			continue
		}
		add(b[0])
		b = b[1:]
	}
	return out
}
