package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Deps are what ingest works with.
type Deps struct {
	Conn *events.Conn
	Log  zerolog.Logger
	Now  func() time.Time // nil = time.Now; for idleness and dead letters
	// CountTokens counts the tokens of a text; nil = analysis.CountTokens. A
	// replay needs the same one.
	CountTokens func(string) int
}

// Ingest cuts windows. Any number of processes share the partitions.
type Ingest struct {
	cfg     Config
	deps    Deps
	metrics Metrics
	step    func(string) error // called between the steps of a batch; nil outside tests
}

// New makes an Ingest; nothing runs yet.
func New(cfg Config, deps Deps) (*Ingest, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Conn == nil {
		return nil, errors.New("ingest: no connection to NATS was given")
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.CountTokens == nil {
		deps.CountTokens = analysis.CountTokens
	}
	if cfg.Owner == "" {
		cfg.Owner = uuid.NewString()
	}
	i := &Ingest{cfg: cfg, deps: deps}
	i.metrics.begin(deps.Conn)
	return i, nil
}

// Metrics gives the counters, live.
func (i *Ingest) Metrics() *Metrics { return &i.metrics }

// Run owns its share of the partitions until ctx ends; then it finishes the
// batches it has, gives the partitions back and returns nil.
func (i *Ingest) Run(ctx context.Context) error {
	return i.deps.Conn.Share(ctx, events.ShareConfig{Group: "ingest", Owner: i.cfg.Owner, Parts: events.Partitions}, i.runPartition)
}

func (i *Ingest) runPartition(ctx context.Context, part int) error {
	p := newPartition(i, part)
	i.metrics.Partitions.Add(1)
	defer i.metrics.Partitions.Add(-1)
	defer i.metrics.lag.lost(part)
	err := p.run(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrConflict) {
		p.log.Error().Err(err).Msg("a partition stopped")
	}
	return err
}
