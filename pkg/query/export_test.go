package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// RunLines runs two steps at the same time, and after them one in each line that
// waits for the step of the other.
func RunLines(ctx context.Context, first, second func() error) error {
	run := func(fn func() error) func(*gatherer, context.Context) error {
		return func(*gatherer, context.Context) error { return fn() }
	}
	nothing := run(func() error { return nil })
	g := &gatherer{}
	_, err := g.both(ctx, &gatherer{}, []step{
		{name: "first", on: true, run: run(first)}, {name: "second", on: true, run: run(second), beside: true},
		{name: "after second", on: true, run: nothing, after: []string{"second"}},
		{name: "after first", on: true, run: nothing, beside: true, after: []string{"first"}},
	})
	return err
}

// FuseReadAhead gives what a recall fuses what it found into, a line an entry:
// with what was read ahead, with half of that, with nothing, and with that of
// every row up to all. ended and links are how much was read ahead. Among what is
// found are a message and a fact that no filter lets through.
func FuseReadAhead(ctx context.Context, s *Service, bank memory.BankID, r memory.RecallRequest, all int64) (fused [4][]string, ended, links int, err error) {
	a, err := s.cfg.newAsk(r, s.now())
	if err != nil {
		return fused, 0, 0, err
	}
	weights, err := s.embedQuery(ctx, &a, &memory.RecallReply{}, time.Now())
	if err != nil {
		return fused, 0, 0, err
	}
	err = s.store.Search(ctx, bank, a.filter, func(store Searcher) error {
		g := newGatherer(s.cfg.Recall, a, store)
		var err error
		if g.q, err = understand(a, store); err != nil {
			return err
		}
		for _, record := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
			g.pool.of(record, memory.StrategyTemporal).set(1<<40, 1)
		}
		if err := g.gather(ctx); err != nil {
			return err
		}
		read := *g.early
		ended, links = len(read.ended), len(read.links)
		half := readAhead{messages: read.messages[:len(read.messages)/2], facts: read.facts[:len(read.facts)/2]}
		half.ended = without(read.ended, without(read.ended, half.messages))
		for _, l := range read.links {
			if slices.Contains(half.facts, l.Fact) {
				half.links = append(half.links, l)
			}
		}
		var more readAhead
		for no := range all {
			more.messages, more.facts = append(more.messages, no+1), append(more.facts, no+1)
		}
		if more.ended, err = store.Unheld(more.messages); err != nil {
			return err
		}
		if more.links, err = store.Links(more.facts); err != nil {
			return err
		}
		for i, early := range []readAhead{read, half, {}, more} {
			g.early = &early
			entries, err := g.fuse(weights)
			if err != nil {
				return err
			}
			for _, e := range entries {
				fused[i] = append(fused[i], fmt.Sprintf("%s %q %.9f %v %v", e.record, e.id, e.score, e.also, len(e.facts)))
			}
		}
		return nil
	})
	return fused, ended, links, err
}
