package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Recall finds what bears on a query. A bank that was never made is
// memory.ErrNotFound, unless the request waits for something that was not
// applied in time: then the reply is empty and not fresh.
func (s *Service) Recall(ctx context.Context, bank memory.BankID, r memory.RecallRequest) (memory.RecallReply, error) {
	start := time.Now()
	a, err := s.cfg.newAsk(r, s.now())
	if err != nil {
		return memory.RecallReply{}, err
	}
	ctx, settle := s.metered(ctx, bank)
	defer settle()
	found, err := s.find(ctx, bank, a, start)
	if err != nil {
		return memory.RecallReply{}, err
	}
	found.reply.Took = memory.Duration(time.Since(start))
	return found.reply, nil
}

// found is what a recall came to, with what reflect needs beside the reply.
type found struct {
	reply     memory.RecallReply
	bank      memory.Bank
	conflicts []memory.Conflict
	parties   map[memory.FactID]memory.Item
	ranked    []ranked // what models look at before it is packed; nil = it is packed
}

// find does what a recall asks for, what models add to it included.
func (s *Service) find(ctx context.Context, bank memory.BankID, a ask, start time.Time) (found, error) {
	a, spent, err := s.affordable(ctx, bank, a)
	if err != nil {
		return found{}, err
	}
	out, err := s.look(ctx, bank, a, start)
	if err == nil {
		s.withoutJudge(a, &out)
	}
	for _, why := range spent {
		out.degrade(why)
	}
	if err != nil || out.ranked == nil {
		return out, err
	}
	s.widen(ctx, bank, a, start, &out)
	s.sift(ctx, a, start, &out)
	_, span := telemetry.Start(ctx, "pack")
	out.pack(a)
	span.Number(telemetry.Count, len(out.reply.Items)).End(nil)
	return out, s.store.Search(ctx, bank, a.filter, out.addConflicts)
}

// look finds what bears on the query, once.
func (s *Service) look(ctx context.Context, bank memory.BankID, a ask, start time.Time) (found, error) {
	out := found{reply: memory.RecallReply{Recall: ulid.Make().String(), Items: []memory.Item{}, Degraded: []string{}}}
	wait := a.wait
	if a.deadline > 0 {
		wait = min(wait, max(0, a.deadline-time.Since(start)))
	}
	fresh, err := s.fresh(ctx, a.after, a.afterWrite, wait)
	if err != nil {
		return out, err
	}
	out.reply.Fresh = fresh
	weights, err := s.embedQuery(ctx, &a, &out.reply, start)
	if err != nil {
		return out, err
	}
	err = s.store.Search(ctx, bank, a.filter, func(store Searcher) error {
		return s.search(ctx, store, a, weights, start, &out)
	})
	if errors.Is(err, memory.ErrNotFound) && !fresh {
		out.reply.Seen, _, err = s.store.Applied(ctx)
	}
	if err == nil && out.ranked != nil {
		s.rerank(ctx, a, start, &out)
	}
	return out, err
}

// embedQuery fills in the query's vector and gives the weights in effect.
func (s *Service) embedQuery(ctx context.Context, a *ask, reply *memory.RecallReply, start time.Time) (map[string]float64, error) {
	weights := maps.Clone(a.weights)
	given := a.vector != nil
	if s.embedder == nil {
		if weights[memory.StrategySemantic] > 0 && !given {
			reply.Degraded = append(reply.Degraded, "semantic: no embedder is configured")
		}
		if !a.chosen && !given {
			weights[memory.StrategySemantic] = 0
		}
		a.weights = weights
		return weights, nil
	}
	if given && len(a.vector) != s.embedder.Dimension() {
		return nil, sizeConflict("vector", len(a.vector), s.embedder)
	}
	if share := s.embedder.Thresholds().RankWeight; !a.chosen && !given {
		weights[memory.StrategySemantic] *= share
		if share == 0 {
			reply.Degraded = append(reply.Degraded, "semantic: no embedding model is configured; words decide")
		}
	}
	a.weights = weights
	if given || weights[memory.StrategySemantic] <= 0 {
		return weights, nil
	}
	if a.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, start.Add(a.deadline))
		defer cancel()
	}
	ctx, span := telemetry.Start(ctx, "embed query")
	v, err := s.embedQuestion(ctx, s.redact(a.query))
	span.Text(telemetry.Model, s.embedder.Name()).End(err)
	if err != nil {
		reply.Degraded = append(reply.Degraded, "semantic: the embedder failed or was too slow")
		return weights, nil
	}
	a.vector = v
	return weights, nil
}

// sizeConflict is the error for a vector of another model or size.
func sizeConflict(field string, size int, e memory.Embedder) error {
	return &memory.FieldError{Field: field, Meaning: memory.ErrConflict,
		Message: fmt.Sprintf("has %d dimensions; the vectors here are %s with %d: give one of that model, or none, and the text is embedded",
			size, e.Name(), e.Dimension())}
}

func (s *Service) search(ctx context.Context, store Searcher, a ask, weights map[string]float64, start time.Time, out *found) error {
	var err error
	if out.bank, err = store.Bank(); err != nil {
		return err
	}
	if out.reply.Seen, _, err = store.Applied(); err != nil {
		return err
	}
	if s.embedder == nil && a.vector != nil {
		size, err := store.Dimension()
		if err != nil {
			return err
		}
		if size > 0 && size != len(a.vector) {
			return &memory.FieldError{Field: "vector", Meaning: memory.ErrConflict, Message: fmt.Sprintf("has %d dimensions; the bank's have %d: give one of their model, or none", len(a.vector), size)}
		}
	}
	g := newGatherer(s.cfg.Recall, a, store)
	if a.deadline > 0 {
		g.deadline = start.Add(a.deadline)
	}
	if err := g.begin(ctx); err != nil {
		return err
	}
	if g.q, err = understand(a, store); err != nil || !g.q.words && a.vector == nil {
		return err
	}
	if err := g.gather(ctx); err != nil {
		return err
	}
	_, span := telemetry.Start(ctx, "fuse")
	entries, err := g.fuse(weights)
	span.Number(telemetry.Count, len(entries)).End(err)
	if err != nil {
		return err
	}
	if a.minScore > 0 && s.reranker == nil {
		entries = slices.DeleteFunc(entries, func(e entry) bool { return e.score < a.minScore })
	}
	var ranks map[memory.Record]map[string]map[int64]int
	if a.explain {
		ranks = map[memory.Record]map[string]map[int64]int{}
		for _, r := range memory.Records {
			ranks[r] = g.pool.ranks(r)
		}
	}
	if s.modelsLook(a) {
		g.a.sources = true // merging looks at them; packing takes them away
		out.ranked, err = g.whole(entries, ranks)
		out.reply.Degraded = append(out.reply.Degraded, g.degraded...)
		return err
	}
	_, span = telemetry.Start(ctx, "pack")
	out.reply.Items, out.reply.Tokens, err = g.pack(entries, ranks)
	span.Number(telemetry.Count, len(out.reply.Items)).End(err)
	if err != nil {
		return err
	}
	out.reply.Degraded = append(out.reply.Degraded, g.degraded...)
	return out.addConflicts(store)
}
