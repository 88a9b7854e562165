package query

import (
	"context"
	"math"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// temporal finds what was said or happened in the time the question or the
// filter speaks of. A range in the question boosts; the filter's own range has
// already kept out everything else.
func (g *gatherer) temporal(context.Context) error {
	from, to := g.q.from, g.q.to
	if g.a.filter.From != nil || g.a.filter.To != nil {
		from, to = time.Time{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		if g.a.filter.From != nil {
			from = *g.a.filter.From
		}
		if g.a.filter.To != nil {
			to = *g.a.filter.To
		}
	} else if !g.q.dated() {
		return nil
	}
	for _, r := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		if !g.wants(r) {
			continue
		}
		nos, err := g.s.Within(r, from, to, g.cfg.Facts)
		if err != nil {
			return err
		}
		into := g.pool.of(r, memory.StrategyTemporal)
		for _, no := range nos {
			into.set(no, 1)
		}
	}
	return nil
}

// latest brings the latest rows where nothing else can say what is meant: a
// question without content words, or recency alone asked for.
func (g *gatherer) latest(context.Context) error {
	if len(g.q.terms) > 0 && !g.a.only(memory.StrategyRecency) || g.a.chosen && !g.a.on(memory.StrategyRecency) {
		return nil
	}
	for _, r := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		if !g.wants(r) {
			continue
		}
		nos, err := g.s.Recent(r, g.cfg.Facts)
		if err != nil {
			return err
		}
		into := g.pool.of(r, memory.StrategyRecency)
		for _, no := range nos {
			into.set(no, 0)
		}
	}
	return nil
}

// recency scores every candidate by its age against the request's now.
func (g *gatherer) recency(context.Context) error {
	for r, nos := range g.settled {
		into := g.pool.of(r, memory.StrategyRecency)
		for _, no := range nos {
			into.set(no, halved(g.a.now.Sub(g.saidOf(r, no)), g.cfg.RecencyHalfLife))
		}
	}
	return nil
}

// halved is 1 at age 0 or below, and half of that each half-life.
func halved(age, halfLife time.Duration) float64 {
	if age <= 0 || halfLife <= 0 {
		return 1
	}
	return math.Exp2(-float64(age) / float64(halfLife))
}
