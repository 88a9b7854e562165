package work_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
)

// TestEventsAreRequestedAhead blocks every handler and counts the events that the broker has delivered and that nobody
// has acknowledged. Those beyond the handlers wait in the process.
func TestEventsAreRequestedAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ handlers, least, most int }{
		{1, 0, 0}, {4, 0, 0}, {7, 0, 0}, // a waiting event could not be taken by an idle process
		{16, 1, 4}, {64, 1, 16}, // up to a quarter of the handlers
	} {
		t.Run(fmt.Sprintf("%d handlers request %d to %d events ahead", c.handlers, c.least, c.most), func(t *testing.T) {
			t.Parallel()
			conn := natstest.Start(t)
			for i := range 100 {
				natstest.PublishWindow(t, conn, uint64(i+1))
			}
			var running atomic.Int64
			release := make(chan struct{})
			free := sync.OnceFunc(func() { close(release) })
			defer free() // where the test fails, its handlers end too
			stop := goWork(t, conn, work.Config{Concurrency: c.handlers}, func(context.Context, events.Event) error {
				running.Add(1)
				<-release
				return nil
			})
			delivered := func() int {
				cons, err := conn.JS.Consumer(t.Context(), conn.Naming.Windows(), "extract")
				if err != nil {
					t.Fatal(err)
				}
				return cons.CachedInfo().NumAckPending
			}
			natstest.Eventually(t, "every handler runs", func() bool { return running.Load() == int64(c.handlers) })
			natstest.Eventually(t, "events ahead of the handlers", func() bool {
				// A subscription that a slow machine lost is replaced by one that asks for nothing while all handlers run.
				return delivered() >= c.handlers+c.least || len(conn.Resubscriptions()) > 0
			})
			if ahead := delivered() - c.handlers; ahead > c.most {
				t.Errorf("%d events are ahead of the handlers, expected %d at most", ahead, c.most)
			}
			free()
			natstest.Eventually(t, "an empty queue", func() bool { return pending(t, conn) == 0 })
			stop()
		})
	}
}
