// Package ordered reads streams in order without acknowledgements. The reader keeps its own position, stores it
// together with the effects of the events, and starts there again after a crash.
//
// Read follows a stream until its context ends and hands over batches: a batch that fails is retried in place, so no
// event is ever skipped. Scan reads what a stream holds now and returns.
//
// Both use an ephemeral consumer and replace it when a delivery is missing, when the broker ends or forgets it, after a
// reconnect, and when it holds events back. Each replacement is logged and counted by its cause (Conn.Resubscriptions).
package ordered

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/internal/pull"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config says what Read reads.
type Config struct {
	Stream   string
	Subjects []string // filters on stored subjects; nil = the whole stream
	After    uint64   // the last sequence that was handled; 0 = read from the start
	MaxBatch int      // largest batch; 0 = 256
	MaxBytes int      // a batch ends with the event that makes it larger than this; 0 = 4 MiB
	// MaxWait is how long an incomplete batch waits for events that are known to be on their way; 0 = 1 ms. A lone
	// event never waits.
	MaxWait time.Duration
	// Backoff bounds the waits after a handler's error; zero = 50 ms to 1 s.
	Backoff events.Backoff
	// Check is called before the stream is read from a new consumer, as after a reconnect. Read ends with an error of it
	// that is memory.ErrConflict and tries again after another one. nil = nothing is checked.
	Check func(context.Context) error
	// StallAfter is how long a consumer may deliver nothing before it is asked whether it holds events back; 0 = 5 s.
	StallAfter time.Duration
}

func (c Config) orDefault() Config {
	if c.MaxBatch <= 0 {
		c.MaxBatch = 256
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 4 << 20
	}
	if c.MaxWait <= 0 {
		c.MaxWait = time.Millisecond
	}
	if c.StallAfter <= 0 {
		c.StallAfter = 5 * time.Second
	}
	if c.Backoff == (events.Backoff{}) {
		c.Backoff = events.Backoff{Min: 50 * time.Millisecond, Max: time.Second}
	}
	return c
}

// Stop wraps a handler's error so that Read ends with it.
func Stop(err error) error { return &stopError{err} }

type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

// Read hands the events of a stream to handle, in order and without gaps, in batches that grow while handle is busy. A
// batch that fails is handed over again after a wait, until it succeeds or handle returns Stop or an error that is
// memory.ErrConflict; Read returns that error. Read returns nil when ctx ends. It waits for a broker that is
// unavailable. A stream that ends before the position (Conn.EndOf) lost events: that is memory.ErrConflict.
func Read(ctx context.Context, c *events.Conn, cfg Config, handle func(context.Context, []events.Event) error) error {
	cfg = cfg.orDefault()
	r := &reader{conn: c, cfg: cfg, handle: handle, after: cfg.After}
	waits := events.Backoff{Min: 20 * time.Millisecond, Max: 500 * time.Millisecond}.Intervals()
	for ctx.Err() == nil {
		before := r.after
		err := r.read(ctx)
		var stop *stopError
		if errors.As(err, &stop) {
			return stop.err
		}
		if ctx.Err() != nil {
			return nil
		}
		if r.after != before {
			waits.Reset()
		}
		c.Log.Warn().Err(err).Str("stream", cfg.Stream).Uint64("seq", r.after).Str("cause", c.Resubscribed(cfg.Stream, err)).Msg("reading from a new consumer")
		events.Sleep(ctx, waits.NextBackOff())
	}
	return nil
}

// reader reads a stream through one consumer after another.
type reader struct {
	conn   *events.Conn
	cfg    Config
	handle func(context.Context, []events.Event) error
	after  uint64 // last sequence handled

	sub      *pull.Subscription
	received uint64    // consumer sequence of the last delivery
	progress time.Time // when a batch was last handled
	ticks    int       // of sub, while nothing came
	doubted  bool      // the last check found events held back
}

