// Package ingest is stage 1: it cuts the messages of each session into windows for the extractor.
//
// Cut is a pure function of a session's state and the next event. Ingest shares the partitions of MEM_MESSAGES among
// processes; the owner of a partition reads it in stream order, publishes the windows that Cut returns and keeps the
// state of the sessions in a bucket.
//
// A batch writes, in this order: decisions that do not follow from the stream (settings, quotas), windows, states of
// sessions, position. Each step can be repeated, so the same windows result after a crash at any point, and with two
// owners at once.
package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Deps are the collaborators of an Ingest.
type Deps struct {
	Conn *events.Conn
	Log  zerolog.Logger
	Now  func() time.Time // for idleness and dead letters; nil = time.Now
	// CountTokens counts the tokens of a text; nil = analysis.CountTokens. A replay needs the same one.
	CountTokens func(string) int
}

// Ingest cuts windows. Any number of processes share the partitions.
type Ingest struct {
	cfg     Config
	deps    Deps
	metrics Metrics
	step    func(string) error // called between the steps of a batch by tests; nil otherwise
}

// New returns an Ingest that is not running yet.
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
		deps.CountTokens = text.CountTokens
	}
	if cfg.Owner == "" {
		cfg.Owner = uuid.NewString()
	}
	i := &Ingest{cfg: cfg, deps: deps}
	i.metrics.begin(deps.Conn)
	return i, nil
}

// Metrics returns the live counters.
func (i *Ingest) Metrics() *Metrics { return &i.metrics }

// Run processes its share of the partitions until ctx ends, and of the intake. Then it completes the batches that have
// begun, releases the partitions and returns nil.
func (i *Ingest) Run(ctx context.Context) error {
	in := intake{conn: i.deps.Conn}
	if err := in.open(); err != nil {
		return err
	}
	defer in.close()
	return lease.Share(ctx, i.deps.Conn, lease.ShareConfig{Group: "ingest", Owner: i.cfg.Owner, Parts: events.Partitions}, i.runPartition)
}

func (i *Ingest) runPartition(ctx context.Context, part int) error {
	p := newPartition(i, part)
	defer i.metrics.lag.remove(part)
	err := p.run(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrConflict) {
		p.log.Error().Err(err).Msg("a partition stopped")
	}
	return err
}
