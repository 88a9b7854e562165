package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// WorkConfig says what Work takes and how it goes about it.
type WorkConfig struct {
	Stream      string // a work queue; "" = Naming.Windows
	Durable     string // shared by all workers of the stage
	Stage       string // of dead letters; "" = Durable
	Concurrency int    // handlers at a time; 0 = 4
	MaxAttempts int    // then dead; 0 = 5
	// Backoff is the wait before a failed event is delivered again, doubled
	// each time; zero = 1 s to 1 min.
	Backoff Backoff
	// AckWait is how long an event whose worker died stays with it; 0 = 30 s.
	// A handler may take longer: it sends signs of life.
	AckWait time.Duration
	// Grace is how long handlers may go on after ctx ended before theirs ends; 0 = 10 s.
	Grace time.Duration
	// Dead is told of each dead letter before it is published; nil = nobody. Its
	// error has the event delivered again.
	Dead func(context.Context, Event, DeadLetter) error
	Now  func() time.Time // nil = time.Now
}

func (w WorkConfig) orDefault(n Naming) WorkConfig {
	if w.Stream == "" {
		w.Stream = n.Windows()
	}
	if w.Stage == "" {
		w.Stage = w.Durable
	}
	if w.Concurrency <= 0 {
		w.Concurrency = 4
	}
	if w.MaxAttempts <= 0 {
		w.MaxAttempts = 5
	}
	if w.Backoff == (Backoff{}) {
		w.Backoff = Backoff{Min: time.Second, Max: time.Minute}
	}
	if w.AckWait <= 0 {
		w.AckWait = 30 * time.Second
	}
	if w.Grace <= 0 {
		w.Grace = 10 * time.Second
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	return w
}

// Work takes events from a work queue and hands each to handle, at most
// Concurrency at a time; any number of processes share the queue. The handler's
// error decides: nil = done; Dead = dead letter; any other = again after a
// wait, and dead after MaxAttempts deliveries. A panic is an error. When ctx
// ends nothing more is taken, events not yet begun are handed back, and running
// handlers have Grace before their context ends too. It then returns nil; a
// broker that is away is waited for.
func (c *Conn) Work(ctx context.Context, cfg WorkConfig, handle func(context.Context, Event) error) error {
	if cfg.Durable == "" {
		return memory.Invalid("durable", "a work queue's consumer needs a name")
	}
	w := &worker{conn: c, cfg: cfg.orDefault(c.Naming), handle: handle}
	doing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w.doing, w.finished = doing, make(chan struct{}, w.cfg.Concurrency)
	w.free = w.cfg.Concurrency

	waits := Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}.start()
	for ctx.Err() == nil {
		took := w.taken
		err := w.take(ctx)
		if ctx.Err() != nil {
			break
		}
		if w.taken != took {
			waits.Reset()
		}
		c.Log.Warn().Err(err).Str("consumer", w.cfg.Durable).Msg("taking work from a new subscription")
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
	taken    int
}

// take runs one subscription until it breaks or ctx ends.
func (w *worker) take(ctx context.Context) error {
	_, err := w.conn.JS.CreateOrUpdateConsumer(ctx, w.cfg.Stream, jetstream.ConsumerConfig{
		Durable: w.cfg.Durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.cfg.AckWait,
		MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 4096,
	})
	if err != nil {
		return meaning(err, "make the consumer %s of %s", w.cfg.Durable, w.cfg.Stream)
	}
	pull, err := w.conn.newPuller(w.cfg.Stream, w.cfg.Durable, w.cfg.Concurrency)
	if err != nil {
		return err
	}
	defer pull.drain(func(m *nats.Msg) { _ = m.Nak() })
	asked := 0
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
			if err := pull.lost(); err != nil && asked > 0 {
				return err
			}
		case m := <-pull.ch:
			switch pull.sign(m) {
			case signEnded:
				asked = 0
			case signBroken:
				return fmt.Errorf("consumer %s: %s %s: %w", w.cfg.Durable, m.Header.Get("Status"), m.Header.Get("Description"), memory.ErrUnavailable)
			case signMessage:
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
	go func() {
		defer w.running.Done()
		defer func() { w.finished <- struct{}{} }()
		w.do(m)
	}()
}

// do handles one event and settles it.
func (w *worker) do(m *nats.Msg) {
	e, md, err := w.conn.eventOf(m)
	if err != nil {
		w.conn.Log.Error().Err(err).Str("consumer", w.cfg.Durable).Msg("left an event that cannot be read")
		return
	}
	e.Attempt = int(md.NumDelivered)
	stop := w.heartbeat(m)
	err = e.Err
	if err != nil {
		err = Dead(err.Error())
	} else {
		err = w.call(e)
	}
	stop()
	var dead *DeadError
	switch {
	case err == nil:
		err = m.Ack()
	case w.doing.Err() != nil && !errors.As(err, &dead):
		err = m.Nak()
	case errors.As(err, &dead) || e.Attempt >= w.cfg.MaxAttempts:
		err = w.bury(m, e, err)
	default:
		w.log(e, err).Msg("working on an event again later")
		err = m.NakWithDelay(w.cfg.Backoff.delay(e.Attempt))
	}
	if err != nil {
		w.log(e, err).Msg("an event was not settled and will come again")
	}
}

// call runs the handler and makes an error of a panic.
func (w *worker) call(e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.conn.Log.Error().Str("consumer", w.cfg.Durable).Uint64("seq", e.Seq).Bytes("stack", debug.Stack()).Msg("a handler panicked")
			err = fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	return w.handle(w.doing, e)
}

// bury publishes the dead letter before the event is acknowledged.
func (w *worker) bury(m *nats.Msg, e Event, cause error) error {
	letter := w.conn.NewDeadLetter(w.cfg.Stage, e, cause, w.cfg.Now())
	w.log(e, cause).Msg("an event is dead")
	var err error
	if w.cfg.Dead != nil {
		err = w.cfg.Dead(w.doing, e, letter)
	}
	if err == nil {
		err = w.conn.PublishDead(w.doing, letter)
	}
	if err != nil {
		return errors.Join(err, m.NakWithDelay(w.cfg.Backoff.delay(e.Attempt)))
	}
	return m.Ack()
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

func (w *worker) log(e Event, err error) *zerolog.Event {
	return w.conn.Log.Warn().Err(err).Str("consumer", w.cfg.Durable).Str("bank", string(e.Bank)).
		Str("session", string(e.Session)).Uint64("seq", e.Seq).Int("attempt", e.Attempt)
}
