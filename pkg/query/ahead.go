package query

import (
	"context"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// readAhead is what one line reads for when everything is found, while the other
// still looks: what it was asked of, ascending, and what it gave.
type readAhead struct {
	messages, ended []int64
	facts           []int64
	links           []Link
}

func (g *gatherer) endedAhead(context.Context) (err error) {
	nos := g.foundMessages()
	g.early.ended, err = g.s.Unheld(nos)
	if err == nil {
		g.early.messages = nos
	}
	return err
}

func (g *gatherer) linksAhead(context.Context) (err error) {
	nos := g.pool.numbers(memory.RecordFact)
	g.early.links, err = g.s.Links(nos)
	if err == nil {
		g.early.facts = nos
	}
	return err
}

// ended gives those of some messages whose facts have all ended; both ascend.
func (g *gatherer) ended(messages []int64) ([]int64, error) {
	more, err := g.s.Unheld(without(messages, g.early.messages))
	if err != nil {
		return nil, err
	}
	return without(distinct(g.early.ended, more), without(g.early.messages, messages)), nil
}

// links gives what some facts rest on; they ascend.
func (g *gatherer) links(facts []int64) ([]Link, error) {
	more, err := g.s.Links(without(facts, g.early.facts))
	if err != nil {
		return nil, err
	}
	others := without(g.early.facts, facts)
	early := slices.DeleteFunc(slices.Clone(g.early.links), func(l Link) bool { _, other := slices.BinarySearch(others, l.Fact); return other })
	return append(early, more...), nil
}

// without gives the numbers that are not among those left out, which ascend.
func without(nos, out []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(nos), func(no int64) bool { _, found := slices.BinarySearch(out, no); return found })
}
