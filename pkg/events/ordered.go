package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// OrderedConfig says what ReadOrdered reads.
type OrderedConfig struct {
	Stream   string
	Subjects []string // filters on stored subjects; nil = all of the stream
	After    uint64   // reading starts behind this sequence; 0 = from the start
	MaxBatch int      // events handed on at a time; 0 = 256
	// MaxWait is how long a batch that is not full waits for events that are
	// known to be on their way; 0 = 1 ms. A lone event never waits.
	MaxWait time.Duration
	// Backoff bounds the waits after a handler's error; zero = 50 ms to 5 s.
	Backoff Backoff
	// StallAfter is how long a consumer may deliver nothing before it is asked
	// whether it holds something back; 0 = 5 s.
	StallAfter time.Duration
}

func (o OrderedConfig) orDefault() OrderedConfig {
	if o.MaxBatch <= 0 {
		o.MaxBatch = 256
	}
	if o.MaxWait <= 0 {
		o.MaxWait = time.Millisecond
	}
	if o.StallAfter <= 0 {
		o.StallAfter = 5 * time.Second
	}
	return o
}

// Stop marks a handler's error as one that ends ReadOrdered.
func Stop(err error) error { return &stopError{err} }

type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

// ReadOrdered hands the events of a stream to handle, in order and without a
// gap, in batches that are never empty. A batch whose handling fails is handed
// over again until it succeeds: no event is stepped over. It returns nil when
// ctx ends, and an error when the handler's error is made by Stop or is
// memory.ErrConflict (another owner is at work: stand down), or when the stream
// ends before After (it lost events: memory.ErrConflict). A broker that is away
// is waited for; a consumer that is lost or stalls is made anew, which is logged
// and counted (Renewals).
func (c *Conn) ReadOrdered(ctx context.Context, cfg OrderedConfig, handle func(context.Context, []Event) error) error {
	r := &orderedReader{conn: c, cfg: cfg.orDefault(), handle: handle, after: cfg.After}
	waits := Backoff{Min: 20 * time.Millisecond, Max: 2 * time.Second}.start()
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
		c.Log.Warn().Err(err).Str("stream", cfg.Stream).Uint64("seq", r.after).Str("cause", c.renewed(cfg.Stream, err)).Msg("reading from a new consumer")
		wait(ctx, waits.NextBackOff())
	}
	return nil
}

// orderedReader reads a stream through one consumer after another.
type orderedReader struct {
	conn   *Conn
	cfg    OrderedConfig
	handle func(context.Context, []Event) error
	after  uint64 // last sequence handled

	pull     *puller
	asked    int    // messages asked for and not yet here
	received uint64 // consumer sequence of the last message
	progress time.Time
	doubted  bool // the last check found something held back
}

