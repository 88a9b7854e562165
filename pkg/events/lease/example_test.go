package lease_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// Of several processes that hold one key, one runs at a time.
func ExampleHold() {
	ctx := context.Background()
	conn, stop := natstest.StartForExample(ctx)
	defer stop()
	var processes sync.WaitGroup
	var runs atomic.Int64
	for _, owner := range []string{"first", "second"} {
		processes.Go(func() {
			if err := lease.Hold(ctx, conn, "consolidate", owner, func(context.Context) error {
				runs.Add(1)
				return nil
			}); err != nil {
				panic(err)
			}
		})
	}
	processes.Wait()
	fmt.Println("both ran, one after the other:", runs.Load())
	// Output: both ran, one after the other: 2
}
