package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/internal/longwork"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/outbox"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// LeaseKey is the lease that the active consolidator of a store holds, by shard (events.Shard.Key).
const LeaseKey = "consolidator"

// groupKey names the processes that share the shards.
const groupKey = "consolidators"

// Stage is the name of this stage in logs and dead letters.
const Stage = "consolidate"

// Deps are what a Consolidator works with. Conn, Store and Redactor are required.
type Deps struct {
	Conn     *events.Conn
	Store    Store
	Shard    events.Shard // of the banks that the store holds
	Redactor Redactor
	Embedder memory.Embedder // embeds what was stored without a vector; nil = nothing does
	Log      zerolog.Logger
	Now      func() time.Time // of dead letters; nil = time.Now
	Owner    string           // this process, unlike any other's; "" = a random one
	Long     *longwork.Limit  // of the process; nil = no limit
	// Admit is asked before this consolidator works as the active one. After memory.ErrConflict it stands by and asks again;
	// another error ends it. nil = it may.
	Admit func(ctx context.Context) error
	// WhileActive runs while this consolidator is the active one, until its context ends. It works for the store and
	// never writes it. An error ends the consolidator. nil = nothing.
	WhileActive func(ctx context.Context) error
	// Replacing runs in the same way and may put another store in the place of Store, through Active: Store then has to
	// answer from that one. nil = nothing.
	Replacing func(ctx context.Context, a *Active) error
	// Profile reads a bank's profile from the store; with it, profiles that change are published for stages without a
	// store. nil = they are not.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
}

// Validate reports what is missing.
func (d Deps) Validate() error {
	if d.Conn == nil || d.Store == nil || d.Redactor == nil {
		return errors.New("consolidate: a connection, a store and a redactor are needed")
	}
	return nil
}

// Consolidator applies the two kept streams to the store. One is active for a store; any number stand by.
type Consolidator struct {
	config  Config
	deps    Deps
	metrics *Metrics
}

// New validates its arguments and starts nothing.
func New(cfg Config, deps Deps) (*Consolidator, error) {
	if err := errors.Join(cfg.Validate(), deps.Validate()); err != nil {
		return nil, err
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Owner == "" {
		deps.Owner = uuid.NewString()
	}
	return &Consolidator{config: cfg, deps: deps, metrics: newMetrics(deps.Store, deps.Conn)}, nil
}

// Metrics returns the live counters.
func (c *Consolidator) Metrics() *Metrics { return c.metrics }

// Run waits for the lease and consolidates while it holds it, until ctx ends. It then finishes the transaction it is in
// and returns nil.
func (c *Consolidator) Run(ctx context.Context) error {
	return lease.Hold(ctx, c.deps.Conn, c.deps.Shard.Key(LeaseKey), c.deps.Owner, c.active)
}

// RunShards runs the consolidators of all shards, spread evenly over the processes that call it, until ctx ends: each is
// active in one of them. They have the connection and the owner of the first. The error is that of a consolidator that
// cannot go on anywhere.
func RunShards(ctx context.Context, shards []*Consolidator) error {
	if len(shards) == 1 {
		return shards[0].Run(ctx)
	}
	return lease.Share(ctx, shards[0].deps.Conn, lease.ShareConfig{
		Group: groupKey, Owner: shards[0].deps.Owner, Parts: len(shards),
		Key: func(part int) string { return shards[part].deps.Shard.Key(LeaseKey) },
		Ends: func(err error) bool {
			return !errors.Is(err, memory.ErrConflict) && !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, context.Canceled)
		},
	}, func(ctx context.Context, part int) error { return shards[part].active(ctx) })
}

// active consolidates until ctx ends, and anew whenever the store was replaced. The error is memory.ErrConflict when the
// store's position shows another owner or the log is not the one that the store was made from.
func (c *Consolidator) active(ctx context.Context) error {
	err := c.consolidate(ctx)
	for errors.Is(err, errReplaced) {
		c.deps.Log.Info().Str("stage", Stage).Msg("the store was replaced")
		err = c.consolidate(ctx)
	}
	return err
}

