package storage

import (
	"context"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Planning returns by what writes are planned, with the models that the process has.
func Planning(p *process.Process) plan.Config {
	c, out := p.Settings, plan.DefaultConfig()
	out.Thresholds, out.Model, out.Dimension = p.Embedder.Thresholds(), p.Embedder.Name(), p.Embedder.Dimension()
	out.Decide = p.Models.Language(memory.StageDecide) != nil
	out.Summarise = p.Models.Language(memory.StageSummarise) != nil
	out.Observe = p.Models.Language(memory.StageObserve) != nil
	out.SummariseMin = c.SummariseMin
	return out
}

// Preview returns a function that says what a write would change, by the store and the plan of the consolidator, and
// changes nothing.
func Preview(p *process.Process, st store.Whole) func(context.Context, memory.Write) (memory.Changes, error) {
	cfg := Planning(p)
	return func(ctx context.Context, w memory.Write) (memory.Changes, error) {
		return st.Preview(ctx, w, func(v plan.View, w memory.Write) (memory.Changes, error) { return plan.Plan(v, w, cfg) })
	}
}
