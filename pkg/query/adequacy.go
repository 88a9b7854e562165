package query

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
	"github.com/eunoe-memory/eunoe/pkg/query/answer"
)

// widen asks a language model whether what was found suffices, and searches for
// what it says is missing: in at most so many rounds as the request gives, and
// never twice for the same query. What a round found joins what was there. On
// any failure the result stands as it is and degraded says why.
func (s *Service) widen(ctx context.Context, bank memory.BankID, a ask, start time.Time, f *found) {
	if s.judge == nil {
		return
	}
	asked := []string{a.query}
	for range a.adequacy {
		queries, why := s.missing(ctx, a, start, asked, *f)
		if why != "" {
			f.degrade("adequacy: " + why + "; the result stands as it is")
			return
		}
		queries = unasked(queries, asked)
		if len(queries) == 0 {
			return
		}
		asked = append(asked, queries...)
		for _, more := range s.lookAll(ctx, bank, a, start, queries) {
			f.ranked = merge(f.ranked, more.ranked)
			for _, why := range more.reply.Degraded {
				f.degrade(why)
			}
		}
	}
}

// missing asks for the queries of one round; none when what was found suffices.
func (s *Service) missing(ctx context.Context, a ask, start time.Time, asked []string, f found) (queries []string, why string) {
	f.pack(a)
	shelf := answer.Shelf{Redact: s.redact}
	lines := ""
	for _, item := range f.reply.Items {
		lines += shelf.Line(answer.Shown{Item: item})
	}
	if lines == "" {
		lines = "Nothing was found."
	}
	shown := make([]string, len(asked))
	for i, q := range asked {
		shown[i] = s.redact(q)
	}
	ctx, cancel := within(ctx, a, start, s.cfg.JudgeTimeout)
	defer cancel()
	c, err := s.judge.Complete(ctx, memory.Prompt{System: answer.AdequacySystem(), User: answer.AdequacyAsk(shown, answer.Fence(lines)),
		Schema: []byte(answer.AdequacySchema), SchemaName: "adequacy"})
	if err != nil {
		return nil, "the language model failed or was too slow"
	}
	queries, enough, ok := adequacy(c.Text)
	if !ok {
		return nil, "the language model's answer could not be read"
	}
	if enough {
		return nil, ""
	}
	return queries, ""
}

// adequacy reads the answer of a round.
func adequacy(text string) (queries []string, enough, ok bool) {
	obj, _, err := reply.Object(text, "enough", "queries")
	if err != nil {
		return nil, false, false
	}
	return answer.Arguments(obj).Queries()
}

// unasked gives the queries that say something else than those asked, each once.
func unasked(queries, asked []string) []string {
	seen := map[string]bool{}
	for _, q := range asked {
		seen[memory.NormalText(q)] = true
	}
	var out []string
	for _, q := range queries {
		if key := memory.NormalText(q); !seen[key] {
			seen[key] = true
			out = append(out, q)
		}
	}
	return out
}

// lookAll finds what bears on each of the queries as the request would, in their
// order. One that fails finds nothing.
func (s *Service) lookAll(ctx context.Context, bank memory.BankID, a ask, start time.Time, queries []string) []found {
	out := make([]found, len(queries))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, q := range queries {
		group.Go(func() error {
			var err error
			if out[i], err = s.look(ctx, bank, a.next(q), start); err != nil {
				out[i] = found{reply: memory.RecallReply{Degraded: []string{"adequacy: a search of it failed"}}}
			}
			return nil
		})
	}
	_ = group.Wait() // none gives an error
	return out
}

// parallel is how many searches of one request run at once.
const parallel = 4

// next is the same request with another query, which waits for nothing.
func (a ask) next(query string) ask {
	a.query, a.vector, a.after, a.afterWrite = query, nil, 0, 0
	return a
}
