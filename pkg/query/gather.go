package query

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
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
	found        map[memory.Record]postings
	terms        map[memory.Record]map[int64]uint64 // which terms of the question a row has
	messages     map[int64]MessageRow
	facts        map[int64]FactRow
	composites   map[int64]CompositeRow
	observations map[int64]ObservationRow
}

func newGatherer(cfg RecallConfig, a ask, q question, s Searcher) *gatherer {
	return &gatherer{cfg: cfg, a: a, q: q, s: s, weights: cfg.Ranking, pool: pool{}, size: map[memory.Record]int{}, found: map[memory.Record]postings{},
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
	semantic := a.on(memory.StrategySemantic) && len(a.vector) > 0
	if semantic && g.inTime(ctx) == nil {
		if err := g.expect(); err != nil {
			return fmt.Errorf("recall by vectors: %w", err)
		}
	}
	for _, st := range []step{
		{"keyword over facts", keyword && g.wantsFacts(), func(context.Context) error { return g.keywordTexts(memory.RecordFact, g.cfg.Facts) }},
		{"words of messages", keyword && g.wants(memory.RecordMessage), func(context.Context) error { return g.lookUp(memory.RecordMessage) }},
		{"semantic", semantic && g.wantsFacts(), g.semantic},
		{"semantic over messages", semantic && g.wants(memory.RecordMessage), g.semanticMessages},
		{"keyword over messages", keyword && g.wants(memory.RecordMessage), func(context.Context) error { return g.keywordMessages(a.on(memory.StrategyGraph)) }},
		{"entity", a.on(memory.StrategyEntity), g.entity},
		{"temporal", a.on(memory.StrategyTemporal), g.temporal},
		{"keyword over composites", keyword && g.wants(memory.RecordComposite), func(context.Context) error { return g.keywordTexts(memory.RecordComposite, g.cfg.Nodes) }},
		{"keyword over observations", keyword && g.wants(memory.RecordObservation), func(context.Context) error { return g.keywordTexts(memory.RecordObservation, g.cfg.Nodes) }},
		{"latest", true, g.latest},
		{"graph", a.on(memory.StrategyGraph) && g.wantsFacts(), g.graph},
		{"tree", g.wants(memory.RecordComposite), g.tree},
		{"semantic over what else was found", semantic, g.compare},
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
		inner, span := telemetry.Start(inner, st.name)
		err := st.run(inner)
		span.End(err)
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
