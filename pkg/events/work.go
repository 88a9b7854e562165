package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Work takes events from a work queue and hands each to handle, at most
// Concurrency at a time; any number of processes share the queue. The handler's
// error decides: nil = done; Dead = dead letter; Later = again after a wait,
// for as long as Patience; any other = again after a wait, and dead after
// MaxAttempts deliveries, those put off aside. A panic is an error. When ctx
// ends nothing more is taken, events not yet begun are handed back, and running
// handlers have Grace before their context ends too. It then returns nil; a
// broker that is away is waited for. A subscription that is lost or stalls is
// made anew, and the consumer with it where that does not help; both are logged
// and counted (Renewals).
func (c *Conn) Work(ctx context.Context, cfg WorkConfig, handle func(context.Context, Event) error) error {
	if cfg.Durable == "" {
		return memory.Invalid("durable", "a work queue's consumer needs a name")
	}
	w := &worker{conn: c, cfg: cfg.orDefault(c.Naming), handle: handle, tally: tally{}}
	doing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w.doing, w.finished = doing, make(chan struct{}, w.cfg.Concurrency)
	w.free = w.cfg.Concurrency

	waits := Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}.start()
	for stalls := 0; ctx.Err() == nil; {
		took := w.taken
		err := w.take(ctx)
		if ctx.Err() != nil {
			break
		}
		if w.taken != took {
			waits.Reset()
			stalls = 0
		}
		cause := c.renewed(w.cfg.Stream, err)
		c.Log.Warn().Err(err).Str("consumer", w.cfg.Durable).Str("cause", cause).Msg("taking work from a new subscription")
		if cause == causeStalled {
			if stalls++; stalls > 1 {
				w.unstall(ctx)
			}
		}
		wait(ctx, waits.NextBackOff())
	}
	stop := time.AfterFunc(w.cfg.Grace, cancel)
	defer stop.Stop()
	w.running.Wait()
	_ = c.NC.FlushTimeout(2 * time.Second)
	return nil
}

type worker struct {
	conn   *Conn
	cfg    WorkConfig
	handle func(context.Context, Event) error

	doing    context.Context // of handlers; ends Grace after the taking
	running  sync.WaitGroup
	finished chan struct{}
	free     int // handlers that may be started
	last     Turn
	taken    int

	counting sync.Mutex
	tally    tally
}

// take runs one subscription until it breaks or ctx ends.
func (w *worker) take(ctx context.Context) error {
	cons, err := w.consumer(ctx)
	if err != nil {
		return meaning(err, "make the consumer %s of %s", w.cfg.Durable, w.cfg.Stream)
	}
	pull, err := w.conn.newPuller(w.cfg.Stream, w.cfg.Durable, w.cfg.Concurrency)
	if err != nil {
		return err
	}
	defer pull.drain(func(m *nats.Msg) { _ = m.Nak() })
	asked, seen := 0, watch{}
	seen.came()
	for {
		if asked == 0 && w.free > 0 {
			if err := pull.request(w.free); err != nil {
				return err
			}
			asked = w.free
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.finished:
			w.free++
		case <-pull.tick.C:
			if asked == 0 {
				seen.came() // nothing was asked for
				continue
			}
			if err := pull.lost(); err != nil {
				return err
			}
			if err := w.look(ctx, cons, &seen); err != nil {
				return err
			}
		case m := <-pull.ch:
			switch pull.sign(m) {
			case signEnded:
				asked = 0
			case signBroken:
				return broken(causeLost, fmt.Errorf("consumer %s: %s %s", w.cfg.Durable, m.Header.Get("Status"), m.Header.Get("Description")))
			case signMessage:
				seen.came()
				asked--
				w.begin(ctx, m)
			}
		}
	}
}

