package query

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// missing gives the numbers that are not in have.
func missing[V any](nos []int64, have map[int64]V) []int64 {
	var out []int64
	for _, no := range nos {
		if _, ok := have[no]; !ok {
			out = append(out, no)
		}
	}
	return out
}

// known gives what have holds of the numbers, in their order.
func known[V any](nos []int64, have map[int64]V) []V {
	out := make([]V, 0, len(nos))
	for _, no := range nos {
		if v, ok := have[no]; ok {
			out = append(out, v)
		}
	}
	return out
}

// readFacts reads facts by number, each once.
func (g *gatherer) readFacts(nos []int64) error {
	rows, err := g.s.Facts(missing(nos, g.facts))
	for _, f := range rows {
		g.facts[f.No] = f
	}
	return err
}

func (g *gatherer) readMessages(nos []int64) error {
	rows, err := g.s.Messages(missing(nos, g.messages))
	for _, m := range rows {
		g.messages[m.No] = m
	}
	return err
}

// readComposites reads composites by number. One with a leaf that the filter
// excludes is left out, and its other leaves stand for it.
func (g *gatherer) readComposites(nos []int64) error {
	rows, err := g.s.Composites(missing(nos, g.composites))
	for _, c := range rows {
		if c.Whole && len(c.Leaves) > 0 {
			g.composites[c.No] = c
			continue
		}
		for _, leaf := range c.Leaves {
			g.pool.of(memory.RecordFact, memory.StrategyGraph).set(leaf, 0)
		}
	}
	return err
}

func (g *gatherer) readObservations(nos []int64) error {
	rows, err := g.s.Observations(missing(nos, g.observations))
	for _, o := range rows {
		g.observations[o.No] = o
	}
	return err
}

// readFound reads every fact that was found and drops those that the filter excludes.
func (g *gatherer) readFound() error {
	if err := g.readFacts(g.pool.numbers(memory.RecordFact)); err != nil {
		return err // what was not read may pass
	}
	prune(g, memory.RecordFact, g.facts)
	return nil
}

// readAll reads every candidate and drops the ones that the filter excludes.
func (g *gatherer) readAll() error {
	if err := g.readComposites(g.pool.numbers(memory.RecordComposite)); err != nil {
		return err
	}
	if err := g.readObservations(g.pool.numbers(memory.RecordObservation)); err != nil {
		return err
	}
	if err := g.readFound(); err != nil {
		return err
	}
	if err := g.readMessages(g.pool.numbers(memory.RecordMessage)); err != nil {
		return err
	}
	prune(g, memory.RecordComposite, g.composites)
	prune(g, memory.RecordObservation, g.observations)
	prune(g, memory.RecordMessage, g.messages)
	return nil
}

func prune[V any](g *gatherer, r memory.Record, have map[int64]V) {
	for _, m := range g.pool[r] {
		for no := range m {
			if _, ok := have[no]; !ok {
				delete(m, no)
			}
		}
	}
}

// saidOf is when a candidate that was read was said.
func (g *gatherer) saidOf(r memory.Record, no int64) time.Time {
	switch r {
	case memory.RecordFact:
		return g.facts[no].Said
	case memory.RecordComposite:
		return g.composites[no].Said
	case memory.RecordObservation:
		return g.observations[no].Said
	}
	return g.messages[no].Said
}