// consolidate feeds both streams into the one goroutine that applies them, and carries out what commits leave behind. It
// ends with ctx, or with errReplaced.
func (c *Consolidator) consolidate(ctx context.Context) error {
	if c.deps.Admit != nil {
		if err := c.deps.Admit(ctx); err != nil {
			return err
		}
	}
	again := retry.Policy{Longest: c.config.Retry, Log: c.deps.Log, Stage: Stage, Counter: c.metrics.retries}
	messageLog, writeLog, err := c.deps.Conn.CheckLog(ctx, c.deps.Store)
	if err == nil {
		err = c.deps.Store.AdoptLog(ctx, messageLog, writeLog)
	}
	if err != nil {
		return fmt.Errorf("the log and the store: %w", err)
	}
	applier, err := newApplier(ctx, c.config, c.deps, again, c.metrics)
	if err != nil {
		return err
	}
	c.deps.Log.Info().Str("stage", Stage).Uint64("messages", applier.Messages()).Uint64("writes", applier.Writes).Stringer("shard", c.deps.Shard).Msg("active")
	c.metrics.active.Set(1)
	defer c.metrics.active.Set(0)
	l := newLoop(applier, c.config)
	active := newActive(l)
	messages := feed{deps: c.deps, batch: c.config.Batch, retry: again, queue: newMessageQueue(applier.messages),
		read: make(chan []events.Event), to: l.batches, held: l.held, open: &l.open}
	publisher := outbox.New(outbox.Deps{Conn: c.deps.Conn, Store: c.deps.Store, Retry: again, Published: c.metrics.changes, Profile: c.deps.Profile})
	eraser := erasure.New(erasure.Deps{Conn: c.deps.Conn, Store: c.deps.Store, Retry: again, Erased: c.metrics.erased, Log: c.deps.Log, Turn: active.HoldErasures})

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.run(ctx) })
	group.Go(func() error { return messages.run(ctx, c.reading(c.deps.Conn.Naming.Messages(), applier.Messages())) })
	group.Go(func() error { return c.feedWrites(ctx, applier.Writes, l.writes) })
	group.Go(func() error { l.tell(ctx); return nil })
	group.Go(func() error { return publisher.Run(ctx, l.committed) })
	group.Go(func() error { return eraser.Run(ctx, l.erasures) })
	if c.deps.Embedder != nil {
		worker := backfill.New(c.deps.Backfill(again))
		group.Go(func() error { return worker.Run(ctx) })
	}
	if c.deps.WhileActive != nil {
		group.Go(func() error { return c.deps.WhileActive(ctx) })
	}
	if c.deps.Replacing != nil {
		group.Go(func() error { return c.deps.Replacing(ctx, active) })
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Backfill returns what a backfill.Worker of the same store works with.
func (d Deps) Backfill(r retry.Policy) backfill.Deps {
	return backfill.Deps{Conn: d.Conn, Store: d.Store, Embedder: d.Embedder, Redactor: d.Redactor, Retry: r, Log: d.Log}
}

// reading returns how a stream is read from a position.
func (c *Consolidator) reading(stream string, after uint64) ordered.Config {
	return ordered.Config{Stream: stream, After: after, MaxBatch: c.config.Batch, Check: func(ctx context.Context) error {
		_, _, err := c.deps.Conn.CheckLog(ctx, c.deps.Store)
		return err
	}}
}

// feedWrites decodes the writes of the log and hands them on, in order.
func (c *Consolidator) feedWrites(ctx context.Context, after uint64, to chan<- []decodedWrite) error {
	return ordered.Read(ctx, c.deps.Conn, c.reading(c.deps.Conn.Naming.Writes(), after), func(ctx context.Context, run []events.Event) error {
		return hand(ctx, to, decodeWrites(c.deps.Shard.Own(c.deps.Conn.Naming, run)))
	})
}

// hand hands a value on, or returns the error of ctx when it ends first.
func hand[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
