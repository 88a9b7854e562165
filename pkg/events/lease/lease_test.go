package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestHold(t *testing.T) {
	t.Parallel()

	t.Run("one process holds it at a time, and the next acquires it as soon as it is released", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		var holders, runs atomic.Int64
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if err := lease.Hold(t.Context(), c, "consolidate", fmt.Sprint(i), func(ctx context.Context) error {
					if n := holders.Add(1); n != 1 {
						t.Errorf("%d hold it", n)
					}
					defer holders.Add(-1)
					runs.Add(1)
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if runs.Load() != 4 {
			t.Errorf("%d runs, want 4", runs.Load())
		}
	})

	t.Run("a disconnected holder ends, and another takes over within five seconds", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		doomed := natstest.Another(t, c)
		held, lost := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- lease.Hold(ctx, doomed, "k", "first", func(ctx context.Context) error {
				close(held)
				<-ctx.Done()
				close(lost)
				return ctx.Err()
			})
		}()
		<-held
		doomed.NC.Close()
		began := time.Now()
		if err := lease.Hold(t.Context(), c, "k", "second", func(context.Context) error {
			select {
			case <-lost:
			default:
				t.Error("two held it")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the first ended with %v", err)
		}
	})

	t.Run("it is kept for longer than the TTL of a lease", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		err := lease.Hold(t.Context(), c, "k", "first", func(ctx context.Context) error {
			long, cancel := context.WithTimeout(ctx, events.LeaseTTL+time.Second)
			defer cancel()
			<-long.Done()
			if ctx.Err() != nil {
				t.Error("it was lost")
			}
			return errors.New("mine")
		})
		if err == nil || err.Error() != "mine" {
			t.Errorf("the run's error came as %v", err)
		}
	})

	t.Run("a run that finds another owner stands by and runs again", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		runs := 0
		if err := lease.Hold(t.Context(), c, "k", "o", func(context.Context) error {
			if runs++; runs < 3 {
				return fmt.Errorf("apply: %w", memory.ErrConflict)
			}
			return nil
		}); err != nil || runs != 3 {
			t.Errorf("%d runs, %v", runs, err)
		}
	})
}

func TestShare(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	var mu sync.Mutex
	owner := map[int]string{}
	count := func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		n := map[string]int{}
		for _, o := range owner {
			n[o]++
		}
		return n
	}
	share := func(name string) (stop func()) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		conn := natstest.Another(t, c)
		var failures atomic.Int64
		go func() {
			defer close(done)
			if err := lease.Share(ctx, conn, lease.ShareConfig{Group: "g", Owner: name, Parts: 16}, func(ctx context.Context, part int) error {
				if failures.Add(1) == 3 {
					return memory.ErrUnavailable // it is run again
				}
				mu.Lock()
				if o := owner[part]; o != "" {
					t.Errorf("part %d has two owners, %s and %s", part, o, name)
				}
				owner[part] = name
				mu.Unlock()
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				delete(owner, part)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}()
		stop = sync.OnceFunc(func() { cancel(); <-done })
		t.Cleanup(stop)
		return stop
	}
	stopA := share("a")
	natstest.Eventually(t, "all with the one", func() bool { return count()["a"] == 16 })
	share("b")
	natstest.Eventually(t, "half each", func() bool { n := count(); return n["a"] == 8 && n["b"] == 8 })
	stopC := share("c")
	natstest.Eventually(t, "a third each", func() bool { n := count(); return n["a"] == 6 && n["b"] == 5 && n["c"] == 5 })
	stopA()
	natstest.Eventually(t, "half each again", func() bool { n := count(); return n["b"] == 8 && n["c"] == 8 })
	stopC()
	natstest.Eventually(t, "all with the last", func() bool { return count()["b"] == 16 })
	if err := lease.Share(t.Context(), c, lease.ShareConfig{Group: "g.x", Owner: "a", Parts: 1}, nil); err == nil {
		t.Error("a group that is no token was taken")
	}
}
