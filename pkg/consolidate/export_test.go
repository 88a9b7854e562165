package consolidate

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Tracing returns a function that does what applying a message and a write does for tracing alone.
func Tracing(c *Consolidator, message, write events.Event) func(context.Context) {
	batch := MessageBatch{Last: message.Seq, Events: []events.Event{message}, Kept: []MessageEvent{{Seq: message.Seq, Bank: message.Bank}}}
	run := []Write{{Event: write, Write: &memory.Write{}}}
	return func(ctx context.Context) {
		traceMessages(ctx, c.deps.Conn.Tracer, batch).end(nil)
		traceWrites(ctx, c.deps.Conn, run).end(nil)
	}
}

// BatchSize is batchSize.
type BatchSize = batchSize

// Next is next.
func (b *batchSize) Next() int { return b.next() }

// Wrote is wrote.
func (b *batchSize) Wrote(n int, took time.Duration, now time.Time) { b.wrote(n, took, now) }

// Stored is stored.
func (b *batchSize) Stored(took time.Duration, now time.Time, held bool) { b.stored(took, now, held) }

// PositionAfter is positionAfter.
const PositionAfter = positionAfter

// BesideHeld applies a number of batches of a held bank's messages, all of them ready, while a write is offered. It returns
// how many went before the write.
func (c *Consolidator) BesideHeld(ctx context.Context, write events.Event, batches int) (before int, err error) {
	err = c.besideHeld(ctx, write, batches, func(*loop) {}, func(l *loop) { before = batches - len(l.held) })
	return before, err
}

// AfterHeld applies a batch of a held bank's messages, meanwhile offers one of other banks, and then a write. It returns how many
// batches of other banks were left when the write was applied.
func (c *Consolidator) AfterHeld(ctx context.Context, write events.Event) (waiting int, err error) {
	offered := false
	err = c.besideHeld(ctx, write, 1, func(l *loop) {
		if !offered {
			at := l.messages
			l.batches <- MessageBatch{To: &at}
		}
		offered = true
	}, func(l *loop) { waiting = len(l.batches) })
	return waiting, err
}

// besideHeld runs a loop that is offered batches of a held bank's messages and a write, until the write is applied. It calls
// the functions before it applies messages and writes.
func (c *Consolidator) besideHeld(ctx context.Context, write events.Event, batches int, messages, writes func(*loop)) error {
	var l *loop
	deps := c.deps
	deps.Store = watchedStore{c.deps.Store, func() { messages(l) }, func() { writes(l) }}
	applier, err := newApplier(ctx, c.config, deps, retry.Policy{}, c.metrics)
	if err != nil {
		return err
	}
	l = newLoop(applier, c.config)
	at := applier.messages
	l.batches, l.held, l.writes = make(chan MessageBatch, 1), make(chan MessageBatch, batches), make(chan []decodedWrite, 1)
	for range batches {
		l.held <- MessageBatch{To: &at, held: true}
	}
	l.writes <- decodeWrites([]events.Event{write})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group errgroup.Group
	group.Go(func() error { return l.run(ctx) })
	for l.applied.Load().Write < write.Seq && ctx.Err() == nil {
		select {
		case <-l.committed:
		case <-ctx.Done():
		}
	}
	cancel()
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// watchedStore is a store that calls functions before it applies messages and writes.
type watchedStore struct {
	Store
	messages, writes func()
}

// ApplyMessagesAhead implements Store.
func (s watchedStore) ApplyMessagesAhead(ctx context.Context, from, to memory.MessagePosition, list []MessageEvent) error {
	s.messages()
	return s.Store.ApplyMessagesAhead(ctx, from, to, list)
}

// ApplyWrites implements Store.
func (s watchedStore) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error {
	s.writes()
	return s.Store.ApplyWrites(ctx, after, last, writes, decide)
}

// MessageQueue is messageQueue.
type MessageQueue = messageQueue

// NewMessageQueue is newMessageQueue.
func NewMessageQueue(at memory.MessagePosition) *MessageQueue { return newMessageQueue(at) }

// Add is add.
func (q *messageQueue) Add(run []events.Event) { q.add(run) }

// TakeOthers is takeOthers, with the position after it. The events of a held bank, where there are any, are ready unless
// they are being decoded.
func (q *messageQueue) TakeOthers(most int, decoding bool) ([]events.Event, memory.MessagePosition) {
	_, ready := q.next()
	return bare(q.takeOthers(most, ready && !decoding)), q.position()
}

// PeekHeld is peekHeld.
func (q *messageQueue) PeekHeld(most int) (memory.BankID, []events.Event) {
	bank, run := q.peekHeld(most)
	return bank, bare(run)
}

// TakeHeld is takeHeld, with the position that was promised before it and the one after it.
func (q *messageQueue) TakeHeld(bank memory.BankID, n int) (promised, after memory.MessagePosition) {
	promised = q.after(bank, n)
	q.takeHeld(bank, n)
	return promised, q.position()
}

// Position is position.
func (q *messageQueue) Position() memory.MessagePosition { return q.position() }

// InMemory returns the bytes of the queue that are kept in memory.
func (q *messageQueue) InMemory() int { return q.memory }

func bare(list []held) (out []events.Event) {
	for _, h := range list {
		out = append(out, h.Event)
	}
	return out
}
