package query

import (
	"slices"
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

// readFound reads every fact that was found, drops those that the filter excludes,
// and gives the others.
func (g *gatherer) readFound() ([]int64, error) {
	nos := g.pool.numbers(memory.RecordFact)
	if err := g.readFacts(nos); err != nil {
		return nil, err // what was not read may pass
	}
	return admitted(g, memory.RecordFact, nos, g.facts), nil
}

// settle reads every candidate, drops the ones that the filter excludes, and
// remembers the others.
func (g *gatherer) settle() error {
	composites, observations := g.pool.numbers(memory.RecordComposite), g.pool.numbers(memory.RecordObservation)
	if err := g.readComposites(composites); err != nil {
		return err
	}
	if err := g.readObservations(observations); err != nil {
		return err
	}
	facts, err := g.readFound()
	if err != nil {
		return err
	}
	messages := g.pool.numbers(memory.RecordMessage)
	if err := g.readMessages(messages); err != nil {
		return err
	}
	g.settled = map[memory.Record][]int64{
		memory.RecordMessage: admitted(g, memory.RecordMessage, messages, g.messages), memory.RecordFact: facts,
		memory.RecordComposite:   admitted(g, memory.RecordComposite, composites, g.composites),
		memory.RecordObservation: admitted(g, memory.RecordObservation, observations, g.observations),
	}
	return nil
}

// admitted gives the numbers of rows that were read, and drops the marks of the others.
func admitted[V any](g *gatherer, r memory.Record, nos []int64, have map[int64]V) []int64 {
	for _, no := range missing(nos, have) {
		for _, m := range g.pool[r] {
			delete(m, no)
		}
	}
	return slices.DeleteFunc(nos, func(no int64) bool { _, ok := have[no]; return !ok })
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
