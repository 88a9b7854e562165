package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// lasting starts a broker whose leases do not expire: one that changes hands was taken from an owner that is gone.
func lasting(t *testing.T) *events.Conn {
	t.Helper()
	c := natstest.Start(t)
	stream, err := c.JS.Stream(t.Context(), "KV_"+c.Naming.LeaseBucket())
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxAge = time.Hour
	if _, err := c.JS.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

// isAskedFor waits until somebody has asked for an owner several times.
func isAskedFor(t *testing.T, c *events.Conn, owner string) {
	t.Helper()
	spy, err := c.NC.SubscribeSync(lease.Subject(c.Naming, owner))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := spy.NextMsg(natstest.Patience); err != nil {
			t.Fatalf("nobody asks for %s: %v", owner, err)
		}
	}
	if err := errors.Join(spy.Unsubscribe(), c.NC.Flush()); err != nil {
		t.Fatal(err)
	}
}

func TestAProcessThatWasKilledIsFollowedBeforeItsLeasesExpire(t *testing.T) {
	t.Parallel()
	c := lasting(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	held := make(chan string, 100)
	work := func(conn *events.Conn, name string) {
		note := func(what string) func(context.Context) error {
			return func(ctx context.Context) error { held <- name + " " + what; <-ctx.Done(); return nil }
		}
		all.Go(func() { _ = lease.Hold(ctx, conn, "k", name, note("k")) })
		all.Go(func() {
			_ = lease.Share(ctx, conn, lease.ShareConfig{Group: "g", Owner: name, Parts: 3}, func(ctx context.Context, part int) error {
				return note(fmt.Sprint(part))(ctx)
			})
		})
	}
	await := func(want ...string) {
		t.Helper()
		missing := map[string]bool{}
		for _, w := range want {
			missing[w] = true
		}
		patience := time.After(natstest.Patience)
		for len(missing) > 0 {
			select {
			case got := <-held:
				delete(missing, got)
			case <-patience:
				t.Fatalf("nobody has %v", missing)
			}
		}
	}
	doomed := natstest.Another(t, c)
	work(doomed, "first")
	await("first k", "first 0", "first 1", "first 2")
	work(natstest.Another(t, c), "second")
	isAskedFor(t, c, "first")
	doomed.NC.Close() // as the broker closes it when the process is killed
	await("second k", "second 0", "second 1", "second 2")
}

func TestALeaseOfAnOwnerThatNeverAnsweredIsLeftToIt(t *testing.T) {
	t.Parallel()
	c := lasting(t)
	if _, err := kv.Open(c, c.Naming.LeaseBucket()).Put(t.Context(), kv.Record{Key: "k", Value: []byte("earlier")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), events.LeaseTTL)
	defer cancel()
	if err := lease.Hold(ctx, natstest.Another(t, c), "k", "second", func(context.Context) error {
		t.Error("the lease of a program that answers nobody was taken")
		return nil
	}); err != nil {
		t.Error(err)
	}
}
