package lease_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

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

	t.Run("a holder that cannot reach the broker goes on, another one takes over, and the first ends when it is back", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		wire := &severable{}
		doomed, err := events.Connect(t.Context(), events.ConnConfig{URL: c.NC.ConnectedUrl(), Options: []nats.Option{nats.SetCustomDialer(wire)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(doomed.Close)
		held, lost := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- lease.Hold(ctx, doomed, "k", "first", func(ctx context.Context) error {
				close(held)
				<-ctx.Done()
				close(lost)
				cancel()
				return ctx.Err()
			})
		}()
		<-held
		wire.sever(true)
		began := time.Now()
		if err := lease.Hold(t.Context(), c, "k", "second", func(context.Context) error {
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			select {
			case <-lost:
				t.Error("the first ended while it could not know that another one has the lease")
			default:
			}
			wire.sever(false)
			select {
			case <-lost:
			case <-time.After(natstest.Patience):
				t.Error("the first goes on beside the second")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the first ended with %v", err)
		}
	})

	t.Run("a lease that expired while the broker was away is taken again by its holder", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		second, wire := s.Connect(t), &severable{}
		if err := second.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Fatal(err)
		}
		first, err := events.Connect(t.Context(), events.ConnConfig{URL: second.NC.ConnectedUrl(), Options: []nats.Option{nats.SetCustomDialer(wire)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(first.Close)
		held := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if err := lease.Hold(ctx, first, "k", "first", func(ctx context.Context) error { close(held); <-ctx.Done(); return nil }); err != nil {
				t.Error(err)
			}
		})
		<-held
		s.Shutdown()
		wire.sever(true)
		const others = 8 // they ask at different moments, so that some wait for an answer when the broker is back
		for i := range others {
			all.Go(func() {
				if err := lease.Hold(ctx, second, "k", fmt.Sprint("other", i), func(ctx context.Context) error {
					if ctx.Err() == nil {
						t.Error("one that stood by took it")
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			if !events.Sleep(t.Context(), (events.LeaseTTL+time.Second)/others) { // the broker is away for longer than the lease lives
				t.Fatal("the test ended")
			}
		}
		s.Restart(t)
		natstest.Eventually(t, "the broker is back with its buckets", func() bool { return second.Reconcile(t.Context(), events.DefaultStreamOptions()) == nil })
		wire.sever(false) // the holder connects last
		natstest.Eventually(t, "the holder has it again", func() bool {
			owner, err := lease.Holder(t.Context(), second, "k")
			return err == nil && owner == "first"
		})
		cancel()
		all.Wait()
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

// severable dials connections that can be severed, and lets none through meanwhile.
type severable struct {
	mu      sync.Mutex
	severed bool
	conns   []net.Conn
}

func (s *severable) Dial(network, address string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.severed {
		return nil, errors.New("severed")
	}
	c, err := net.Dial(network, address) //nolint:noctx // the interface has none
	s.conns = append(s.conns, c)
	return c, err
}

func (s *severable) sever(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.severed = yes
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
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
