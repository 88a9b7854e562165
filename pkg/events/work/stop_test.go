package work_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

// TestAStopLeavesNothingTaken stops many times while events arrive. Each event that no handler had begun goes back to the
// broker: one that it took for worked on would come again after its AckWait, which is longer than the test may take.
func TestAStopLeavesNothingTaken(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	cfg := work.Config{Concurrency: 2, Ahead: 50, AckWait: time.Hour}
	handle := func(context.Context, events.Event) error { return nil }
	empty := func() {
		stop := goWork(t, c, cfg, handle)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		stop()
	}
	natstest.PublishWindow(t, c, 1)
	empty()
	for round := range 200 {
		published, publishing := make(chan struct{}), sync.WaitGroup{}
		publishing.Go(func() {
			for i := range 20 {
				natstest.PublishWindow(t, c, uint64(20*round+i+2))
				if i == round%20 {
					close(published)
				}
			}
		})
		stop := goWork(t, c, cfg, handle)
		<-published
		stop()
		publishing.Wait()
	}
	empty()
}
