package work_test

import (
	"context"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestWork(t *testing.T) {
	t.Parallel()

	t.Run("hands each window to one worker and acknowledges it", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		const n = 200
		for i := range uint64(n) {
			w := memory.Window{ID: memory.NewWindowID("alice", "s", i+1, i+1, 0), Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: i + 1}}, Trigger: memory.TriggerCount}
			if err := c.PublishWindow(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		seen := map[uint64]int{}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := work.Run(ctx, c, work.Config{Durable: "extract", Concurrency: 8}, func(_ context.Context, e events.Event) error {
					w, err := e.Window()
					if err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					seen[w.First()]++
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		natstest.Eventually(t, "all windows worked on", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(seen) == n
		})
		cancel()
		wg.Wait()
		for s, k := range seen {
			if k != 1 {
				t.Errorf("window %d was handled %d times", s, k)
			}
		}
	})
}
