package recall

import (
	"context"
	"maps"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// search finds what the bank holds about the query, once, and lets the reranker order it.
func (e *Engine) search(ctx context.Context, bank memory.BankID, q Request) (Found, error) {
	found := Found{Reply: wire.RecallReply{Recall: ulid.Make().String(), Fresh: true, Items: []memory.Item{}, Degraded: []string{}}}
	q, err := e.embed(ctx, q, &found)
	if err != nil {
		return found, err
	}
	err = e.Store.Search(ctx, bank, q.Filter, func(s Searcher) error { return e.read(ctx, s, q, &found) })
	if err == nil {
		e.rerank(ctx, q, &found)
	}
	return found, err
}

// embed returns the request with the vector of its query and the strategies' weights in effect: semantic has none
// without an embedder, and the embedder's share where the caller chose neither weights nor vector.
func (e *Engine) embed(ctx context.Context, q Request, found *Found) (Request, error) {
	given := q.vector != nil
	q.weights = maps.Clone(q.weights)
	if e.Embedder == nil {
		if q.on(memory.StrategySemantic) && !given {
			found.Reply.Degraded = append(found.Reply.Degraded, "semantic: no embedder is configured")
		}
		if !q.chosen && !given {
			q.weights[memory.StrategySemantic] = 0
		}
		return q, nil
	}
	if given {
		if err := request.Dimension("vector", q.vector, e.Embedder); err != nil {
			return q, err
		}
	}
	if share := e.Embedder.Thresholds().RankWeight; !q.chosen && !given {
		q.weights[memory.StrategySemantic] *= share
	}
	if given || !q.on(memory.StrategySemantic) {
		return q, nil
	}
	v, why := e.embedQuery(ctx, q)
	if q.vector = v; v == nil {
		found.Reply.Degraded = append(found.Reply.Degraded, "semantic: "+why)
	}
	return q, nil
}
