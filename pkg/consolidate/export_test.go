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
func (b *messageQueue) Add(run []events.Event) { b.add(run) }

// Take is take.
func (b *messageQueue) Take(most int) (run []events.Event, to memory.MessagePosition, ok bool) {
	taken, to, ok := b.take(most)
	for _, h := range taken {
		run = append(run, h.Event)
	}
	return run, to, ok
}

// InMemory returns the bytes of the queue that are kept in memory.
func (b *messageQueue) InMemory() int { return b.memory }
