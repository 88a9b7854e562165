package consolidate

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Applier applies runs of both streams to the store, one transaction each, and keeps the positions they reach. It is
// not safe for concurrent use. The errors of its methods wrap memory.ErrConflict when another owner has written the
// store.
type Applier struct {
	Writes uint64 // last sequence applied

	messages memory.MessagePosition // applied

	deps    Deps
	planner *plan.Planner
	retry   retry.Policy
	metrics *Metrics
}

// NewApplier reads the positions of the store.
func NewApplier(ctx context.Context, cfg Config, deps Deps, r retry.Policy) (*Applier, error) {
	return newApplier(ctx, cfg, deps, r, newMetrics(deps.Store, deps.Conn))
}

func newApplier(ctx context.Context, cfg Config, deps Deps, r retry.Policy, m *Metrics) (*Applier, error) {
	_, writes, err := deps.Store.Applied(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the applied positions: %w", err)
	}
	messages, err := deps.Store.MessagePosition(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the applied positions: %w", err)
	}
	return &Applier{messages: messages, Writes: writes, deps: deps, planner: plan.NewPlanner(cfg.Config), retry: r, metrics: m}, nil
}

// Messages returns the sequence up to which the messages of all banks are applied.
func (a *Applier) Messages() uint64 { return a.messages.Seq }

// Position returns how far the messages are applied. It is not to be changed.
func (a *Applier) Position() memory.MessagePosition { return a.messages }

// MessagesOf returns the sequence up to which the messages of a bank are applied.
func (a *Applier) MessagesOf(bank memory.BankID) uint64 { return a.messages.Of(bank) }

// ApplyMessages stores a batch of messages in one transaction. It does not end with ctx once it has begun.
func (a *Applier) ApplyMessages(ctx context.Context, b MessageBatch) error {
	began := time.Now()
	spans := traceMessages(ctx, a.deps.Conn.Tracer, b)
	list := b.Kept
	if b.End != nil && b.End.Seq == b.Last {
		list = append(list[:len(list):len(list)], *b.End)
	}
	to := memory.MessagePosition{Seq: b.Last}
	if b.To != nil {
		to = *b.To
	}
	err := a.storeMessages(ctx, to, list)
	spans.end(err)
	if err != nil {
		return err
	}
	a.metrics.messages.Add(float64(len(b.Kept)))
	a.metrics.seconds.WithLabelValues("messages").Observe(time.Since(began).Seconds())
	return nil
}

// SkipMessages moves the position of messages to a sequence that need not exist any more.
func (a *Applier) SkipMessages(ctx context.Context, upto uint64) error {
	return a.storeMessages(ctx, memory.MessagePosition{Seq: upto}, nil)
}

func (a *Applier) storeMessages(ctx context.Context, to memory.MessagePosition, list []MessageEvent) error {
	err := a.retry.Do(ctx, "applying messages", func() error {
		return a.deps.Store.ApplyMessagesAhead(context.WithoutCancel(ctx), a.messages, to, list)
	})
	if err == nil {
		a.messages = to
	}
	return err
}

// ApplyWrites plans and applies a run of writes, which is not empty, in one transaction. The error wraps
// memory.ErrInvalid when one of them can never be applied; nothing is applied then.
func (a *Applier) ApplyWrites(ctx context.Context, run []Write) error {
	began, last := time.Now(), run[len(run)-1].Event.Seq
	spans := traceWrites(ctx, a.deps.Conn, run)
	var writes []memory.Write
	for _, w := range run {
		if w.Write != nil {
			writes = append(writes, *w.Write)
		}
	}
	err := a.retry.Do(ctx, "applying writes", func() error {
		return a.deps.Store.ApplyWrites(context.WithoutCancel(ctx), a.Writes, last, writes, a.planner.Plan)
	})
	spans.end(err)
	if err != nil {
		return fmt.Errorf("apply writes up to %d: %w", last, err)
	}
	for _, w := range run {
		if w.Write != nil {
			a.metrics.applied(w)
		}
	}
	a.metrics.seconds.WithLabelValues("writes").Observe(time.Since(began).Seconds())
	a.Writes = last
	return nil
}
