package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is what a Worker reads. It writes nothing there.
type Store interface {
	// Applied returns the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// Backlogs returns what is pending, by bank; banks without anything pending are left out.
	Backlogs(ctx context.Context) ([]consolidate.Backlog, error)
	// Unobserved returns the banks with at least so many live facts that no model has observed yet, by id.
	Unobserved(ctx context.Context, least int) ([]consolidate.Unobserved, error)
	// Spent returns the tokens that language models used for a bank on a UTC day ("2026-05-20"), without embedding and
	// reranking, and the bank's own bound of them; 0 = it has none.
	Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error)
	// Look runs fn on a snapshot of a bank, outside any write. The error is memory.ErrNotFound for an unknown bank.
	Look(ctx context.Context, bank memory.BankID, fn func(plan.View) error) error
}

// Log is where a Worker appends.
type Log interface {
	// AppendWrite appends a write and returns its sequence.
	AppendWrite(ctx context.Context, w memory.Write) (uint64, error)
	// LastSeq returns the last sequence of a stream.
	LastSeq(ctx context.Context, stream string) (uint64, error)
}

// Deps are what a Worker works with. Store, Log, Stream and Redactor are required. Questions of a stage without a model
// are not asked.
type Deps struct {
	Store    Store
	Log      Log
	Stream   string // of the writes
	Redactor consolidate.Redactor

	Decide, Summarise, Observe memory.LanguageModel
	Embedder                   memory.Embedder // of the wordings of updates; nil = they get their vectors later

	Logger zerolog.Logger
	Tracer trace.Tracer     // traces questions; nil = none
	Now    func() time.Time // nil = time.Now
}

// Worker asks for every bank of a store, one question at a time. One process runs it: the one whose consolidator is
// active.
type Worker struct {
	cfg     Config
	deps    Deps
	metrics *Metrics

	began    time.Time
	looked   time.Time                   // when unobserved facts were last counted
	observed map[memory.BankID]time.Time // by schedule
	unusable map[questionKey]int         // unusable answers, by question
	hours    map[pauseKey]hour           // unusable answers, by bank and stage
	pauses   map[pauseKey]pause
	spent    map[memory.BankID]string // the day on which a bank was last logged as out of tokens
}

