package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// applier is the one goroutine that changes the store. Messages go first; a
// write waits until the messages it rests on are applied.
type applier struct {
	*Consolidator
	messages  chan messageBatch
	writes    chan []pendingWrite
	committed chan struct{} // signalled after a commit
	forgot    chan struct{} // signalled after a commit that may have queued erasures

	appliedMessages uint64
	appliedWrites   uint64 // MEM_WRITES sequence the store stands at
	waiting         []pendingWrite
	pace            pace
}

// pendingWrite is a write in its place in the stream; one that is dead (it
// could not be read) has no write and only moves the position.
type pendingWrite struct {
	event events.Event
	write memory.Write
	err   error // why it could not be read
	dead  bool
}

// messagesFirst is how many batches of messages go before writes that are
// ready, so that a flood of messages does not keep facts out for good.
const messagesFirst = 8

func newApplier(c *Consolidator, messages, writes uint64) *applier {
	return &applier{
		Consolidator: c, appliedMessages: messages, appliedWrites: writes,
		messages: make(chan messageBatch), writes: make(chan []pendingWrite),
		committed: make(chan struct{}, 1), forgot: make(chan struct{}, 1),
	}
}

// run applies until ctx ends or the store belongs to another.
func (a *applier) run(ctx context.Context) error {
	signal(a.committed) // what an earlier owner left behind
	signal(a.forgot)
	for inRow := 0; ; {
		if inRow < messagesFirst || a.ready() == 0 {
			select { // messages first: they are to be recallable at once
			case batch := <-a.messages:
				if err := a.applyMessages(ctx, batch); err != nil {
					return err
				}
				inRow++
				continue
			default:
			}
		}
		inRow = 0
		if n := a.ready(); n > 0 {
			if err := a.applyWrites(ctx, n); err != nil {
				return err
			}
			continue
		}
		if err := a.take(ctx); err != nil {
			return err
		}
	}
}

// take waits for a batch of either stream. Writes are taken only while few wait.
func (a *applier) take(ctx context.Context) error {
	writes := a.writes
	if len(a.waiting) >= 4*a.config.Batch {
		writes = nil
	}
	select {
	case batch := <-a.messages:
		return a.applyMessages(ctx, batch)
	case batch := <-writes:
		for _, p := range batch {
			if err := a.await(ctx, &p); err != nil {
				return err
			}
			a.waiting = append(a.waiting, p)
		}
		return a.skipErased(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ready counts the writes at the front that may be applied, at most a batch
// and as many as the pace allows.
func (a *applier) ready() int {
	n, most := 0, min(a.config.Batch, a.pace.most())
	for n < len(a.waiting) && n < most && a.waiting[n].write.Upto <= a.appliedMessages {
		n++
	}
	return n
}

// readWrites decodes writes.
func readWrites(batch []events.Event) []pendingWrite {
	out := make([]pendingWrite, len(batch))
	for i, e := range batch {
		out[i].event = e
		out[i].write, out[i].err = e.Write()
	}
	return out
}

// await looks whether a write can be waited for. One that could not be decoded,
// or that waits for a message the log does not have, is recorded dead.
func (a *applier) await(ctx context.Context, p *pendingWrite) error {
	w, err := p.write, p.err
	if err == nil && w.Upto > a.appliedMessages {
		var end uint64
		if err := a.insist(ctx, "reading the end of the log", func() (err error) {
			end, err = a.deps.Conn.LastSeq(ctx, a.deps.Conn.Naming.Messages())
			return err
		}); err != nil {
			return err
		}
		if w.Upto > end {
			err = memory.Invalid("upto", "is %d; the log of messages ends at %d", w.Upto, end)
		}
	}
	if err != nil {
		p.write, p.dead = memory.Write{}, true
		return a.bury(ctx, p.event, err)
	}
	return nil
}

// bury records an event dead; it returns once that is acknowledged.
func (a *applier) bury(ctx context.Context, e events.Event, cause error) error {
	a.deps.Log.Error().Ctx(a.deps.Conn.Traced(ctx, e)).Err(cause).Str("stage", Stage).Uint64("seq", e.Seq).Str("bank", e.BankToken).Msg("dead write")
	a.metrics.dead.Inc()
	return a.insist(ctx, "publishing a dead letter", func() error {
		return a.deps.Conn.PublishDead(ctx, a.deps.Conn.NewDeadLetter(Stage, e, cause, a.deps.Now()))
	})
}

func (a *applier) applyMessages(ctx context.Context, batch messageBatch) error {
	list := batch.list
	last := batch.events[len(batch.events)-1].Seq
	began := time.Now()
	spans := a.traceMessages(ctx, batch.events, list)
	err := a.insist(ctx, "applying messages", func() error {
		return a.deps.Store.ApplyMessages(context.WithoutCancel(ctx), a.appliedMessages, last, list)
	})
	spans.end(err)
	if err != nil {
		return err
	}
	a.metrics.messages.Add(float64(len(list)))
	took := time.Since(began)
	a.pace.stored(took, time.Now())
	a.metrics.seconds.WithLabelValues("messages").Observe(took.Seconds())
	a.appliedMessages = last
	signal(a.committed)
	return nil
}

// applyWrites applies the first n waiting writes in one transaction. If one of
// them can never be applied, they go one by one and that one is recorded dead.
func (a *applier) applyWrites(ctx context.Context, n int) error {
	err := a.applyRun(ctx, a.waiting[:n])
	if errors.Is(err, memory.ErrInvalid) {
		err = a.applySingly(ctx, a.waiting[:n])
	}
	if err != nil {
		return err
	}
	for _, p := range a.waiting[:n] {
		if p.write.Kind == memory.WriteForget || len(p.write.Vectors) > 0 || p.write.By != nil || p.write.Kind == memory.WriteDecide {
			signal(a.forgot)
		}
	}
	clear(a.waiting[:n]) // the rest stays where it is; what went is let go of
	a.waiting = a.waiting[n:]
	signal(a.committed)
	return nil
}

func (a *applier) applySingly(ctx context.Context, run []pendingWrite) error {
	for i := range run {
		err := a.applyRun(ctx, run[i:i+1])
		if errors.Is(err, memory.ErrInvalid) {
			if err := a.bury(ctx, run[i].event, err); err != nil {
				return err
			}
			run[i].dead = true
			err = a.applyRun(ctx, run[i:i+1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) applyRun(ctx context.Context, run []pendingWrite) error {
	spans := a.traceWrites(ctx, run)
	var writes []memory.Write
	for _, p := range run {
		if !p.dead {
			writes = append(writes, p.write)
		}
	}
	last := run[len(run)-1].event.Seq
	began := time.Now()
	err := a.insist(ctx, "applying writes", func() error {
		return a.deps.Store.ApplyWrites(context.WithoutCancel(ctx), a.appliedWrites, last, writes, a.plan)
	})
	spans.end(err)
	if err != nil {
		return fmt.Errorf("apply writes up to %d: %w", last, err)
	}
	for _, p := range run {
		if !p.dead {
			a.metrics.writes.WithLabelValues(string(p.write.Kind)).Inc()
			a.metrics.usage.applied(p)
		}
	}
	took := time.Since(began)
	a.pace.wrote(len(run), took, time.Now())
	a.metrics.seconds.WithLabelValues("writes").Observe(took.Seconds())
	a.appliedWrites = last
	return nil
}

// plan is Plan under this consolidator's settings.
func (c *Consolidator) plan(v View, w memory.Write) (memory.Changes, error) {
	return Plan(v, w, c.config)
}

// signal wakes a goroutine that waits on c, without waiting for it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
