package app

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

// measureWithin bounds how long a start waits for the embedding model's dimension.
const measureWithin = 30 * time.Second

// Models makes the models that the settings name, as every process does. The
// caller closes them.
func Models(c Config, log zerolog.Logger) (*provider.Set, error) {
	return provider.New(c.models(), provider.Deps{Log: log})
}

// useModels gives the process its models. Without an embedding model the
// built-in embedder takes its place.
func (p *process) useModels() error {
	set, err := Models(p.config, p.log)
	if err != nil {
		return err
	}
	p.models, p.embedder = set, memory.Embedder(hashed.New())
	if e := set.Embedder(); e != nil {
		p.embedder = e
	}
	return p.metrics.Register(set.Metrics())
}

// measure asks the embedding model for its dimension, which the store and
// every stage that embeds must know before they begin.
func (p *process) measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureWithin)
	defer cancel()
	if err := p.models.Measure(ctx); err != nil {
		return fmt.Errorf("EUNOE_EMBED: %w; with EUNOE_EMBED_DIM set a start does not need the model", err)
	}
	return nil
}

// embeds reports whether one of the stages needs the embedder.
func embeds(stages []Stage) bool {
	for _, s := range stages {
		if s.name != "ingest" {
			return true
		}
	}
	return false
}
