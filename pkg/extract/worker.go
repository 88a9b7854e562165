package extract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/secret"
)

// Config sets how a Worker takes windows.
type Config struct {
	Concurrency int            // windows worked on at a time, 1 or more
	AckWait     time.Duration  // silence after which the broker gives a window to another worker
	MaxAttempts int            // tries of a window before it is a dead letter, 1 or more
	Backoff     events.Backoff // wait before a failed window is tried again; zero = 1 s, doubled up to 1 min
	Grace       time.Duration  // how long begun windows may take when told to stop
}

// DefaultConfig works on 4 windows at a time and tries each 5 times.
func DefaultConfig() Config {
	return Config{Concurrency: 4, AckWait: 30 * time.Second, MaxAttempts: 5, Grace: 10 * time.Second}
}

// Validate joins everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	for _, n := range []struct {
		name  string
		value int64
	}{{"concurrency", int64(c.Concurrency)}, {"ack_wait", int64(c.AckWait)}, {"max_attempts", int64(c.MaxAttempts)}, {"grace", int64(c.Grace)}} {
		if n.value <= 0 {
			errs = append(errs, memory.Invalid(n.name, "must be more than 0"))
		}
	}
	return errors.Join(errs...)
}

// Deps are a Worker's collaborators. Conn and Extractor are required.
type Deps struct {
	Conn      *events.Conn
	Log       zerolog.Logger
	Now       func() time.Time // nil = time.Now
	Extractor Extractor
	Embedder  memory.Embedder // nil = facts go without vectors
	Redactor  Redactor        // nil = the built-in rules of pkg/secret
	// Profile gives a bank's profile; nil, or an error, means the default one.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
	// Entities gives entities known in a bank; nil, an error, or no answer within
	// 200 ms means none: extraction does not wait for what only helps it.
	Entities func(ctx context.Context, bank memory.BankID) ([]memory.Entity, error)
}

// Worker takes windows from the queue, turns them into facts and appends one
// write per window to the log. Two workers never share a window, and a window
// that comes twice gives a write with the same op, which changes nothing.
type Worker struct {
	config  Config
	deps    Deps
	metrics *Metrics
}

// NewWorker checks its settings and starts nothing.
func NewWorker(c Config, d Deps) (*Worker, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("extractor settings: %w", err)
	}
	if d.Conn == nil || d.Extractor == nil {
		return nil, memory.Invalid("deps", "an extractor's worker needs a connection and an extractor")
	}
	if d.Redactor == nil {
		r, err := secret.NewRedactor(nil)
		if err != nil {
			return nil, err
		}
		d.Redactor = r
	}
	return &Worker{config: c, deps: d, metrics: newMetrics()}, nil
}

// Metrics gives the counters, live.
func (w *Worker) Metrics() *Metrics { return w.metrics }

// Run works until ctx ends, then finishes what it began within Grace.
func (w *Worker) Run(ctx context.Context) error {
	return w.deps.Conn.Work(ctx, events.WorkConfig{
		Durable: "extract", Stage: "extract", Concurrency: w.config.Concurrency, AckWait: w.config.AckWait,
		MaxAttempts: w.config.MaxAttempts, Backoff: w.config.Backoff, Grace: w.config.Grace, Dead: w.bury, Now: w.deps.Now,
	}, w.handle)
}

// handle ends one window. What cannot be decoded will not get better: dead.
func (w *Worker) handle(ctx context.Context, e events.Event) error {
	began := time.Now()
	window, err := e.Window()
	if err != nil {
		return events.Dead(err.Error())
	}
	write, err := w.Extract(ctx, window)
	var dead *events.DeadError
	switch {
	case errors.As(err, &dead):
		return err
	case errors.Is(err, memory.ErrInvalid):
		return events.Dead(err.Error())
	case err != nil:
		return err
	}
	seq, err := w.deps.Conn.AppendWrite(ctx, write)
	if errors.Is(err, memory.ErrTooLarge) {
		return events.Dead(err.Error())
	}
	if err != nil {
		return fmt.Errorf("append write of window %s: %w", window.ID, err)
	}
	w.metrics.ended(write, time.Since(began))
	w.deps.Log.Debug().Str("bank", string(window.Bank)).Str("window", string(window.ID)).
		Int("facts", len(write.Facts)).Uint64("seq", seq).Msg("extracted")
	return nil
}

// Extract reads the window's messages and gives the write that ends it:
// facts, or empty where there are none. It changes nothing.
func (w *Worker) Extract(ctx context.Context, window memory.Window) (memory.Write, error) {
	in, err := w.read(ctx, window)
	if err != nil {
		return memory.Write{}, err
	}
	var facts []memory.Fact
	var refused []memory.WriteResult
	if len(in.New) > 0 {
		drafts, err := w.deps.Extractor.Extract(ctx, in)
		if err != nil {
			return memory.Write{}, fmt.Errorf("extract window %s: %w", window.ID, err)
		}
		facts, refused = Validate(in, w.deps.Extractor.Name(), drafts, w.deps.Redactor)
	}
	if err := w.embed(ctx, facts); err != nil {
		return memory.Write{}, fmt.Errorf("embed facts of window %s: %w", window.ID, err)
	}
	write := ended(window, memory.WindowEmpty, w.deps.Extractor.Name())
	write.Facts, write.Refused = facts, refused
	if len(facts) > 0 {
		write.Window.Outcome = memory.WindowFacts
	}
	return write, nil
}

// ended is the write that ends a window. Its op is the window's own, so that
// a redelivered window ends once.
func ended(window memory.Window, outcome memory.WindowOutcome, extractor string) memory.Write {
	op := "window:" + string(window.ID)
	if outcome == memory.WindowDead {
		op = "dead:" + string(window.ID)
	}
	return memory.Write{
		Bank: window.Bank, Kind: memory.WriteWindow, Op: op, Upto: window.Last(),
		Window: &memory.WindowEnd{Window: window, SessionID: window.Session, Outcome: outcome, Extractor: extractor},
	}
}

// bury tells the log that a window ended dead, before its dead letter is published.
func (w *Worker) bury(ctx context.Context, e events.Event, d events.DeadLetter) error {
	window, err := e.Window()
	if err != nil {
		return nil // nothing that names messages can be told
	}
	write := ended(window, memory.WindowDead, w.deps.Extractor.Name())
	write.Window.Reason = d.Reason
	if _, err := w.deps.Conn.AppendWrite(ctx, write); err != nil {
		return fmt.Errorf("append dead window %s: %w", window.ID, err)
	}
	w.metrics.ended(write, 0)
	return nil
}

func (w *Worker) embed(ctx context.Context, facts []memory.Fact) error {
	if w.deps.Embedder == nil || len(facts) == 0 {
		return nil
	}
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	vectors, err := w.deps.Embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(facts) {
		return fmt.Errorf("%s gave %d vectors for %d texts: %w", w.deps.Embedder.Name(), len(vectors), len(facts), memory.ErrUnavailable)
	}
	for i := range facts {
		facts[i].Vector, facts[i].Model = vectors[i], w.deps.Embedder.Name()
	}
	return nil
}
