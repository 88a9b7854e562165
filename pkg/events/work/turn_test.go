package work_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	t.Run("take effect in stream order, whichever handler finishes first", func(t *testing.T) {
		t.Parallel()
		conn := natstest.Start(t)
		const n = 40
		for i := range n {
			natstest.PublishWindow(t, conn, uint64(i+1))
		}
		var mu sync.Mutex
		var order []uint64
		together, most := 0, 0
		second := make(chan struct{}) // closed when a second handler has begun
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- work.Run(ctx, conn, work.Config{Durable: "turns", Concurrency: 8, InTurn: true, Backoff: events.Backoff{Min: time.Millisecond, Max: time.Millisecond}},
				func(ctx context.Context, e events.Event) error {
					mu.Lock()
					together++
					most = max(most, together)
					if e.Seq == 2 {
						close(second)
					}
					mu.Unlock()
					if e.Seq == 1 {
						<-second
					}
					defer func() { mu.Lock(); together--; mu.Unlock() }()
					if e.Seq%7 == 3 && e.Attempt == 1 {
						return errors.New("ahead of its turn")
					}
					turn := work.TurnOf(ctx)
					if err := turn.Wait(ctx); err != nil {
						return err
					}
					mu.Lock()
					order = append(order, e.Seq)
					mu.Unlock()
					turn.Pass()
					turn.Pass()
					return nil
				})
		}()
		natstest.Eventually(t, "all windows are handled", func() bool { mu.Lock(); defer mu.Unlock(); return len(order) == n })
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		first := slices.DeleteFunc(slices.Clone(order), func(s uint64) bool { return s%7 == 3 })
		if !slices.IsSorted(first) {
			t.Errorf("the order was %v", order)
		}
		if most < 2 {
			t.Error("handlers did not run at once")
		}
	})
	t.Run("wait for nobody where there are none", func(t *testing.T) {
		t.Parallel()
		turn := work.TurnOf(t.Context())
		if err := turn.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		turn.Pass()
	})
}