// begin starts a handler, or hands the event back when there is no more taking.
func (w *worker) begin(ctx context.Context, m *nats.Msg) {
	if ctx.Err() != nil || w.free == 0 {
		_ = m.Nak()
		return
	}
	w.free--
	w.taken++
	w.running.Add(1)
	var mine Turn
	if w.cfg.InTurn {
		mine = w.last.next()
		w.last = mine
	}
	go func() {
		defer w.running.Done()
		defer func() { w.finished <- struct{}{} }()
		defer mine.Pass()
		w.do(m, mine)
	}()
}

// do handles one event and settles it.
func (w *worker) do(m *nats.Msg, mine Turn) {
	e, md, err := w.conn.eventOf(m)
	if err != nil {
		w.conn.Log.Error().Err(err).Str("consumer", w.cfg.Durable).Msg("left an event that cannot be read")
		return
	}
	e.Attempt = int(md.NumDelivered)
	ctx := withTurn(w.conn.Traced(w.doing, e), mine)
	stop := w.heartbeat(m)
	err = e.Err
	if err != nil {
		err = Dead(err.Error())
	} else {
		err = w.call(ctx, e)
	}
	stop()
	var dead *DeadError
	switch {
	case err == nil:
		err = w.settled(m, e)
	case w.doing.Err() != nil && !errors.As(err, &dead):
		err = m.Nak()
	case errors.As(err, &dead) || w.isLast(e, err):
		err = w.bury(ctx, m, e, err)
	default:
		w.log(ctx, e, err).Msg("working on an event again later")
		err = m.NakWithDelay(w.cfg.Backoff.delay(e.Attempt))
	}
	if err != nil {
		w.log(ctx, e, err).Msg("an event was not settled and will come again")
	}
}

// isLast reports whether an event that failed is to be given up.
func (w *worker) isLast(e Event, err error) bool {
	w.counting.Lock()
	defer w.counting.Unlock()
	attempts := w.tally.attempts(e, w.cfg.MaxAttempts)
	var later *LaterError
	if errors.As(err, &later) && w.cfg.Backoff.waited(e.Attempt) < w.cfg.Patience {
		w.tally.excuse(e.Seq, e.Attempt-attempts+1)
		return false
	}
	if attempts < w.cfg.MaxAttempts {
		return false
	}
	w.tally.excuse(e.Seq, e.Attempt-attempts) // it may come again: its letter may not be taken
	return true
}

// settled acknowledges an event and forgets its deliveries.
func (w *worker) settled(m *nats.Msg, e Event) error {
	w.counting.Lock()
	delete(w.tally, e.Seq)
	w.counting.Unlock()
	return m.Ack()
}

// call runs the handler and makes an error of a panic.
func (w *worker) call(ctx context.Context, e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.conn.Log.Error().Ctx(ctx).Str("consumer", w.cfg.Durable).Uint64("seq", e.Seq).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			err = fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	return w.handle(ctx, e)
}

// bury publishes the dead letter before the event is acknowledged.
func (w *worker) bury(ctx context.Context, m *nats.Msg, e Event, cause error) error {
	letter := w.conn.NewDeadLetter(w.cfg.Stage, e, cause, w.cfg.Now())
	w.log(ctx, e, cause).Msg("an event is dead")
	var err error
	if w.cfg.Dead != nil {
		err = w.cfg.Dead(ctx, e, letter)
	}
	if err == nil {
		err = w.conn.PublishDead(ctx, letter)
	}
	if err != nil {
		return errors.Join(err, m.NakWithDelay(w.cfg.Backoff.delay(e.Attempt)))
	}
	return w.settled(m, e)
}

// heartbeat tells the broker that the event is being worked on until stop is called.
func (w *worker) heartbeat(m *nats.Msg) (stop func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
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

func (w *worker) log(ctx context.Context, e Event, err error) *zerolog.Event {
	return w.conn.Log.Warn().Ctx(ctx).Err(err).Str("consumer", w.cfg.Durable).Str("bank", string(e.Bank)).
		Str("session", string(e.Session)).Uint64("seq", e.Seq).Int("attempt", e.Attempt)
}
