package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/internal/pull"
)

// process handles one event and decides what becomes of it.
func (w *worker) process(m jetstream.Msg, turn Turn) {
	e, md, err := pull.EventOf(w.conn, m)
	if err != nil {
		w.conn.Log.Error().Err(err).Str("consumer", w.cfg.Durable).Msg("left an event that cannot be read")
		return
	}
	e.Attempt = int(md.NumDelivered)
	ctx := withTurn(w.conn.Traced(w.handling, e), turn)
	stop := w.heartbeat(m)
	if e.Err != nil {
		err = deadletter.Permanent(e.Err.Error())
	} else {
		err = w.call(ctx, e)
	}
	stop()
	var permanent *deadletter.PermanentError
	switch {
	case err == nil:
		err = w.acknowledge(m, e)
	case w.handling.Err() != nil && !errors.As(err, &permanent):
		err = w.tell(m, nak(0))
	case errors.As(err, &permanent) || w.isLast(e, err):
		err = w.giveUp(ctx, m, e, err)
	default:
		w.log(ctx, e, err).Msg("working on an event again later")
		err = w.tell(m, nak(w.pause(e)))
	}
	if err != nil {
		w.log(ctx, e, err).Msg("an event was not settled and will come again")
	}
}

// isLast reports whether an event that failed is to be given up.
func (w *worker) isLast(e events.Event, err error) bool {
	w.counting.Lock()
	defer w.counting.Unlock()
	attempts := w.tally.attempts(e, w.cfg.MaxAttempts)
	var later *RetryLaterError
	if errors.As(err, &later) && waited(w.cfg.Backoff, e.Attempt) < w.cfg.Patience {
		w.tally.excuse(e.Seq, e.Attempt-attempts+1)
		return false
	}
	if attempts < w.cfg.MaxAttempts {
		return false
	}
	w.tally.excuse(e.Seq, e.Attempt-attempts) // it comes again if its dead letter cannot be published
	return true
}

// pause counts a failure of an event and returns how long the event waits. Deliveries that nobody tried, because they were lost or
// given back for another process to take, make it no longer.
func (w *worker) pause(e events.Event) time.Duration {
	w.counting.Lock()
	defer w.counting.Unlock()
	if len(w.failures) >= maxTally {
		clear(w.failures)
	}
	w.failures[e.Seq]++
	return w.cfg.Backoff.Delay(w.failures[e.Seq])
}

// acknowledge removes an event from the queue and forgets its deliveries.
func (w *worker) acknowledge(m jetstream.Msg, e events.Event) error {
	w.counting.Lock()
	delete(w.tally, e.Seq)
	delete(w.failures, e.Seq)
	w.counting.Unlock()
	return w.tell(m, ack)
}

// call runs the handler and turns a panic into an error.
func (w *worker) call(ctx context.Context, e events.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.conn.Log.Error().Ctx(ctx).Str("consumer", w.cfg.Durable).Uint64("seq", e.Seq).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			err = fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	return w.handle(ctx, e)
}

// giveUp publishes the dead letter before it acknowledges the event.
func (w *worker) giveUp(ctx context.Context, m jetstream.Msg, e events.Event, cause error) error {
	letter := deadletter.New(w.cfg.Stage, e, cause, w.cfg.Now())
	w.log(ctx, e, cause).Msg("an event is dead")
	var err error
	if w.cfg.Dead != nil {
		err = w.cfg.Dead(ctx, e, letter)
	}
	if err == nil {
		err = deadletter.Publish(ctx, w.conn, letter)
	}
	if err != nil {
		return errors.Join(err, w.tell(m, nak(w.pause(e))))
	}
	return w.acknowledge(m, e)
}

// heartbeat extends the event's AckWait until stop is called.
func (w *worker) heartbeat(m jetstream.Msg) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(w.cfg.AckWait / 3)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				_ = m.InProgress()
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (w *worker) log(ctx context.Context, e events.Event, err error) *zerolog.Event {
	return w.conn.Log.Warn().Ctx(ctx).Err(err).Str("consumer", w.cfg.Durable).Str("bank", string(e.Bank)).
		Str("session", string(e.Session)).Uint64("seq", e.Seq).Int("attempt", e.Attempt)
}

// RetryLaterError means that something the handler needs is unavailable, while the event itself is valid.
type RetryLaterError struct{ Err error }

// Error returns what is unavailable.
func (e *RetryLaterError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RetryLaterError) Unwrap() error { return e.Err }

// RetryLater wraps an error so that the event is delivered again after a wait without counting as one of its attempts,
// until it has waited for Config.Patience. It returns nil for nil.
func RetryLater(err error) error {
	if err == nil {
		return nil
	}
	return &RetryLaterError{Err: err}
}

// waited returns how long an event was made to wait, in all, before its attempt-th delivery.
func waited(b events.Backoff, attempt int) time.Duration {
	var sum time.Duration
	for n := 1; n < attempt; n++ {
		d := b.Delay(n)
		if b.Delay(n+1) == d { // the maximum: every later wait is the same
			return sum + time.Duration(attempt-n)*d
		}
		sum += d
	}
	return sum
}

// maxTally bounds the events whose deliveries a worker remembers.
const maxTally = 4096

// tally holds, by sequence, how many deliveries of an event do not count as attempts because of RetryLater. It is kept
// in this process only. An event that arrives for the first time with more deliveries than it may have attempts was
// delayed in another process, or it would be dead: its attempts are counted from here.
type tally map[uint64]int

// attempts returns how many of the deliveries so far count.
func (t tally) attempts(e events.Event, most int) int {
	excused, seen := t[e.Seq]
	if !seen && e.Attempt > most {
		excused = e.Attempt - 1
		t.excuse(e.Seq, excused)
	}
	return e.Attempt - excused
}

// excuse sets how many deliveries of an event do not count.
func (t tally) excuse(seq uint64, n int) {
	if len(t) >= maxTally {
		clear(t)
	}
	t[seq] = n
}
