package app

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// consolidation gives the settings of consolidation with the models there are.
func (p *process) consolidation() consolidate.Config {
	out := p.config.consolidate(p.embedder)
	out.Decide = p.models.Language(memory.StageDecide) != nil
	out.Summarise = p.models.Language(memory.StageSummarise) != nil
	out.Observe = p.models.Language(memory.StageObserve) != nil
	if p.config.SummariseMin > 0 {
		out.SummariseMin = p.config.SummariseMin
	}
	return out
}

// asking gives the numbers of what asks them.
func (c Config) asking() llm.Config {
	out := llm.DefaultConfig()
	out.TokensPerDay = int64(c.TokenBudget)
	if c.ConsolidateBatch > 0 {
		out.DecideBatch, out.SummariseBatch = c.ConsolidateBatch, c.ConsolidateBatch
	}
	if c.ConsolidateAfter > 0 {
		out.DecideAfter, out.SummariseAfter = c.ConsolidateAfter, 12*c.ConsolidateAfter
	}
	return out
}

// asker gives what asks language models beside the active consolidator; nil
// where none is configured.
func (p *process) asker(st store.Store, redact consolidate.Redactor) (func(context.Context) error, error) {
	deps := llm.Deps{
		Store: st, Log: p.conn, Stream: p.conn.Naming.Writes(), Redactor: redact, Embedder: p.embedder, Logger: p.log, Tracer: p.conn.Tracer,
		Decide: p.models.Language(memory.StageDecide), Summarise: p.models.Language(memory.StageSummarise), Observe: p.models.Language(memory.StageObserve),
	}
	if deps.Decide == nil && deps.Summarise == nil && deps.Observe == nil {
		return nil, nil
	}
	w, err := llm.New(p.config.asking(), deps)
	if err != nil {
		return nil, err
	}
	return w.Run, p.metrics.Register(w.Metrics())
}
