package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/longwork"
	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// Config sets how a Worker takes windows.
type Config struct {
	Concurrency int // windows worked on at a time, 1 or more
	// InTurn appends the ends of a bank's windows in the order the windows were taken, however many are worked on at a time.
	InTurn bool
	// Ahead is how many windows are taken ahead so that banks take turns (work.Config.Ahead).
	Ahead       int
	AckWait     time.Duration  // silence after which the broker gives a window to another worker
	MaxAttempts int            // tries of a window before it is a dead letter, 1 or more
	Backoff     events.Backoff // wait before a failed window is tried again; zero = 1 s, doubled up to 1 min
	Grace       time.Duration  // how long begun windows may take when told to stop
	// Patience is how long a window waits for a model that is away, as the sum of its waits, before such a try counts
	// as one. 0 means that every try counts.
	Patience time.Duration
}

// DefaultConfig works on 4 windows at a time, tries each 5 times and waits a day for a model that is away.
func DefaultConfig() Config {
	return Config{Concurrency: 4, AckWait: 30 * time.Second, MaxAttempts: 5, Grace: 10 * time.Second, Patience: 24 * time.Hour}
}

// Validate returns all errors of the configuration, joined.
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
	if c.Patience < 0 {
		errs = append(errs, memory.Invalid("patience", "must not be negative"))
	}
	return errors.Join(errs...)
}

// Deps are a Worker's collaborators. Conn and Extractor are required.
type Deps struct {
	Conn      *events.Conn
	Log       zerolog.Logger
	Now       func() time.Time // nil = time.Now
	Extractor Extractor
	// Fallback extracts the windows of a bank about which Extractor gave too many answers without sense within the hour;
	// nil = they are tried all the same.
	Fallback Extractor
	Embedder memory.Embedder // nil = facts go without vectors
	Redactor Redactor        // nil = the built-in rules of pkg/text/secret
	// Profile returns a bank's profile. Nil, or an error, means the default one.
	Profile func(ctx context.Context, bank memory.BankID) (memory.Bank, error)
	// Entities returns entities known in a bank. Nil, an error, or no answer within 200 ms means none: extraction does
	// not wait for what only helps it.
	Entities func(ctx context.Context, bank memory.BankID) ([]memory.Entity, error)
	Long     *longwork.Limit // of the process; nil = no limit
	// Budget bounds the tokens of a bank's day, nil for no bound. Run runs it.
	Budget *Budget
}

// Worker takes windows from the queue, turns them into facts and appends one write per window to the log. Two workers
// never share a window. A window that is delivered twice results in a second write with the same op, which changes
// nothing.
type Worker struct {
	config     Config
	deps       Deps
	metrics    *Metrics
	outage     outageDetector
	appender   *events.Appender
	unembedded atomic.Bool // the last facts went without vectors
	senseless  senseless
	flow       *flow
	large      chan struct{} // one for the large window that is worked on, or waits for its place of Deps.Long
}

// NewWorker returns a worker. It starts nothing.
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
	return &Worker{config: c, deps: d, metrics: newMetrics(d.Conn), appender: events.NewAppender(d.Conn), flow: newFlow(d.Conn), large: make(chan struct{}, 1)}, nil
}

// Metrics returns the live counters.
func (w *Worker) Metrics() *Metrics { return w.metrics }

// Run works until ctx ends, and then finishes within Grace what it began.
func (w *Worker) Run(ctx context.Context) error {
	patience := cmp.Or(w.config.Patience, -1)
	return w.deps.Budget.runWhile(ctx, func() error {
		return work.Run(ctx, w.deps.Conn, work.Config{
			Durable: "extract", Stage: "extract", Concurrency: w.config.Concurrency, AckWait: w.config.AckWait, Patience: patience,
			InTurn: w.config.InTurn, Ahead: w.config.Ahead, MaxAttempts: w.config.MaxAttempts, Backoff: w.config.Backoff, Grace: w.config.Grace, Dead: w.appendDead, Now: w.deps.Now,
		}, w.handle)
	})
}

// append appends the end of a window, in its turn where there are turns.
func (w *Worker) append(ctx context.Context, write memory.Write) (seq uint64, stored bool, err error) {
	turn := work.TurnOf(ctx)
	if err := turn.Wait(ctx); err != nil {
		return 0, false, fmt.Errorf("wait for the windows before: %w", err)
	}
	pass, err := w.flow.enter(ctx, write.Bank, write.Upto, 1+len(write.Facts))
	if err != nil {
		return 0, false, fmt.Errorf("wait for the writes before: %w", err)
	}
	appending := w.appender.Append(ctx, write)
	turn.Pass()
	seq, stored, err = appending.Wait(ctx)
	if err != nil || !stored {
		pass.leave()
	} else {
		pass.appended(seq)
	}
	return seq, stored, err
}

