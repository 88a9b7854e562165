package query

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// gatherer finds candidates for one recall in one state of a bank.
type gatherer struct {
	cfg      RecallConfig
	a        ask
	q        question
	s        Searcher
	weights  rank.Weights
	deadline time.Time // zero = none
	degraded []string

	pool         pool
	size         map[memory.Record]int
	terms        map[memory.Record]map[int64]uint64 // which terms of the question a row has
	messages     map[int64]MessageRow
	facts        map[int64]FactRow
	composites   map[int64]CompositeRow
	observations map[int64]ObservationRow
}

func newGatherer(cfg RecallConfig, a ask, q question, s Searcher) *gatherer {
	return &gatherer{cfg: cfg, a: a, q: q, s: s, weights: rank.DefaultWeights(), pool: pool{}, size: map[memory.Record]int{},
		terms: map[memory.Record]map[int64]uint64{}, messages: map[int64]MessageRow{}, facts: map[int64]FactRow{},
		composites: map[int64]CompositeRow{}, observations: map[int64]ObservationRow{}}
}

func (g *gatherer) has(r memory.Record) map[int64]uint64 {
	if g.terms[r] == nil {
		g.terms[r] = map[int64]uint64{}
	}
	return g.terms[r]
}

// wants reports whether rows of a record are asked for.
func (g *gatherer) wants(r memory.Record) bool { return g.a.records[r] }

// step is one strategy's work on the store.
type step struct {
	name string
	on   bool
	run  func(context.Context) error
}

// gather runs every strategy that has weight, the most telling first. When the
// deadline passes, the strategies that did not run are named in degraded.
func (g *gatherer) gather(ctx context.Context) error {
	a, late := g.a, []string(nil)
	keyword := a.on(memory.StrategyKeyword) && len(g.q.terms) > 0
	for _, st := range []step{
		{"keyword over facts", keyword && g.wantsFacts(), func(context.Context) error { return g.keywordTexts(memory.RecordFact, g.cfg.Facts) }},
		{"keyword over messages", keyword && g.wants(memory.RecordMessage), func(context.Context) error { return g.keywordMessages(a.on(memory.StrategyGraph)) }},
		{"entity", a.on(memory.StrategyEntity), g.entity},
		{"temporal", a.on(memory.StrategyTemporal), g.temporal},
		{"keyword over composites", keyword && g.wants(memory.RecordComposite), func(context.Context) error { return g.keywordTexts(memory.RecordComposite, g.cfg.Nodes) }},
		{"keyword over observations", keyword && g.wants(memory.RecordObservation), func(context.Context) error { return g.keywordTexts(memory.RecordObservation, g.cfg.Nodes) }},
		{"semantic", a.on(memory.StrategySemantic) && len(a.vector) > 0 && g.wantsFacts(), g.semantic},
		{"latest", true, g.latest},
		{"graph", a.on(memory.StrategyGraph) && g.wantsFacts(), g.graph},
		{"tree", g.wants(memory.RecordComposite), g.tree},
		{"recency", a.on(memory.StrategyRecency), g.recency},
	} {
		if !st.on {
			continue
		}
		if err := g.inTime(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			late = append(late, st.name)
			continue
		}
		inner, cancel := g.within(ctx)
		err := st.run(inner)
		expired := inner.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && expired {
			late = append(late, st.name)
			continue
		}
		if err != nil {
			return fmt.Errorf("recall by %s: %w", st.name, err)
		}
	}
	for _, name := range late {
		g.degraded = append(g.degraded, "deadline: "+name+" left out")
	}
	return nil
}

func (g *gatherer) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, g.deadline)
}

func (g *gatherer) inTime(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.deadline.IsZero() && !time.Now().Before(g.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// wantsFacts reports whether facts are looked for: for themselves or because
// they support the messages and composites they belong to.
func (g *gatherer) wantsFacts() bool {
	return g.wants(memory.RecordFact) || g.wants(memory.RecordComposite)
}

// semantic finds facts by the similarity of their vectors.
func (g *gatherer) semantic(ctx context.Context) error {
	near, err := g.s.Nearest(ctx, g.a.vector, g.cfg.Facts)
	if err != nil {
		return err
	}
	into := g.pool.of(memory.RecordFact, memory.StrategySemantic)
	for _, n := range near {
		if n.Cosine > 0 {
			into.set(n.No, n.Cosine)
		}
	}
	return nil
}

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
	sum := marks{}
	for _, e := range ids {
		nos, err := g.s.Naming([]memory.EntityID{e}, g.cfg.CommonTerm)
		if err != nil {
			return err
		}
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
	if err := g.readAll(); err != nil {
		return err
	}
	for _, r := range memory.Records {
		for _, no := range g.pool.numbers(r) {
			g.pool.of(r, memory.StrategyRecency).set(no, halved(g.a.now.Sub(g.saidOf(r, no)), g.cfg.RecencyHalfLife))
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
