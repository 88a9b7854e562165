package query

import (
	"context"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// HopDecay is what one hop leaves of an activation.
const HopDecay = .5

// RelationWeights are how much of an activation each type of relation carries.
// Relations carry it both ways.
var RelationWeights = map[memory.RelationType]float64{
	memory.RelImplies: 1, memory.RelCauses: .9, memory.RelSpecializes: .8, memory.RelGeneralizes: .8, memory.RelPartOf: .7,
	memory.RelContextOf: .7, memory.RelRelatedTo: .6, memory.RelCorrelates: .6, memory.RelContradicts: .5, memory.RelSupersedes: .3,
}

// Spread carries activation from seeds along relations, hops times:
//
//	a(v) = max over edges u–v of a(u) × strength × RelationWeights[type] × HopDecay
//
// where a(u) is u's activation after the hop before. Activations merge by the
// maximum, so a cycle adds nothing. edges is asked once a hop for the relations
// of the nodes that hop starts from, sorted. The result holds the seeds too.
func Spread(seeds map[string]float64, hops int, edges func(from []string) ([]memory.Relation, error)) (map[string]float64, error) {
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
			a := all[from] * min(1, max(0, r.Strength)) * RelationWeights[r.Type] * HopDecay
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

// The bounds of spreading: from how many of the best facts, over how many
// relations a hop, and up to how many facts an entity still tells something.
const (
	spreadSeeds = 12
	spreadEdges = 200
	spreadHub   = 30
)

// graph carries activation from the best facts to facts that hang together
// with them: by relations, by an entity they share, by their composite.
func (g *gatherer) graph(context.Context) error {
	if _, err := g.readFound(); err != nil {
		return err
	}
	best := marks{}
	for _, name := range []string{memory.StrategyKeyword, memory.StrategySemantic, memory.StrategyEntity} {
		for no, score := range g.pool.of(memory.RecordFact, name) {
			best.set(no, score)
		}
	}
	seeds := map[string]float64{}
	for _, no := range best.best(spreadSeeds) {
		seeds[string(g.facts[no].ID)] = best[no]
	}
	for _, e := range g.q.entities {
		seeds[string(e)] = 1
	}
	reached, err := Spread(seeds, 2, g.edges)
	if err != nil {
		return err
	}
	var ids []memory.FactID
	for id := range reached {
		if _, seed := seeds[id]; !seed && len(id) > 2 && id[:2] == "f_" {
			ids = append(ids, memory.FactID(id))
		}
	}
	slices.Sort(ids)
	nos, err := g.s.FactNumbers(ids)
	if err != nil {
		return err
	}
	err = g.readFacts(nos)
	into := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	for _, f := range known(nos, g.facts) {
		into.set(f.No, reached[string(f.ID)])
	}
	return err
}

// edges gives the stored relations of nodes and the ones that sharing an
// entity or a composite makes.
func (g *gatherer) edges(from []string) ([]memory.Relation, error) {
	out, err := g.s.Relations(from, spreadEdges)
	if err != nil {
		return nil, err
	}
	var facts []memory.FactID
	for _, id := range from {
		if len(id) > 2 && id[:2] == "f_" {
			facts = append(facts, memory.FactID(id))
		}
	}
	nos, err := g.s.FactNumbers(facts)
	if err != nil {
		return nil, err
	}
	if err := g.readFacts(nos); err != nil {
		return nil, err
	}
	rows := known(nos, g.facts)
	rows = rows[:min(len(rows), spreadSeeds)]
	shared, err := g.sharing(rows)
	if err != nil {
		return nil, err
	}
	for _, f := range rows {
		for _, e := range f.Entities {
			for _, o := range shared[e] {
				if o.No != f.No {
					out = append(out, memory.Relation{From: string(f.ID), To: string(o.ID), Type: memory.RelRelatedTo, Strength: 1 / math.Sqrt(float64(len(shared[e])))})
				}
			}
		}
	}
	return out, nil
}

// sharing gives the facts that name each entity of some facts; none of one that
// more than spreadHub facts name.
func (g *gatherer) sharing(facts []FactRow) (map[memory.EntityID][]FactRow, error) {
	var entities []memory.EntityID
	for _, f := range facts {
		entities = append(entities, f.Entities...)
	}
	slices.Sort(entities)
	naming, err := g.s.NamingEach(slices.Compact(entities), spreadHub+1)
	if err != nil {
		return nil, err
	}
	var all []int64
	for e, nos := range naming {
		if len(nos) > spreadHub {
			delete(naming, e)
			continue
		}
		all = append(all, nos...)
	}
	slices.Sort(all)
	if err := g.readFacts(slices.Compact(all)); err != nil {
		return nil, err
	}
	out := make(map[memory.EntityID][]FactRow, len(naming))
	for e, nos := range naming {
		out[e] = known(nos, g.facts)
	}
	return out, nil
}

// tree brings the leaves of composites that matched, so that a composite never
// stands without them: half of what the composite scored, part_of one hop.
func (g *gatherer) tree(context.Context) error {
	matched := g.pool.of(memory.RecordComposite, memory.StrategyKeyword)
	best := matched.best(5)
	if err := g.readComposites(best); err != nil {
		return err
	}
	into := g.pool.of(memory.RecordFact, memory.StrategyGraph)
	for _, c := range known(best, g.composites) {
		for _, leaf := range c.Leaves[:min(len(c.Leaves), 16)] {
			into.set(leaf, matched[c.No]*RelationWeights[memory.RelPartOf]*HopDecay)
		}
	}
	return nil
}
