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
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is what the loop reads. It changes nothing there.
type Store interface {
	// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// Backlogs gives what waits for a model, by bank; banks without anything are left out.
	Backlogs(ctx context.Context) ([]consolidate.Backlog, error)
	// Unobserved gives the banks with at least so many live facts that no model
	// has observed yet, by id.
	Unobserved(ctx context.Context, least int) ([]consolidate.Unobserved, error)
	// Spent gives the tokens that language models took for a bank on a UTC day
	// ("2026-05-20"), embedding and reranking aside, and the bank's own bound of
	// them; 0 = it has none.
	Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error)
	// Look runs fn on one unchanging state of a bank, outside any write. A bank
	// that was never made is memory.ErrNotFound.
	Look(ctx context.Context, bank memory.BankID, fn func(consolidate.View) error) error
}

// Log is where the loop appends.
type Log interface {
	// AppendWrite appends a write and gives its sequence.
	AppendWrite(ctx context.Context, w memory.Write) (uint64, error)
	// LastSeq is the last sequence of a stream.
	LastSeq(ctx context.Context, stream string) (uint64, error)
}

// Deps are what a Worker works with. A stage without a model is not asked for;
// Store, Log, Stream and Redactor are required.
type Deps struct {
	Store    Store
	Log      Log
	Stream   string // of the writes
	Redactor consolidate.Redactor

	Decide, Summarise, Observe memory.LanguageModel
	Embedder                   memory.Embedder // of the wordings of updates; nil = they get their vectors later

	Logger zerolog.Logger
	Tracer trace.Tracer     // begins the span of what is asked; nil = none
	Now    func() time.Time // nil = time.Now
}

// Worker is the loop. It works for every bank of a store, one question at a
// time. One process runs it: the one whose consolidator is active.
type Worker struct {
	cfg     Config
	deps    Deps
	metrics *Metrics

	began    time.Time
	looked   time.Time                   // when unobserved facts were last counted
	observed map[memory.BankID]time.Time // by schedule
	strikes  map[strike]int              // answers without sense, by what was asked about
	pauses   map[pauseKey]pause
	spent    map[memory.BankID]string // the day on which it was told that a bank has no tokens left
}

// New checks its settings and starts nothing.
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
		strikes: map[strike]int{}, pauses: map[pauseKey]pause{}, spent: map[memory.BankID]string{}}, nil
}

// Metrics gives the counters, live.
func (w *Worker) Metrics() *Metrics { return w.metrics }

// Run asks until ctx ends, and then returns nil. It begins when the store has
// caught up with the log: what an earlier owner asked is answered there.
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

// catchUp waits until the store has applied what stands in the log now.
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

// round serves every bank with something to ask, once.
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

// serve asks what is due for one bank. A request comes first: it brings
// decisions and summaries along.
func (w *Worker) serve(ctx context.Context, b consolidate.Backlog) {
	now := w.deps.Now()
	if b.Requests > 0 && w.deps.Observe != nil && !w.resting(b.Bank, memory.StageObserve) {
		w.try(ctx, b.Bank, memory.StageObserve, func(ctx context.Context) error { return w.answer(ctx, b.Bank) })
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

// try does one thing for a bank unless it rests from a failure; a failure makes
// it rest.
func (w *Worker) try(ctx context.Context, bank memory.BankID, stage string, do func(context.Context) error) {
	if w.resting(bank, stage) || w.exhausted(ctx, bank) {
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

func (w *Worker) resting(bank memory.BankID, stage string) bool {
	return w.deps.Now().Before(w.pauses[pauseKey{bank, stage}].until)
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
