package query

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// semantic finds facts by the similarity of their vectors.
func (g *gatherer) semantic(ctx context.Context) error {
	near, err := g.s.Nearest(ctx, g.a.vector, g.cfg.Facts, g.a.exact)
	g.near(memory.RecordFact, near)
	return err
}

// semanticMessages finds messages by the similarity of theirs, where they have any.
func (g *gatherer) semanticMessages(ctx context.Context) error {
	near, err := g.s.NearestMessages(ctx, g.a.vector, g.cfg.Messages, g.a.exact)
	g.near(memory.RecordMessage, near)
	return err
}

// compareFacts gives what the other strategies found its similarity too, so that of
// two candidates none is worth more because only one was among the nearest.
func (g *gatherer) compareFacts(ctx context.Context) error {
	return g.compare(ctx, memory.RecordFact, g.pool.numbers(memory.RecordFact))
}

// compareMessages does the same for messages, those that are ranked meanwhile among them.
func (g *gatherer) compareMessages(ctx context.Context) error {
	return g.compare(ctx, memory.RecordMessage, g.foundMessages())
}

// foundMessages gives the messages that have or will have marks. It does not touch
// the marks of words, which the other line sets.
func (g *gatherer) foundMessages() []int64 {
	ranked := make([]int64, len(g.talk.candidates))
	for i, c := range g.talk.candidates {
		ranked[i] = int64(c.Seq)
	}
	return distinct(ranked, g.pool.numbers(memory.RecordMessage, memory.StrategyKeyword))
}

func (g *gatherer) compare(ctx context.Context, r memory.Record, nos []int64) error {
	near, err := g.s.Compare(ctx, r, g.a.vector, missing(nos, g.pool.of(r, memory.StrategySemantic)))
	g.near(r, near)
	return err
}

func (g *gatherer) near(r memory.Record, near []Near) {
	into := g.pool.of(r, memory.StrategySemantic)
	for _, n := range near {
		if n.Cosine > 0 {
			into.set(n.No, n.Cosine)
		}
	}
}