// New validates its arguments and starts nothing.
func New(cfg Config, deps Deps) (*Worker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Store == nil || deps.Log == nil || deps.Stream == "" || deps.Redactor == nil {
		return nil, errors.New("consolidate llm: a store, a log, its stream and a redactor are needed")
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Worker{cfg: cfg, deps: deps, metrics: newMetrics(deps.Store), observed: map[memory.BankID]time.Time{},
		unusable: map[questionKey]int{}, hours: map[pauseKey]hour{}, pauses: map[pauseKey]pause{}, spent: map[memory.BankID]string{}}, nil
}

// Metrics returns the live counters.
func (w *Worker) Metrics() *Metrics { return w.metrics }

// Run asks until ctx ends, and then returns nil. It begins when the store has caught up with the log, which may hold
// the answers to questions of an earlier owner.
func (w *Worker) Run(ctx context.Context) error {
	w.began, w.looked = w.deps.Now(), w.deps.Now()
	w.catchUp(ctx)
	tick := time.NewTicker(w.cfg.Poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		w.round(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// catchUp waits until the store has applied what is in the log now.
func (w *Worker) catchUp(ctx context.Context) {
	tick := time.NewTicker(min(w.cfg.Poll, 200*time.Millisecond))
	defer tick.Stop()
	end, known := uint64(0), false
	for ctx.Err() == nil {
		var err error
		if !known {
			end, err = w.deps.Log.LastSeq(ctx, w.deps.Stream)
			known = err == nil
		}
		if known {
			if _, applied, err := w.deps.Store.Applied(ctx); err == nil && applied >= end {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// round serves every bank with pending questions, once.
func (w *Worker) round(ctx context.Context) {
	backlogs, err := w.deps.Store.Backlogs(ctx)
	if err != nil {
		w.warn(ctx, "", "", err, "what waits for a model cannot be read")
		return
	}
	for _, b := range backlogs {
		if ctx.Err() != nil {
			return
		}
		w.serve(ctx, b)
	}
	if w.deps.Observe != nil && w.deps.Now().Sub(w.looked) >= w.cfg.ObserveEvery {
		w.looked = w.deps.Now()
		w.observeBySchedule(ctx)
	}
}

// serve asks what is due for one bank. A request comes first, because answering it includes decisions and summaries.
func (w *Worker) serve(ctx context.Context, b consolidate.Backlog) {
	now := w.deps.Now()
	if b.Requests > 0 && w.deps.Observe != nil && !w.pausing(b.Bank, memory.StageObserve) {
		w.try(ctx, b.Bank, memory.StageObserve, func(ctx context.Context) error { return w.answerRequests(ctx, b.Bank) })
		return
	}
	if w.deps.Decide != nil && b.Decisions > 0 {
		old := now.Sub(b.OldestDecision) >= w.cfg.DecideAfter
		if old || b.Decisions >= w.cfg.DecideBatch {
			w.try(ctx, b.Bank, memory.StageDecide, func(ctx context.Context) error { return w.decide(ctx, b.Bank, old) })
		}
	}
	if w.deps.Summarise != nil && b.Summaries > 0 {
		old := now.Sub(b.OldestSummary) >= w.cfg.SummariseAfter
		if old || b.Summaries >= w.cfg.SummariseBatch {
			w.try(ctx, b.Bank, memory.StageSummarise, func(ctx context.Context) error { return w.summarise(ctx, b.Bank, old) })
		}
	}
}

// try runs do for a bank, unless the stage pauses after a failure or the bank has no tokens left. A failure starts a
// pause, which doubles with each further one.
func (w *Worker) try(ctx context.Context, bank memory.BankID, stage string, do func(context.Context) error) {
	if w.pausing(bank, stage) || w.exhausted(ctx, bank) {
		return
	}
	key := pauseKey{bank, stage}
	p := w.pauses[key]
	inner, span := telemetry.Begin(ctx, w.deps.Tracer, trace.SpanKindInternal, "ask the model")
	err := do(inner)
	span.Text(telemetry.Bank, string(bank)).Text(telemetry.Stage, stage).End(err)
	if err == nil || ctx.Err() != nil || errors.Is(err, errSpent) || errors.Is(err, memory.ErrNotFound) { // a bank that was erased has nothing waiting
		delete(w.pauses, key)
		return
	}
	p.failures++
	length := w.cfg.Backoff << min(p.failures-1, 20)
	if length <= 0 || length > w.cfg.BackoffTo {
		length = w.cfg.BackoffTo
	}
	p.until = w.deps.Now().Add(length)
	w.pauses[key] = p
	w.metrics.failed(stage)
	w.warn(ctx, bank, stage, err, fmt.Sprintf("a question to a language model came to nothing; it is tried again in %s", length))
}

// pausing reports whether a stage is not to be asked for a bank now: after a failure, or after too many unusable answers
// within the hour.
func (w *Worker) pausing(bank memory.BankID, stage string) bool {
	key := pauseKey{bank, stage}
	h := w.hours[key]
	return w.deps.Now().Before(w.pauses[key].until) || h.unusable >= w.cfg.Unusable && h.began.Equal(w.deps.Now().Truncate(time.Hour))
}

// hour counts the unusable answers of an hour.
type hour struct {
	began    time.Time
	unusable int
}

// answered counts an answer of a stage to a bank. Too many unusable ones within an hour are logged once; from then on
// the stage pauses.
func (w *Worker) answered(bank memory.BankID, stage string, usable bool) {
	if usable {
		w.metrics.answered(stage, "answered")
		return
	}
	w.metrics.answered(stage, "nonsense")
	key, now := pauseKey{bank, stage}, w.deps.Now().Truncate(time.Hour)
	h := w.hours[key]
	if !h.began.Equal(now) {
		h = hour{began: now}
	}
	h.unusable++
	w.hours[key] = h
	if h.unusable == w.cfg.Unusable {
		w.deps.Logger.Error().Str("stage", consolidate.Stage).Str("bank", string(bank)).Str("task", stage).Int("attempt", h.unusable).
			Msg("the language model makes no sense; it is asked again in the next hour")
	}
}

type pauseKey struct {
	bank  memory.BankID
	stage string
}

type pause struct {
	failures int
	until    time.Time
}

func (w *Worker) warn(ctx context.Context, bank memory.BankID, stage string, err error, what string) {
	if ctx.Err() != nil {
		return
	}
	e := w.deps.Logger.Warn().Err(err).Str("stage", consolidate.Stage)
	if bank != "" {
		e = e.Str("bank", string(bank)).Str("task", stage)
	}
	e.Msg(what)
}
