package work_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BenchmarkRun measures the queue with handlers that return at once.
func BenchmarkRun(b *testing.B) {
	c := natstest.Start(b)
	windows := make([]memory.Window, b.N)
	for i := range windows {
		seq := uint64(i + 1)
		windows[i] = memory.Window{ID: memory.NewWindowID("alice", "s", seq, seq, 0), Bank: "alice", Session: "s",
			New: []memory.WindowMessage{{Seq: seq}}, Trigger: memory.TriggerCount}
	}
	if err := c.PublishWindows(b.Context(), windows); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var n atomic.Int64
	b.ResetTimer()
	if err := work.Run(ctx, c, work.Config{Durable: "bench", Concurrency: 4}, func(context.Context, events.Event) error {
		if n.Add(1) == int64(b.N) {
			cancel()
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}
