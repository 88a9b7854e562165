package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
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

// read finds candidates in one state of the bank and fuses them. It packs the reply, unless models look at it first.
func (e *Engine) read(ctx context.Context, s Searcher, q Request, found *Found) error {
	var speakers []string
	var g *gatherer
	err := together(s,
		func(s Searcher) (err error) {
			found.Bank, err = s.Bank()
			return err
		},
		func(s Searcher) (err error) {
			var writes uint64
			found.Reply.Seen, writes, err = s.Applied()
			found.Reply.Fresh = found.Reply.Seen >= q.afterSeq && writes >= q.afterWrite
			return err
		},
		func(s Searcher) error { return e.comparable(s, q.vector) },
		func(s Searcher) (err error) {
			g, err = newGatherer(ctx, e.cfg, q, s)
			return err
		},
		func(s Searcher) (err error) {
			speakers, err = s.Speakers(maxSpeakers)
			return err
		},
	)
	if err != nil {
		return err
	}
	g.s = s
	if g.question, err = understand(q, s, speakers); err != nil || !g.question.words && q.vector == nil {
		return err
	}
	if err := g.gather(ctx); err != nil {
		return err
	}
	_, span := telemetry.Start(ctx, "fuse")
	entries, err := g.fuse()
	span.Number(telemetry.Count, len(entries)).End(err)
	if err != nil {
		return err
	}
	entries = g.withoutOthers(entries)
	found.Reply.Confidence = g.confidence(entries)
	if q.minScore > 0 && e.Reranker == nil && len(entries) > 0 {
		least := leastScore(q.minScore, found.Reply.Confidence, entries[0].score)
		entries = slices.DeleteFunc(entries, func(x entry) bool { return x.score < least })
	}
	if e.modelsLook(q) {
		found.ranked, err = g.ranked(entries)
		found.Reply.Degraded = append(found.Reply.Degraded, g.degraded...)
		return err
	}
	_, span = telemetry.Start(ctx, "pack")
	found.Reply.Items, found.Reply.Tokens, err = g.pack(entries)
	span.Number(telemetry.Count, len(found.Reply.Items)).End(err)
	if err != nil {
		return err
	}
	found.Reply.Degraded = append(found.Reply.Degraded, g.degraded...)
	return found.AddConflicts(s)
}

// modelsLook reports whether a model looks at what was found before it is packed.
func (e *Engine) modelsLook(q Request) bool {
	return e.Reranker != nil || e.Judge != nil && (q.judge != nil || q.Adequacy > 0)
}

// comparable checks that a caller's vector has the size of the bank's vectors, where no embedder says what size that is.
func (e *Engine) comparable(s Searcher, v memory.Vector) error {
	if e.Embedder != nil || v == nil {
		return nil
	}
	size, err := s.Dimension()
	if err != nil || size == 0 || size == len(v) {
		return err
	}
	return &memory.FieldError{Field: "vector", Meaning: memory.ErrConflict,
		Message: fmt.Sprintf("has %d dimensions; the bank's have %d: give one of their model, or none", len(v), size)}
}
