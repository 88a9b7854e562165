package query

import (
	"context"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entity finds facts that name the entities the question or the filter names:
// the score is the share of them a fact names, each counted by its rarity.
func (g *gatherer) entity(context.Context) error {
	ids := g.q.entities
	if len(g.a.filter.Entities) > 0 && g.wantsFacts() {
		if err := g.filtered(); err != nil {
			return err
		}
	}
	if len(ids) == 0 || !g.wantsFacts() {
		return nil
	}
	naming, err := g.s.NamingEach(ids, g.cfg.CommonTerm)
	if err != nil {
		return err
	}
	sum := marks{}
	for _, e := range ids {
		nos := naming[e]
		worth := rarity(len(nos), g.cfg.CommonTerm)
		for _, no := range nos {
			sum[no] += worth / float64(len(ids))
		}
	}
	into := g.pool.of(memory.RecordFact, memory.StrategyEntity)
	for _, no := range sum.best(g.cfg.Facts) {
		into.set(no, sum[no])
	}
	return nil
}

// filtered brings the latest facts that name an entity of the filter: the
// filter lets nothing else through.
func (g *gatherer) filtered() error {
	ids, err := g.s.EntitiesNamed(g.a.filter.Entities)
	if err != nil {
		return err
	}
	for _, name := range g.a.filter.Entities {
		id, err := memory.ParseEntityID("entities", name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	nos, err := g.s.Naming(ids, g.cfg.Facts)
	into := g.pool.of(memory.RecordFact, memory.StrategyEntity)
	for _, no := range nos {
		into.set(no, 1)
	}
	return err
}

// rarity is what naming an entity tells that n facts name: 1 for the only one,
// falling with the logarithm of n to 0 at most.
func rarity(n, most int) float64 {
	if n <= 1 {
		return 1
	}
	return max(0, 1-math.Log(float64(n))/math.Log(float64(max(most, 2))))
}
