// Package work is the work queue MEM_WINDOWS: any number of processes share its events, and each event leaves the queue
// when its work is done.
//
// Run takes events and calls a handler, whose error decides what becomes of the event: nil acknowledges it,
// deadletter.Permanent makes a dead letter of it, RetryLater waits for something that is unavailable, any other error
// retries it a few times. Handlers of a bank that run at once take effect in stream order by a Turn.
//
// Park sets a window aside whose bank has no token budget left; Unpark queues it again.
package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/internal/pull"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Run takes events from a work queue and calls handle with each, at most Concurrency at a time; any number of processes
// share the queue. The handler's error decides: nil acknowledges the event, deadletter.Permanent publishes a dead
// letter, RetryLater repeats it after a wait for as long as Patience, and any other error repeats it after a wait, up
// to MaxAttempts tries by all processes, not counting those of RetryLater. A panic is an error. An event whose process
// ended during so many tries is dead, too.
//
// When ctx ends Run takes no more, returns events that no handler has begun to the queue, gives running handlers Grace
// before their context ends too, and returns nil. It waits for a broker that is unavailable. A subscription that is
// lost or stalls is replaced, and so is the consumer where that does not help; both are logged and counted
// (Conn.Resubscriptions).
func Run(ctx context.Context, c *events.Conn, cfg Config, handle func(context.Context, events.Event) error) error {
	if cfg.Durable == "" {
		return memory.Invalid("durable", "a work queue's consumer needs a name")
	}
	cfg = cfg.orDefault(c.Naming)
	w := &worker{conn: c, cfg: cfg, handle: handle,
		slots: make(chan struct{}, cfg.Concurrency), turns: turns{last: map[string]Turn{}}}
	handling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w.handling = handling
	if cfg.Ahead > 0 {
		w.line = newLine(cfg.Ahead, cfg.Concurrency)
		w.running.Go(func() { w.hold(ctx) })
		w.running.Go(func() { w.dispatch(ctx) })
	}

	waits := events.Backoff{Min: 50 * time.Millisecond, Max: time.Second}.Intervals()
	for stalls := 0; ctx.Err() == nil; {
		before := w.taken.Load()
		err := w.take(ctx)
		if ctx.Err() != nil {
			break
		}
		if w.taken.Load() != before {
			waits.Reset()
			stalls = 0
		}
		cause := c.Resubscribed(cfg.Stream, err)
		c.Log.Warn().Err(err).Str("consumer", cfg.Durable).Str("cause", cause).Msg("taking work from a new subscription")
		if cause == events.CauseStalled {
			if stalls++; stalls > 1 {
				w.recreate(ctx)
			}
		}
		events.Sleep(ctx, waits.NextBackOff())
	}
	if w.line != nil {
		w.line.giveBack(1, time.Now().Add(w.cfg.AckWait)) // all of it, now that nothing is added any more
	}
	stop := time.AfterFunc(cfg.Grace, cancel)
	defer stop.Stop()
	w.running.Wait()
	_ = c.NC.FlushTimeout(2 * time.Second)
	return nil
}

type worker struct {
	conn   *events.Conn
	cfg    Config
	handle func(context.Context, events.Event) error

	handling context.Context // of handlers; ends Grace after the taking
	running  sync.WaitGroup
	slots    chan struct{} // one for each handler that runs
	line     *line         // events taken ahead; nil = none are
	turns    turns
	taken    atomic.Int64           // events taken so far
	name     atomic.Pointer[string] // of the consumer in use
	asking   atomic.Bool            // a request for an event is open
}

// take runs one subscription until it breaks, which is its error, or ctx ends. It asks for few events ahead of its
// handlers, and for none up to seven handlers: an event that waits here could not be taken by an idle process, and its
// AckWait would run. With many quick handlers one request for each event made the pauses between them the longest part:
// windows by rules settled in 2.4 to 6 s where a quarter of the handlers ahead takes 1.9 to 2.5 s.
func (w *worker) take(ctx context.Context) error {
	cons, err := w.consumer(ctx)
	if err != nil {
		return events.Classify(err, "create the consumer %s of %s", w.cfg.Durable, w.cfg.Stream)
	}
	options := []jetstream.PullMessagesOpt{jetstream.PullMaxMessages(w.cfg.batch()),
		jetstream.PullExpiry(pull.Expires), jetstream.PullHeartbeat(pull.Heartbeat)}
	if w.line != nil {
		// One request at a time: by default a second is opened once half of the first is served, and othersAsk would take
		// it for that of another process.
		options = append(options, jetstream.PullThresholdMessages(1))
	}
	queue, err := cons.Messages(options...)
	if err != nil {
		return events.Classify(err, "subscribe to consumer %s", w.cfg.Durable)
	}
	defer handBack(queue)
	ctx, fail := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer fail(nil)
	watching.Go(func() { fail(w.watch(ctx, cons)) })
	places := w.slots
	if w.line != nil {
		places = w.line.room
	}
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		w.asking.Store(true)
		m, err := queue.Next(jetstream.NextContext(ctx))
		w.asking.Store(false)
		if err != nil {
			<-places
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return pull.Ended(w.cfg.Durable, err)
		}
		w.taken.Add(1)
		if w.line == nil {
			w.begin(m, func() {})
			continue
		}
		w.line.add(w.bankOf(m), m, w.cfg.AckWait/3)
	}
}

