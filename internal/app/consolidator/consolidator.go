// Package consolidator puts the consolidation stage together from its settings.
package consolidator

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// Stage applies the log to the store, as its only writer.
func Stage() process.Stage {
	return process.Stage{Name: "consolidator", Does: "folds the log into the store", Embeds: true, Build: func(p *process.Process) (process.Runner, error) {
		st, err := storage.Open(p)
		if err != nil {
			return process.Runner{}, err
		}
		redact, err := secret.NewRedactor(p.Settings.Redact)
		if err != nil {
			return process.Runner{}, err
		}
		owner := uuid.NewString()
		var all []*consolidate.Consolidator
		for _, part := range st.Parts {
			c, err := newConsolidator(p, part, redact, owner)
			if err != nil {
				return process.Runner{}, err
			}
			all = append(all, c)
		}
		return process.Runner{Run: func(ctx context.Context) error { return consolidate.RunShards(ctx, all) }}, nil
	}}
}

// newConsolidator returns the consolidator of a shard. The owner is the process.
func newConsolidator(p *process.Process, part storage.Part, redact *secret.Redactor, owner string) (*consolidate.Consolidator, error) {
	var metrics prometheus.Registerer = p.Metrics
	if !part.Shard.Alone() {
		metrics = prometheus.WrapRegistererWith(prometheus.Labels{"shard": part.Shard.String()}, metrics)
	}
	models, err := newModels(p, part.Store, redact, metrics)
	if err != nil {
		return nil, err
	}
	live := newLiveRebuild(p, part, redact, owner)
	c, err := consolidate.New(Config(p), consolidate.Deps{
		Conn: p.Conn, Log: p.Log, Now: time.Now, Store: part.Store, Shard: part.Shard, Redactor: redact, Embedder: p.Embedder, Long: p.Long, Owner: owner,
		Admit: live.begin, WhileActive: models, Replacing: live.run, Profile: storage.Profile(part.Store),
	})
	if err != nil {
		return nil, err
	}
	return c, metrics.Register(c.Metrics())
}

// Config returns the configuration of consolidation with the models that the process has.
func Config(p *process.Process) consolidate.Config {
	out := consolidate.DefaultConfig()
	out.Config, out.Batch = storage.Planning(p), p.Settings.Batch
	return out
}

// batchFactor is how many times as many events a rebuild commits at once as a live consolidator: no reader waits for them.
const batchFactor = 5

// RebuildConfig returns the configuration of consolidation for a store that nobody uses yet.
func RebuildConfig(p *process.Process) consolidate.Config {
	out := Config(p)
	out.Batch = min(out.Batch*batchFactor, 10_000)
	return out
}

// modelConfig returns how often language models are asked.
func modelConfig(c settings.Config) llm.Config {
	out := llm.DefaultConfig()
	out.TokensPerDay = int64(c.TokenBudget)
	out.DecideBatch, out.SummariseBatch = c.ConsolidateBatch, c.ConsolidateBatch
	out.DecideAfter, out.SummariseAfter = c.ConsolidateAfter, 12*c.ConsolidateAfter
	return out
}

// newModels returns the loop that asks language models while this consolidator is active; it returns at once where none
// is configured.
func newModels(p *process.Process, st store.Store, redact consolidate.Redactor, metrics prometheus.Registerer) (func(context.Context) error, error) {
	deps := llm.Deps{
		Store: st, Log: p.Conn, Stream: p.Conn.Naming.Writes(), Redactor: redact, Embedder: p.Embedder, Logger: p.Log, Tracer: p.Conn.Tracer,
		Decide: p.Models.Language(memory.StageDecide), Summarise: p.Models.Language(memory.StageSummarise), Observe: p.Models.Language(memory.StageObserve),
	}
	if deps.Decide == nil && deps.Summarise == nil && deps.Observe == nil {
		return func(context.Context) error { return nil }, nil
	}
	w, err := llm.New(modelConfig(p.Settings), deps)
	if err != nil {
		return nil, err
	}
	return w.Run, metrics.Register(w.Metrics())
}
