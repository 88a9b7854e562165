package consolidate

import (
	"context"
	"time"

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
func (b *batchSize) Stored(took time.Duration, now time.Time) { b.stored(took, now) }

// MessageQueue is messageQueue.
type MessageQueue = messageQueue

// NewMessageQueue is newMessageQueue.
func NewMessageQueue(at memory.MessagePosition) *MessageQueue { return newMessageQueue(at) }

// Add is add.
func (q *messageQueue) Add(run []events.Event) { q.add(run) }

// TakeOthers is takeOthers, with the position after it.
func (q *messageQueue) TakeOthers(most int) ([]events.Event, memory.MessagePosition) {
	return bare(q.takeOthers(most)), q.position()
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
