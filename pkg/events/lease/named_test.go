package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestShareOfLeasesWithNames shares three counters of a post office, of which another clerk holds one by its name.
func TestShareOfLeasesWithNames(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	counter := func(n int) string { return fmt.Sprintf("counter-%d", n) }
	holder := func(n int) string {
		who, err := lease.Holder(t.Context(), c, counter(n))
		if err != nil {
			t.Error(err)
		}
		return who
	}

	clerk, goHome := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		gone <- lease.Hold(clerk, natstest.Another(t, c), counter(1), "clerk", func(ctx context.Context) error { <-ctx.Done(); return nil })
	}()
	natstest.Eventually(t, "the clerk sits at counter 1", func() bool { return holder(1) == "clerk" })

	broken, closed := errors.New("the till is broken"), make(chan error, 1)
	breaks := make(chan struct{})
	var runs atomic.Int64
	go func() {
		closed <- lease.Share(t.Context(), natstest.Another(t, c), lease.ShareConfig{
			Group: "office", Owner: "robot", Parts: 3, Key: counter, Ends: func(err error) bool { return !errors.Is(err, memory.ErrConflict) },
		}, func(ctx context.Context, _ int) error {
			if runs.Add(1) == 1 {
				return memory.ErrConflict // as if another one sat there: it is tried again
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-breaks:
				return broken
			}
		})
	}()
	natstest.Eventually(t, "the robot has the two others", func() bool { return holder(0) == "robot" && holder(2) == "robot" })
	if who := holder(1); who != "clerk" {
		t.Errorf("counter 1 is held by %q", who)
	}
	goHome()
	if err := <-gone; err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the robot takes what the clerk left", func() bool { return holder(1) == "robot" && runs.Load() >= 4 })
	close(breaks)
	if err := <-closed; !errors.Is(err, broken) {
		t.Errorf("the sharing ended with %v, want %v", err, broken)
	}
	for n := range 3 {
		if who := holder(n); who != "" {
			t.Errorf("counter %d is still held by %q", n, who)
		}
	}
}
