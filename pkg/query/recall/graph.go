package recall

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// HopDecay is the share of an activation that is left after one hop.
const HopDecay = .5

// relationWeights are the shares of an activation that relations carry, by type. Relations carry it both ways.
var relationWeights = map[memory.RelationType]float64{
	memory.RelImplies: 1, memory.RelCauses: .9, memory.RelSpecializes: .8, memory.RelGeneralizes: .8, memory.RelPartOf: .7,
	memory.RelContextOf: .7, memory.RelRelatedTo: .6, memory.RelCorrelates: .6, memory.RelContradicts: .5, memory.RelSupersedes: .3,
}

// RelationWeight is the share of an activation that a relation of a type carries, from 0 to 1; 0 for an unknown type.
func RelationWeight(t memory.RelationType) float64 { return relationWeights[t] }

// SpreadActivation carries activation from seeds along relations, hops times:
//
//	a(v) = max over edges u–v of a(u) × strength × RelationWeight(type) × HopDecay
//
// where a(u) is u's activation after the hop before. Activations merge by the maximum, so a cycle adds nothing. edges
// is asked once a hop for the relations of the nodes that the hop starts from, sorted. The result holds the seeds too.
func SpreadActivation(seeds map[string]float64, hops int, edges func(from []string) ([]memory.Relation, error)) (map[string]float64, error) {
	all := make(map[string]float64, len(seeds))
	front := make([]string, 0, len(seeds))
	for id, a := range seeds {
		all[id] = a
		front = append(front, id)
	}
	for range hops {
		if len(front) == 0 {
			break
		}
		slices.Sort(front)
		relations, err := edges(front)
		if err != nil {
			return nil, err
		}
		reached := map[string]float64{}
		carry := func(from, to string, r memory.Relation) {
			if !slices.Contains(front, from) || from == to {
				return
			}
			a := all[from] * min(1, max(0, r.Strength)) * relationWeights[r.Type] * HopDecay
			if a > all[to] && a > reached[to] {
				reached[to] = a
			}
		}
		for _, r := range relations {
			carry(r.From, r.To, r)
			carry(r.To, r.From, r)
		}
		front = front[:0]
		for id, a := range reached {
			all[id] = a
			front = append(front, id)
		}
	}
	return all, nil
}

const (
	graphSeeds = 12  // how many of the best facts activation starts from
	graphEdges = 200 // relations that are followed in one hop
	graphHub   = 30  // an entity that more facts name relates none of them
)

// graph spreads activation from the best facts to related facts: by relations, by a shared entity, by their composite.
func (g *gatherer) graph(context.Context) error {
	if _, err := g.readFoundFacts(); err != nil {
		return err
	}
	best := scores{}
	for _, name := range []string{memory.StrategyKeyword, memory.StrategySemantic, memory.StrategyEntity} {
		for no, score := range g.pool.of(memory.RecordFact, name) {
			best.raise(no, score)
		}
	}
	seeds := map[string]float64{}
	for _, no := range best.best(graphSeeds) {
		seeds[string(g.facts[no].ID)] = best[no]
	}
	for _, e := range g.question.entities {
		seeds[string(e)] = 1
	}
	reached, err := SpreadActivation(seeds, 2, g.relations)
	if err != nil {
		return err
	}
	var ids []string
	for id := range reached {
		if _, seed := seeds[id]; !seed {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	nos, err := g.numbersOf(factIDs(ids))
	if err != nil {
		return err
	}
	err = g.readFacts(nos)
	into := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	for _, f := range present(nos, g.facts) {
		into.raise(f.No, reached[string(f.ID)])
	}
	return err
}

// factIDs returns those of some ids that are facts', in their order.
func factIDs(ids []string) []memory.FactID {
	var out []memory.FactID
	for _, id := range ids {
		if strings.HasPrefix(id, "f_") && len(id) > 2 {
			out = append(out, memory.FactID(id))
		}
	}
	return out
}

// relations returns the stored relations of nodes, and one for each two facts that share an entity.
func (g *gatherer) relations(from []string) ([]memory.Relation, error) {
	var out []memory.Relation
	var facts []FactRow
	var shared map[memory.EntityID][]FactRow
	err := g.together(
		func(g *gatherer) (err error) {
			out, err = g.s.Relations(from, graphEdges)
			return err
		},
		func(g *gatherer) error {
			nos, err := g.numbersOf(factIDs(from))
			if err == nil {
				err = g.readFacts(nos)
			}
			if err != nil {
				return err
			}
			facts = present(nos, g.facts)
			facts = facts[:min(len(facts), graphSeeds)]
			shared, err = g.factsSharing(facts)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		for _, e := range f.Entities {
			for _, other := range shared[e] {
				if other.No != f.No {
					out = append(out, memory.Relation{From: string(f.ID), To: string(other.ID), Type: memory.RelRelatedTo,
						Strength: 1 / math.Sqrt(float64(len(shared[e])))})
				}
			}
		}
	}
	return out, nil
}

// numbersOf returns the numbers of facts by id that the filter lets through, ascending. It asks for those alone that were
// not read.
func (g *gatherer) numbersOf(ids []memory.FactID) ([]int64, error) {
	known := make(map[memory.FactID]int64, len(g.facts))
	for no, f := range g.facts {
		known[f.ID] = no
	}
	var nos []int64
	var unknown []memory.FactID
	for _, id := range ids {
		if no, ok := known[id]; ok {
			nos = append(nos, no)
		} else {
			unknown = append(unknown, id)
		}
	}
	more, err := g.s.FactNumbers(unknown)
	return distinct(nos, more), err
}

// factsSharing returns the facts that name each entity of some facts, unless more than graphHub facts name it.
func (g *gatherer) factsSharing(facts []FactRow) (map[memory.EntityID][]FactRow, error) {
	var entities []memory.EntityID
	for _, f := range facts {
		entities = append(entities, f.Entities...)
	}
	slices.Sort(entities)
	naming, err := g.s.NamingEach(slices.Compact(entities), graphHub+1)
	if err != nil {
		return nil, err
	}
	var all []int64
	for e, nos := range naming {
		if len(nos) > graphHub {
			delete(naming, e)
			continue
		}
		all = append(all, nos...)
	}
	if err := g.readFacts(distinct(all)); err != nil {
		return nil, err
	}
	out := make(map[memory.EntityID][]FactRow, len(naming))
	for e, nos := range naming {
		out[e] = present(nos, g.facts)
	}
	return out, nil
}

// tree adds the leaves of composites that matched, so that a composite is never returned without them. Their score is
// that of one hop along the relation part_of.
func (g *gatherer) tree(context.Context) error {
	matched := g.pool.of(memory.RecordComposite, memory.StrategyKeyword)
	best := matched.best(5)
	if err := g.readComposites(best); err != nil {
		return err
	}
	into := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	for _, c := range present(best, g.composites) {
		for _, leaf := range c.Leaves[:min(len(c.Leaves), 16)] {
			into.raise(leaf, matched[c.No]*relationWeights[memory.RelPartOf]*HopDecay)
		}
	}
	return nil
}
