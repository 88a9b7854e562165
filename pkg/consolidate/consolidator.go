package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LeaseKey is the lease the active consolidator of a store holds.
const LeaseKey = "consolidator"

// Stage is how dead letters of consolidation are named.
const Stage = "consolidate"

// Redactor replaces secrets in a text.
type Redactor interface {
	Redact(text string) string
}

// Deps are what a Consolidator works with; all but Now, Owner and Profile are required.
type Deps struct {
	Conn     *events.Conn
	Store    Store
	Redactor Redactor
	Embedder memory.Embedder // embeds what was stored without a vector; nil = nothing does
	Log      zerolog.Logger
	Now      func() time.Time // nil = time.Now; for dead letters
	Owner    string           // this process, unlike any other's; "" = a random one
	// Beside runs while this consolidator is the active one, until its context
	// ends: what works for the store and never writes it. An error ends the
	// consolidator. nil = nothing.
	Beside func(ctx context.Context) error
	// Profile reads a bank's profile from the store; with it, profiles that
	// change are kept where stages without the store read them.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
}

// Consolidator applies the two kept streams to the store. One is active for a
// store; any number stand by.
type Consolidator struct {
	config  Config
	deps    Deps
	metrics *Metrics
	// patience is how long something that fails is tried again; 0 = for ever.
	patience time.Duration
}

// New checks its settings and starts nothing.
func New(cfg Config, deps Deps) (*Consolidator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Conn == nil || deps.Store == nil || deps.Redactor == nil {
		return nil, errors.New("consolidate: a connection, a store and a redactor are needed")
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Owner == "" {
		deps.Owner = uuid.NewString()
	}
	return &Consolidator{config: cfg, deps: deps, metrics: newMetrics(deps.Store, deps.Conn)}, nil
}

// Metrics gives the counters, live.
func (c *Consolidator) Metrics() *Metrics { return c.metrics }

// Run waits for the lease and consolidates while it holds it, until ctx ends.
// It then finishes the transaction it is in and returns nil.
func (c *Consolidator) Run(ctx context.Context) error {
	return c.deps.Conn.Hold(ctx, LeaseKey, c.deps.Owner, c.active)
}

// active feeds both streams into one goroutine that applies them, and carries
// out what commits leave behind. It ends with ctx, or with memory.ErrConflict
// when the store's position says that another owner was there.
func (c *Consolidator) active(ctx context.Context) error {
	messages, writes, err := c.deps.Store.Applied(ctx)
	if err != nil {
		return fmt.Errorf("read the applied positions: %w", err)
	}
	c.deps.Log.Info().Str("stage", Stage).Uint64("messages", messages).Uint64("writes", writes).Msg("active")
	c.metrics.active.Set(1)
	defer c.metrics.active.Set(0)
	a := newApplier(c, messages, writes)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.run(ctx) })
	group.Go(func() error { return feed(ctx, c, c.deps.Conn.Naming.Messages(), messages, a.messages, c.readMessages) })
	group.Go(func() error { return feed(ctx, c, c.deps.Conn.Naming.Writes(), writes, a.writes, readWrites) })
	group.Go(func() error { return c.publishChanges(ctx, a.committed) })
	group.Go(func() error { return c.eraseEvents(ctx, a.forgot) })
	group.Go(func() error { return c.embedLate(ctx) })
	if c.deps.Beside != nil {
		group.Go(func() error { return c.deps.Beside(ctx) })
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// feed decodes the batches of a stream and hands them on, in order.
func feed[T any](ctx context.Context, c *Consolidator, stream string, after uint64, to chan<- T, read func([]events.Event) T) error {
	return c.deps.Conn.ReadOrdered(ctx, events.OrderedConfig{Stream: stream, After: after, MaxBatch: c.config.Batch}, func(ctx context.Context, batch []events.Event) error {
		select {
		case to <- read(batch):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// insist calls f until it succeeds, ctx ends, or the error is one that trying
// again will not mend: memory.ErrConflict or memory.ErrInvalid. With a patience
// it gives up after it.
func (c *Consolidator) insist(ctx context.Context, what string, f func() error) error {
	pause := 20 * time.Millisecond
	for began := time.Now(); ; {
		err := f()
		if c.patience > 0 && time.Since(began) > c.patience {
			return err
		}
		if err == nil || ctx.Err() != nil || errors.Is(err, memory.ErrConflict) || errors.Is(err, memory.ErrInvalid) {
			return err
		}
		c.metrics.retries.Inc()
		c.deps.Log.Warn().Err(err).Str("stage", Stage).Msg(what + " failed; trying again")
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause = min(2*pause, c.config.Retry)
	}
}
