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
	t, err := w.begins(ctx, e)
	if err == nil {
		err = w.call(ctx, e)
	}
	word := w.verdict(ctx, e, t, err)
	stop()
	if err := w.tell(m, word); err != nil {
		w.log(ctx, e, err).Msg("an event was not settled and will come again")
	}
}

// verdict decides what becomes of an event, and returns what the broker is told.
func (w *worker) verdict(ctx context.Context, e events.Event, t tries, err error) []byte {
	var permanent *deadletter.PermanentError
	var later *RetryLaterError
	dead, pause := errors.As(err, &permanent), w.cfg.Backoff.Delay(t.Begun)
	switch {
	case err == nil:
		return ack
	case dead:
	case w.handling.Err() != nil:
		t.Excused++
		pause = 0
	case errors.As(err, &later) && waited(w.cfg.Backoff, t.Begun) < w.cfg.Patience:
		t.Excused++
	default:
		dead = t.attempts() >= w.cfg.MaxAttempts
	}
	if dead {
		if err = w.giveUp(ctx, e, t, err); err == nil {
			return ack
		}
		t.Excused++ // it is tried again, so that its letter names the cause
	}
	w.log(ctx, e, err).Msg("working on an event again later")
	w.keep(ctx, e, &t)
	return nak(pause)
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

// giveUp publishes a dead letter. The event is acknowledged afterwards.
func (w *worker) giveUp(ctx context.Context, e events.Event, t tries, cause error) error {
	letter := deadletter.New(w.cfg.Stage, e, cause, w.cfg.Now())
	letter.Attempts = max(1, t.Begun)
	w.log(ctx, e, cause).Msg("an event is dead")
	if w.cfg.Dead != nil {
		if err := w.cfg.Dead(ctx, e, letter); err != nil {
			return err
		}
	}
	return deadletter.Publish(ctx, w.conn, letter)
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

// waited returns how long an event was made to wait, in all, before its attempt-th try.
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
