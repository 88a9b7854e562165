// Package extractor puts the extraction stage together from its settings. It links neither a store nor cgo.
package extractor

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// rulesConcurrency is how many windows the rules work on at a time. Their ends are appended in order, and ends that are
// ready together are written to disk together.
const rulesConcurrency = 32

// knownEntities is how many of a bank's entities are offered to a language model.
const knownEntities = 500

// Stage turns windows into facts.
func Stage() process.Stage {
	return process.Stage{Name: "extractor", Does: "turns windows into facts", Embeds: true, Build: build}
}

// How many windows a process holds so that one bank with many does not keep another's waiting. They name messages and hold
// no text: some 20 kB each at most, and 1 kB as the rules have them cut. Those beyond wait in the order of the queue.
const (
	windowsAhead      = 256   // with a language model, where other processes can help
	rulesWindowsAhead = 32768 // by rules: 32 MB
)

func build(p *process.Process) (process.Runner, error) {
	redact, err := secret.NewRedactor(p.Settings.Redact)
	if err != nil {
		return process.Runner{}, err
	}
	budget, err := newBudget(p)
	if err != nil {
		return process.Runner{}, err
	}
	deps := extract.Deps{
		Conn: p.Conn, Log: p.Log, Embedder: p.Embedder, Extractor: rules.New(), Redactor: redact, Profile: p.Profile, Budget: budget, Long: p.Long,
	}
	c := config(p.Settings)
	if model := p.Models.Language(memory.StageExtract); model != nil {
		if err := useModel(p, model, &deps); err != nil {
			return process.Runner{}, err
		}
		c.Ahead, deps.Fallback = windowsAhead, rules.New()
	} else if c.Concurrency == 1 {
		// Rules see one window alone, so windows may be worked on at once where their ends keep their order.
		c.InTurn, c.Concurrency, c.Ahead = true, rulesConcurrency, rulesWindowsAhead
	}
	s, err := extract.NewWorker(c, deps)
	if err != nil {
		return process.Runner{}, err
	}
	return process.Runner{Run: s.Run}, p.Metrics.Register(s.Metrics())
}

func config(c settings.Config) extract.Config {
	out := extract.DefaultConfig()
	out.Concurrency, out.MaxAttempts, out.AckWait, out.Grace = c.Extractors, c.MaxAttempts, c.AckWait, c.Grace
	out.Patience = c.ModelPatience
	return out
}

// newBudget bounds the tokens that extraction by a language model takes.
func newBudget(p *process.Process) (*extract.Budget, error) {
	c := extract.DefaultBudgetConfig()
	c.TokensPerDay, c.Metered = int64(p.Settings.TokenBudget), p.Models.Language(memory.StageExtract) != nil
	b, err := extract.NewBudget(c, extract.BudgetDeps{Conn: p.Conn, Log: p.Log, Now: time.Now, Profile: p.Profile})
	if err != nil {
		return nil, err
	}
	return b, p.Metrics.Register(b)
}

// useModel has a language model extract, and tells it the entities of a bank that exist already.
func useModel(p *process.Process, model memory.LanguageModel, deps *extract.Deps) error {
	c := llm.DefaultConfig()
	c.Novelty, c.Batch, c.Rate = p.Settings.Novelty, p.Settings.Topics, p.Settings.Compress
	c.Timeout = max(c.Timeout, p.Settings.ModelTimeout)
	x, err := llm.New(c, llm.Deps{Model: model, Embedder: p.Embedder})
	if err != nil {
		return err
	}
	cfg := client.DefaultConfig()
	cfg.Prefix = p.Settings.Prefix
	queries, err := client.New(cfg, client.Deps{Conn: p.Conn})
	if err != nil {
		return err
	}
	deps.Extractor = x
	deps.Entities = func(ctx context.Context, bank memory.BankID) ([]memory.Entity, error) {
		page, err := queries.Entities(ctx, bank, wire.EntitiesRequest{Limit: knownEntities})
		return page.Items, err
	}
	return nil
}
