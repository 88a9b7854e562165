package work_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The error of a handler decides what becomes of an event: nil acknowledges it,
// RetryLater waits for a service, Permanent makes a dead letter of it.
func ExampleRun() {
	ctx, cancel := context.WithCancel(context.Background())
	conn, stop := natstest.StartForExample(ctx)
	defer stop()
	for seq := uint64(1); seq <= 2; seq++ {
		w := memory.Window{ID: memory.NewWindowID("alice", "chat", seq, seq, 0), Bank: "alice", Session: "chat",
			New: []memory.WindowMessage{{Seq: seq}}, Trigger: memory.TriggerCount}
		if err := conn.PublishWindow(ctx, w); err != nil {
			panic(err)
		}
	}
	cfg := work.Config{Durable: "extract", Concurrency: 1, Backoff: events.Backoff{Min: time.Millisecond, Max: time.Millisecond}}
	done := 0
	err := work.Run(ctx, conn, cfg, func(_ context.Context, e events.Event) error {
		switch {
		case e.Seq == 2:
			fmt.Println("window 2 is malformed")
			done++
		case e.Attempt == 1:
			fmt.Println("window 1: the model is unavailable")
			return work.RetryLater(errors.New("the model is unavailable"))
		default:
			fmt.Println("window 1 is extracted")
			done++
		}
		if done == 2 {
			cancel()
		}
		if e.Seq == 2 {
			return deadletter.Permanent("malformed")
		}
		return nil
	})
	letters, listErr := deadletter.List(context.Background(), conn, deadletter.Filter{Stage: "extract"})
	fmt.Println(len(letters), "dead letter:", letters[0].Reason, err, listErr)
	// Unordered output:
	// window 1: the model is unavailable
	// window 2 is malformed
	// window 1 is extracted
	// 1 dead letter: malformed <nil> <nil>
}