// read runs one consumer until it breaks, which is its error.
func (r *orderedReader) read(ctx context.Context) error {
	if err := r.checkEnd(ctx); err != nil {
		return err
	}
	cons, err := r.conn.JS.CreateConsumer(ctx, r.cfg.Stream, orderedConsumer(r.cfg.Subjects, r.after))
	if err != nil {
		return meaning(err, "make a consumer of %s", r.cfg.Stream)
	}
	name := cons.CachedInfo().Name
	defer func() {
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = r.conn.JS.DeleteConsumer(done, r.cfg.Stream, name)
	}()
	size := max(2*r.cfg.MaxBatch, 256)
	if r.pull, err = r.conn.newPuller(r.cfg.Stream, name, size); err != nil {
		return err
	}
	defer r.pull.close()
	r.asked, r.received, r.doubted, r.progress = 0, 0, false, time.Now()
	for {
		batch, broken := r.gather(ctx, cons, size)
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

// checkEnd refuses a position past the end of the stream: the broker lost
// events, and waiting would step over those that are published next.
func (r *orderedReader) checkEnd(ctx context.Context) error {
	s, err := r.conn.JS.Stream(ctx, r.cfg.Stream)
	if err != nil {
		return meaning(err, "read stream %s", r.cfg.Stream)
	}
	if last := s.CachedInfo().State.LastSeq; r.after > last {
		return Stop(fmt.Errorf("stream %s ends at %d, before the position %d: it lost events or is another one: %w",
			r.cfg.Stream, last, r.after, memory.ErrConflict))
	}
	return nil
}

// gather waits for a message and takes those that follow at once. With an
// error the batch holds what came before it.
func (r *orderedReader) gather(ctx context.Context, cons jetstream.Consumer, size int) ([]Event, error) {
	var batch []Event
	for len(batch) < r.cfg.MaxBatch {
		if r.asked == 0 {
			if err := r.pull.request(size); err != nil {
				return batch, err
			}
			r.asked = size
		}
		m, err := r.next(ctx, batch)
		if m == nil {
			return batch, err
		}
		switch r.pull.sign(m) {
		case signMessage:
			e, err := r.take(m)
			if err != nil {
				return batch, err
			}
			batch = append(batch, e)
			continue
		case signEnded:
			r.asked = 0
		case signBroken:
			return batch, broken(causeLost, fmt.Errorf("consumer of %s: %s %s", r.cfg.Stream, m.Header.Get("Status"), m.Header.Get("Description")))
		}
		if len(batch) > 0 {
			return batch, nil
		}
		if err := r.checkStall(ctx, cons); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

// next gives the next delivery: nil when the batch is to be handed on as it is.
func (r *orderedReader) next(ctx context.Context, batch []Event) (*nats.Msg, error) {
	select {
	case m := <-r.pull.ch:
		return m, nil
	default:
	}
	for len(batch) == 0 {
		select {
		case m := <-r.pull.ch:
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.pull.tick.C:
			if err := r.pull.lost(); err != nil {
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
	case m := <-r.pull.ch:
		return m, nil
	case <-t.C:
	case <-ctx.Done():
	}
	return nil, nil
}

// take reads a message and refuses one that does not follow the last.
func (r *orderedReader) take(m *nats.Msg) (Event, error) {
	e, md, err := r.conn.eventOf(m)
	if err != nil {
		return Event{}, err
	}
	if md.Sequence.Consumer != r.received+1 {
		return Event{}, broken(causeGap, fmt.Errorf("consumer of %s sent delivery %d after %d", r.cfg.Stream, md.Sequence.Consumer, r.received))
	}
	r.received++
	r.asked--
	return e, nil
}

// apply hands a batch over until it is taken.
func (r *orderedReader) apply(ctx context.Context, batch []Event) error {
	waits := r.cfg.Backoff.start()
	for attempt := 1; ; attempt++ {
		err := r.handle(ctx, batch)
		var stop *stopError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &stop):
			return stop
		case errors.Is(err, memory.ErrConflict):
			return &stopError{err}
		case ctx.Err() != nil:
			return ctx.Err()
		}
		r.conn.Log.Warn().Err(err).Str("stream", r.cfg.Stream).Uint64("seq", batch[0].Seq).Int("attempt", attempt).Msg("handling events again")
		if !wait(ctx, waits.NextBackOff()) {
			return ctx.Err()
		}
	}
}

// checkStall asks a consumer that was quiet for long whether it holds something
// back. Twice in a row means that it stalled.
func (r *orderedReader) checkStall(ctx context.Context, cons jetstream.Consumer) error {
	if time.Since(r.progress) < r.cfg.StallAfter {
		return nil
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return broken(causeLost, meaning(err, "ask the consumer of %s", r.cfg.Stream))
	}
	if (info.NumPending == 0 && info.Delivered.Consumer == r.received) || len(r.pull.ch) > 0 {
		r.doubted = false
		return nil
	}
	if !r.doubted {
		r.doubted = true
		return nil
	}
	return broken(causeStalled, fmt.Errorf("consumer of %s stalled with %d pending", r.cfg.Stream, info.NumPending))
}