// handle ends one window, in a span of its own.
func (w *Worker) handle(ctx context.Context, e events.Event) error {
	ctx, span := telemetry.Begin(ctx, w.deps.Conn.Tracer, trace.SpanKindConsumer, "extract window")
	span.Text(telemetry.Bank, string(e.Bank)).Text(telemetry.Session, string(e.Session)).Number(telemetry.Attempt, e.Attempt).At(e.Seq)
	w.metrics.working.Inc()
	defer w.metrics.working.Dec()
	parked, err := w.end(ctx, e, span)
	w.metrics.tried(parked, err)
	span.End(err)
	return err
}

// end ends one window or parks it. A window that cannot be decoded will not get better and is dead.
func (w *Worker) end(ctx context.Context, e events.Event, span telemetry.Span) (parked bool, err error) {
	began := time.Now()
	window, err := e.Window()
	if err != nil {
		return false, deadletter.Permanent(err.Error())
	}
	span.Text(telemetry.Window, string(window.ID))
	if parked, err := w.deps.Budget.Park(ctx, e); parked || err != nil {
		if parked {
			span.Text(telemetry.Outcome, tryParked)
		}
		return parked, w.verdict(window.ID, nil, err)
	}
	meter := &memory.Meter{}
	write, err := w.Extract(memory.WithMeter(ctx, meter), window)
	used := meter.Take()
	w.deps.Budget.Spend(ctx, window.Bank, used)
	if err != nil {
		if w.senseless.failed(window.Bank, w.now(), err) && w.deps.Fallback != nil {
			w.deps.Log.Error().Ctx(ctx).Str("stage", memory.StageExtract).Str("bank", string(window.Bank)).
				Msg("the model's answers make no sense; rules extract the bank's windows until the hour ends")
		}
		w.appendUsage(ctx, window.Bank, used)
		return false, w.verdict(window.ID, used, err)
	}
	write.Usage = append(used, write.Usage...)
	seq, stored, err := w.append(ctx, write)
	switch {
	case errors.Is(err, memory.ErrTooLarge):
		w.appendUsage(ctx, window.Bank, write.Usage)
		return false, deadletter.Permanent(err.Error())
	case err != nil:
		w.appendUsage(ctx, window.Bank, write.Usage) // not stored, or stored under the same op: then it counts twice rather than not at all
		return false, w.verdict(window.ID, nil, fmt.Errorf("append write of window %s: %w", window.ID, err))
	case !stored:
		w.appendUsage(ctx, window.Bank, write.Usage)
	}
	w.outage.windowEnded(window.ID, len(used) > 0)
	w.metrics.ended(write, time.Since(began))
	span.Text(telemetry.Outcome, string(write.Window.Outcome)).Number(telemetry.Facts, len(write.Facts)).Number(telemetry.Refused, len(write.Refused))
	w.deps.Log.Debug().Ctx(ctx).Str("bank", string(window.Bank)).Str("window", string(window.ID)).
		Int("facts", len(write.Facts)).Uint64("seq", seq).Msg("extracted")
	return false, nil
}

// outageDetector tells a model outage from a window that the model cannot process. It is kept in the process alone.
type outageDetector struct {
	mu       sync.Mutex
	answered int                     // windows the model was asked about and ended
	failed   map[memory.WindowID]int // answered, when the window last failed
}

// maxFailures bounds the windows whose failures are remembered.
const maxFailures = 4096

// windowEnded counts a window that ended.
func (o *outageDetector) windowEnded(id memory.WindowID, asked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.failed, id)
	if asked {
		o.answered++
	}
}

// suspected records the failure of a window and reports whether it looks like an outage: the model has ended no other
// window since this one failed before.
func (o *outageDetector) suspected(id memory.WindowID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, known := o.failed[id]
	if o.failed == nil || len(o.failed) >= maxFailures {
		o.failed = map[memory.WindowID]int{}
	}
	o.failed[id] = o.answered
	return !known || before == o.answered
}

// verdict turns a failure into what the queue does with the window. What is wrong with the window, or with an answer
// about it, counts as a try. So does a failure that took tokens, or that this window has while others end. What remains
// is an outage: the window is put off.
func (w *Worker) verdict(id memory.WindowID, used []memory.StageUsage, err error) error {
	var dead *deadletter.PermanentError
	var answer *deadletter.OutputError
	switch {
	case err == nil, errors.As(err, &dead), errors.As(err, &answer):
		return err
	case errors.Is(err, memory.ErrInvalid):
		return deadletter.Permanent(err.Error())
	case !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrDeadline):
		return err
	}
	alone := w.outage.suspected(id)
	for _, u := range used {
		if u.Tokens() > 0 {
			return err
		}
	}
	if !alone {
		return err
	}
	return work.RetryLater(err)
}
