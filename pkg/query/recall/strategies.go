package recall

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// semantic finds facts by the similarity of their vectors.
func (g *gatherer) semantic(ctx context.Context) error {
	near, err := g.s.Nearest(ctx, g.req.vector, g.cfg.Facts, g.req.exact)
	g.keepSimilarities(memory.RecordFact, near)
	return err
}

// semanticMessages finds messages by the similarity of their vectors, where they have any.
func (g *gatherer) semanticMessages(ctx context.Context) error {
	near, err := g.s.NearestMessages(ctx, g.req.vector, g.cfg.Messages, g.req.exact)
	g.keepSimilarities(memory.RecordMessage, near)
	return err
}

// compareFacts adds the similarity of facts that other strategies found. Otherwise a candidate would score higher only
// because it was among the nearest.
func (g *gatherer) compareFacts(ctx context.Context) error {
	return g.compare(ctx, memory.RecordFact, g.pool.rows(memory.RecordFact))
}

// compareMessages does the same for messages, those that are being ranked among them.
func (g *gatherer) compareMessages(ctx context.Context) error {
	return g.compare(ctx, memory.RecordMessage, g.foundMessages())
}

func (g *gatherer) compare(ctx context.Context, r memory.Record, nos []int64) error {
	near, err := g.s.Compare(ctx, r, g.req.vector, absent(nos, g.pool.of(r, memory.StrategySemantic)))
	g.keepSimilarities(r, near)
	return err
}

func (g *gatherer) keepSimilarities(r memory.Record, near []Near) {
	into := g.pool.of(r, memory.StrategySemantic)
	for _, n := range near {
		if n.Cosine > 0 {
			into.raise(n.No, n.Cosine)
		}
	}
}

// entity finds facts that name the entities of the question or of the filter. The score is the share of the question's
// entities that a fact names, each counted by its rarity.
func (g *gatherer) entity(context.Context) error {
	ids := g.question.entities
	if len(g.req.Filter.Entities) > 0 && g.wantsFacts() {
		if err := g.entitiesOfFilter(); err != nil {
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
	sum := scores{}
	for _, e := range ids {
		worth := rarity(len(naming[e]), g.cfg.CommonTerm) / float64(len(ids))
		for _, no := range naming[e] {
			sum[no] += worth
		}
	}
	into := g.pool.of(memory.RecordFact, memory.StrategyEntity)
	for _, no := range sum.best(g.cfg.Facts) {
		into.raise(no, sum[no])
	}
	return nil
}

// entitiesOfFilter finds the latest facts that name an entity of the filter: only these pass the filter.
func (g *gatherer) entitiesOfFilter() error {
	ids, err := g.s.EntitiesNamed(g.req.Filter.Entities)
	if err != nil {
		return err
	}
	for _, name := range g.req.Filter.Entities {
		id, err := memory.ParseEntityID("entities", name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	nos, err := g.s.Naming(ids, g.cfg.Facts)
	into := g.pool.of(memory.RecordFact, memory.StrategyEntity)
	for _, no := range nos {
		into.raise(no, 1)
	}
	return err
}

// rarity is the worth of naming an entity that n facts name: 1 for the only one, falling with the logarithm of n to 0
// at most.
func rarity(n, most int) float64 {
	if n <= 1 {
		return 1
	}
	return max(0, 1-math.Log(float64(n))/math.Log(float64(max(most, 2))))
}

// temporal finds what was said or happened in the time that the filter or else the question speaks of. The question's
// time only raises scores; the filter's has already kept out everything else.
func (g *gatherer) temporal(context.Context) error {
	from, to := g.question.from, g.question.to
	if f := g.req.Filter; f.From != nil || f.To != nil {
		from, to = time.Time{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		if f.From != nil {
			from = *f.From
		}
		if f.To != nil {
			to = *f.To
		}
	} else if from.IsZero() {
		return nil
	}
	return g.findDated(memory.StrategyTemporal, 1, func(r memory.Record) ([]int64, error) { return g.s.Within(r, from, to, g.cfg.Facts) })
}

// latest finds the latest rows for a question without content words, and when recency is the only strategy. The
// strategy recency scores them later.
func (g *gatherer) latest(context.Context) error {
	if len(g.question.lookups) > 0 && !g.req.only(memory.StrategyRecency) || g.req.chosen && !g.req.on(memory.StrategyRecency) {
		return nil
	}
	return g.findDated(memory.StrategyRecency, 0, func(r memory.Record) ([]int64, error) { return g.s.Recent(r, g.cfg.Facts) })
}

// findDated gives a score to the messages and facts that find returns.
func (g *gatherer) findDated(strategy string, score float64, find func(memory.Record) ([]int64, error)) error {
	for _, r := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
		if !g.wants(r) {
			continue
		}
		nos, err := find(r)
		if err != nil {
			return err
		}
		into := g.pool.of(r, strategy)
		for _, no := range nos {
			into.raise(no, score)
		}
	}
	return nil
}

// recency scores every candidate by its age at the request's now: 1 at no age, half of that each half-life.
func (g *gatherer) recency(context.Context) error {
	for r, nos := range g.candidates {
		into := g.pool.of(r, memory.StrategyRecency)
		for _, no := range nos {
			score := 1.0
			if age := g.req.Now.Sub(g.saidAt(r, no)); age > 0 {
				score = math.Exp2(-float64(age) / float64(g.cfg.RecencyHalfLife))
			}
			into.raise(no, score)
		}
	}
	return nil
}

// saidAt is when a candidate that was read was said.
func (g *gatherer) saidAt(r memory.Record, no int64) time.Time {
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

// maxStates bounds the states of a subject that are looked at.
const maxStates = 200

// states raises the facts that state the value a question asks for, of its one subject. They are the answer whatever
// their words are; the one with the most words of the question comes first. best is the score of the best message,
// evidence what facts score by their words and meaning.
func (g *gatherer) states(best float64, evidence, into scores) error {
	if len(g.question.entities) != 1 || !g.req.on(memory.StrategyEntity) || !g.wantsFacts() {
		return nil
	}
	rows, err := g.s.States(g.question.entities[0], maxStates)
	if err != nil || len(rows) == 0 {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Attribute)
	}
	slices.Sort(names)
	names = state.Asked(g.req.Query, slices.Compact(names))
	var nos []int64
	for _, r := range rows {
		if slices.Contains(names, r.Attribute) {
			nos = append(nos, r.Fact)
			top := max(best, stateScore)
			into.raise(r.Fact, top+(1-top)*max(.01, evidence[r.Fact])/10)
			g.pool.of(memory.RecordFact, memory.StrategyEntity).raise(r.Fact, 1)
		}
	}
	return g.readFacts(nos)
}

// stateScore is the least score of a fact that states the value a question asks for: slightly more than the score of a
// text with every word of the question (calibrate).
const stateScore = .9
