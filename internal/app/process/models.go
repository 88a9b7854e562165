package process

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

// measureTimeout bounds how long a start waits for the embedding model's dimension.
const measureTimeout = 30 * time.Second

// Models returns the models that the settings name, as every process makes them. The caller closes them.
func Models(c settings.Config, log zerolog.Logger) (*provider.Set, error) {
	return provider.New(c.Models(), provider.Deps{Log: log})
}

// useModels makes the models of the process. Without an embedding model the built-in embedder takes its place.
func (p *Process) useModels() error {
	set, err := Models(p.Settings, p.Log)
	if err != nil {
		return err
	}
	p.Models, p.Embedder = set, memory.Embedder(hashed.New())
	if e := set.Embedder(); e != nil {
		p.Embedder = e
	}
	return p.Metrics.Register(set.Metrics())
}

// Measure asks the embedding model for its dimension, which the store and every stage that embeds must know before
// they begin.
func (p *Process) Measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	if err := p.Models.Measure(ctx); err != nil {
		return fmt.Errorf("EUNOE_EMBED: %w; with EUNOE_EMBED_DIM set a start does not need the model", err)
	}
	return nil
}