// dispatch begins handlers for what waits in the line until ctx ends.
func (w *worker) dispatch(ctx context.Context) {
	for {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		m, done, ok := w.line.next(ctx)
		if !ok {
			return
		}
		w.begin(m, done)
	}
}

// handBack ends a subscription and returns the events that are already on their way to it, for the next process to
// take.
func handBack(queue jetstream.MessagesContext) {
	queue.Drain()
	for {
		m, err := queue.Next(jetstream.NextMaxWait(2 * time.Second))
		if err != nil {
			return
		}
		_ = m.Nak()
	}
}

// bankOf returns the token of the bank that an event is of; one that cannot be parsed is of none.
func (w *worker) bankOf(m jetstream.Msg) string {
	names, _ := w.conn.Naming.Parse(m.Subject()) //nolint:errcheck // see above
	return names.BankToken
}

// begin starts a handler in a slot that was taken, and calls done when it returns.
func (w *worker) begin(m jetstream.Msg, done func()) {
	var turn Turn
	bank := ""
	if w.cfg.InTurn {
		bank = w.bankOf(m)
		turn = w.turns.next(bank)
	}
	w.running.Go(func() {
		defer func() { <-w.slots }()
		defer done()
		if w.cfg.InTurn {
			defer w.turns.pass(bank, turn)
		}
		w.process(m, turn)
	})
}

// watch returns why the subscription is to be replaced, or nil when ctx ends.
func (w *worker) watch(ctx context.Context, cons jetstream.Consumer) error {
	connected, seen, taken := w.conn.NC.Stats().Reconnects, stallCheck{}, w.taken.Load()
	seen.reset()
	tick := time.NewTicker(pull.Look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := pull.Reconnected(w.conn, connected); err != nil {
			return err
		}
		if now := w.taken.Load(); now != taken || !w.asking.Load() {
			taken = now
			seen.reset()
			continue
		}
		if err := w.checkStall(ctx, cons, &seen); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// stallCheck is what is known of a consumer that delivers nothing. The consumer is asked at most once per StallAfter.
type stallCheck struct {
	asked     time.Time // when an event came or the consumer was asked
	delivered uint64    // to any process, when it was last asked
	doubted   bool      // the last answer counted events pending
}

// reset notes that an event came.
func (s *stallCheck) reset() { s.asked, s.doubted = time.Now(), false }

// checkStall asks the consumer about itself when a request was not answered for long. Events pending twice in a row,
// and none delivered to any process in between, mean that it stalled; it may also have been reconfigured meanwhile.
func (w *worker) checkStall(ctx context.Context, cons jetstream.Consumer, seen *stallCheck) error {
	if time.Since(seen.asked) < w.cfg.StallAfter {
		return nil
	}
	info, err := events.Again(ctx, cons.Info)
	if err != nil {
		return events.Broken(events.CauseLost, events.Classify(err, "ask the consumer %s", w.cfg.Durable))
	}
	seen.asked = time.Now()
	if held := restrictions(info); len(held) > 0 {
		return events.Broken(events.CauseDrifted, fmt.Errorf("consumer %s was changed (%s)", w.cfg.Durable, strings.Join(held, "; ")))
	}
	same := info.Delivered.Consumer == seen.delivered
	seen.delivered = info.Delivered.Consumer
	if info.NumPending == 0 || !same {
		seen.doubted = false
		return nil
	}
	if !seen.doubted {
		seen.doubted = true
		return nil
	}
	return events.Broken(events.CauseStalled, fmt.Errorf("consumer %s stalled with %d pending", w.cfg.Durable, info.NumPending))
}

// recreate deletes a consumer that stalled again under a new subscription: some faults of the broker end only with the
// consumer. Every event that is not acknowledged is then delivered again.
func (w *worker) recreate(ctx context.Context) {
	w.conn.Log.Warn().Str("consumer", w.cfg.Durable).Msg("a new subscription did not help; the consumer is made anew")
	err := w.conn.JS.DeleteConsumer(ctx, w.cfg.Stream, w.durable())
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		w.conn.Log.Warn().Err(err).Str("consumer", w.cfg.Durable).Msg("the consumer could not be deleted")
	}
}