// read runs one consumer until it breaks and returns why.
func (r *reader) read(ctx context.Context) error {
	if err := r.checkEnd(ctx); err != nil {
		return err
	}
	if r.cfg.Check != nil {
		if err := r.cfg.Check(ctx); errors.Is(err, memory.ErrConflict) {
			return Stop(err)
		} else if err != nil {
			return err
		}
	}
	cons, drop, err := newConsumer(ctx, r.conn, r.cfg.Stream, r.cfg.Subjects, r.after)
	if err != nil {
		return err
	}
	defer drop()
	if r.sub, err = pull.Subscribe(r.conn, cons, max(2*r.cfg.MaxBatch, 256)); err != nil {
		return err
	}
	defer r.sub.Close()
	r.received, r.doubted, r.progress = 0, false, time.Now()
	for {
		batch, broken := r.collect(ctx, cons)
		if len(batch) > 0 {
			if err := r.apply(ctx, batch); err != nil {
				return err
			}
			r.after, r.progress, r.doubted = batch[len(batch)-1].Seq, time.Now(), false
		}
		if broken != nil {
			return broken
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// checkEnd refuses a position past the end of the stream: the broker lost events, and to wait there would skip the ones
// that are published next.
func (r *reader) checkEnd(ctx context.Context) error {
	last, err := r.conn.EndOf(ctx, r.cfg.Stream, r.after)
	if err != nil {
		return err
	}
	if r.after > last {
		return Stop(fmt.Errorf("stream %s ends at %d, before the position %d: it lost events or is another one: %w",
			r.cfg.Stream, last, r.after, memory.ErrConflict))
	}
	return nil
}

// collect waits for an event and returns it with those that follow at once. With an error the batch holds what came
// before it.
func (r *reader) collect(ctx context.Context, cons jetstream.Consumer) ([]events.Event, error) {
	var batch []events.Event
	for size := 0; len(batch) < r.cfg.MaxBatch && size <= r.cfg.MaxBytes; {
		m, err := r.next(ctx, cons, batch)
		if m == nil {
			return batch, err
		}
		e, delivery, err := pull.Delivered(r.conn, m)
		if err != nil {
			return batch, err
		}
		if delivery != r.received+1 {
			return batch, events.Broken(events.CauseGap, fmt.Errorf("consumer of %s sent delivery %d after %d", r.cfg.Stream, delivery, r.received))
		}
		r.received++
		size += len(e.Data)
		batch = append(batch, e)
	}
	return batch, nil
}

// next returns the next delivery, or nil when the batch is complete as it is.
func (r *reader) next(ctx context.Context, cons jetstream.Consumer, batch []events.Event) (*nats.Msg, error) {
	select {
	case m := <-r.sub.Messages:
		return m, nil
	default:
	}
	for len(batch) == 0 {
		select {
		case m := <-r.sub.Messages:
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-r.sub.Failed:
			return nil, err
		case <-r.sub.Tick.C:
			if err := r.sub.Reconnected(); err != nil {
				return nil, err
			}
			if err := r.checkStall(ctx, cons); err != nil {
				return nil, err
			}
		}
	}
	if batch[len(batch)-1].Pending == 0 {
		return nil, nil
	}
	t := time.NewTimer(r.cfg.MaxWait)
	defer t.Stop()
	select {
	case m := <-r.sub.Messages:
		return m, nil
	case <-t.C:
	case <-ctx.Done():
	}
	return nil, nil
}

// apply hands over a batch until the handler accepts it.
func (r *reader) apply(ctx context.Context, batch []events.Event) error {
	attempt := 0
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt++
		err := r.handle(ctx, batch)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			err = backoff.Permanent(stop)
		case errors.Is(err, memory.ErrConflict):
			err = backoff.Permanent(&stopError{err})
		}
		return struct{}{}, err
	}, backoff.WithBackOff(r.cfg.Backoff.Intervals()), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		r.conn.Log.Warn().Err(err).Str("stream", r.cfg.Stream).Uint64("seq", batch[0].Seq).Int("attempt", attempt).Msg("handling events again")
	}))
	return err
}

// checkStall asks a consumer that was quiet for long whether it holds events back. Twice in a row means that it
// stalled.
func (r *reader) checkStall(ctx context.Context, cons jetstream.Consumer) error {
	if r.ticks++; r.ticks%pull.LooksPerCheck != 0 || time.Since(r.progress) < r.cfg.StallAfter {
		return nil
	}
	info, err := events.Again(ctx, cons.Info)
	if err != nil {
		return events.Broken(events.CauseLost, events.Classify(err, "ask the consumer of %s", r.cfg.Stream))
	}
	if (info.NumPending == 0 && info.Delivered.Consumer == r.received) || len(r.sub.Messages) > 0 {
		r.doubted = false
		return nil
	}
	if !r.doubted {
		r.doubted = true
		return nil
	}
	return events.Broken(events.CauseStalled, fmt.Errorf("consumer of %s stalled with %d pending", r.cfg.Stream, info.NumPending))
}
