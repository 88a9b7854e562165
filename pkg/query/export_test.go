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
// with what was read ahead, with half of that and with nothing. ended and links
// are how much that was.
func FuseReadAhead(ctx context.Context, s *Service, bank memory.BankID, r memory.RecallRequest) (fused [3][]string, ended, links int, err error) {
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
		if err := g.gather(ctx); err != nil {
			return err
		}
		all := *g.early
		ended, links = len(all.ended), len(all.links)
		half := readAhead{messages: all.messages[:len(all.messages)/2], facts: all.facts[:len(all.facts)/2]}
		half.ended = without(all.ended, without(all.ended, half.messages))
		for _, l := range all.links {
			if slices.Contains(half.facts, l.Fact) {
				half.links = append(half.links, l)
			}
		}
		for i, early := range []readAhead{all, half, {}} {
			g.early = &early
			entries, err := g.fuse(weights)
			if err != nil {
				return err
			}
			for _, e := range entries {
				fused[i] = append(fused[i], fmt.Sprintf("%s %s %.9f %v %v", e.record, e.id, e.score, e.also, len(e.facts)))
			}
		}
		return nil
	})
	return fused, ended, links, err
}
