package app

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// offered is how many of a bank's entities extraction may choose from.
const offered = 500

// extraction gives what extracts, by the model of the stage or else by rules,
// and how it learns a bank's entities, nil where it does not.
func (p *process) extraction() (extract.Extractor, func(context.Context, memory.BankID) ([]memory.Entity, error), error) {
	model := p.models.Language(memory.StageExtract)
	if model == nil {
		return rules.New(), nil, nil
	}
	c := llm.DefaultConfig()
	c.Novelty, c.Batch, c.Rate = p.config.Novelty, p.config.Topics, p.config.Compress
	c.Timeout = max(c.Timeout, p.config.ModelTimeout)
	x, err := llm.New(c, llm.Deps{Model: model, Embedder: p.embedder})
	if err != nil {
		return nil, nil, err
	}
	settings := client.DefaultConfig()
	settings.Prefix = p.config.Prefix
	asking, err := client.New(settings, client.Deps{Conn: p.conn})
	if err != nil {
		return nil, nil, err
	}
	return x, func(ctx context.Context, bank memory.BankID) ([]memory.Entity, error) {
		page, err := asking.Entities(ctx, bank, memory.EntitiesRequest{Limit: offered})
		return page.Items, err
	}, nil
}
