package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// RunOnBoth runs two steps at the same time, and after them one on each connection that waits for the step of the
// other.
func RunOnBoth(ctx context.Context, first, second func() error) error {
	run := func(fn func() error) func(*gatherer, context.Context) error {
		return func(*gatherer, context.Context) error { return fn() }
	}
	nothing := run(func() error { return nil })
	g := &gatherer{}
	_, err := g.runBoth(ctx, &gatherer{}, []step{
		{name: "first", on: true, run: run(first)}, {name: "second", on: true, run: run(second), second: true},
		{name: "after second", on: true, run: nothing, after: []string{"second"}},
		{name: "after first", on: true, run: nothing, second: true, after: []string{"first"}},
	})
	return err
}

// FusePrefetched returns what a recall fuses its candidates into, a line for each entry: with everything that was
// prefetched, with half of it, with nothing, and with what concerns every row up to all. ended and links count what was
// prefetched. Among the candidates are a message and a fact that no filter lets through.
func (e *Engine) FusePrefetched(ctx context.Context, bank memory.BankID, r wire.RecallRequest, all int64) (fused [4][]string, ended, links int, err error) {
	q, err := e.Parse(r)
	if err != nil {
		return fused, 0, 0, err
	}
	if q, err = e.embed(ctx, q, &Found{}); err != nil {
		return fused, 0, 0, err
	}
	err = e.Store.Search(ctx, bank, q.Filter, func(s Searcher) error {
		g, err := newGatherer(ctx, e.cfg, q, s)
		if err != nil {
			return err
		}
		g.second = nil
		speakers, err := s.Speakers(maxSpeakers)
		if err != nil {
			return err
		}
		if g.question, err = understand(q, s, speakers); err != nil {
			return err
		}
		for _, record := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
			g.pool.of(record, memory.StrategyTemporal).raise(1<<40, 1)
		}
		if err := g.gather(ctx); err != nil {
			return err
		}
		read := *g.prefetched
		ended, links = len(read.ended), len(read.links)
		half := prefetched{messages: read.messages[:len(read.messages)/2], facts: read.facts[:len(read.facts)/2]}
		half.ended = without(read.ended, without(read.ended, half.messages))
		for _, l := range read.links {
			if slices.Contains(half.facts, l.Fact) {
				half.links = append(half.links, l)
			}
		}
		var more prefetched
		for no := range all {
			more.messages, more.facts = append(more.messages, no+1), append(more.facts, no+1)
		}
		if more.ended, err = s.EndedMessages(more.messages); err != nil {
			return err
		}
		if more.links, err = s.Links(more.facts); err != nil {
			return err
		}
		for i, p := range []prefetched{read, half, {}, more} {
			g.prefetched = &p
			entries, err := g.fuse()
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

// WithoutForm returns a query without its words of form.
func WithoutForm(query string) string { return withoutForm(query) }
