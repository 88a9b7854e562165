package work_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// goWork runs a worker until the test ends or stop is called.
func goWork(t *testing.T, c *events.Conn, cfg work.Config, handle func(context.Context, events.Event) error) (stop func()) {
	t.Helper()
	cfg.Durable = "extract"
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := work.Run(ctx, c, cfg, handle); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func pending(t testing.TB, c *events.Conn) int {
	t.Helper()
	n, err := work.Pending(t.Context(), c, "alice")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWorkRetries(t *testing.T) {
	t.Parallel()
	quick := events.Backoff{Min: time.Millisecond, Max: 4 * time.Millisecond}

	t.Run("an event whose handler fails is redelivered, and is a dead letter after its attempts", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		bad, good := natstest.PublishWindow(t, c, 1), natstest.PublishWindow(t, c, 2)
		if n := pending(t, c); n != 2 {
			t.Errorf("%d windows wait, want 2", n)
		}
		var attempts, told atomic.Int64
		goWork(t, c, work.Config{MaxAttempts: 4, Backoff: quick, Concurrency: 1, Dead: func(_ context.Context, e events.Event, d memory.DeadLetter) error {
			if told.Add(1) == 1 {
				return memory.ErrUnavailable // told again
			}
			return nil
		}}, func(_ context.Context, e events.Event) error {
			w, err := e.Window()
			if err != nil || w.ID == good.ID {
				return err
			}
			if n := attempts.Add(1); n <= 4 && int(n) != e.Attempt {
				t.Errorf("attempt %d is called %d", n, e.Attempt)
			}
			if attempts.Load() == 2 {
				panic("twice")
			}
			return errors.New("no model answers")
		})
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		letters, err := deadletter.List(t.Context(), c, deadletter.Filter{Bank: "alice", Stage: "extract"})
		if err != nil || len(letters) != 1 {
			t.Fatalf("%d letters, %v", len(letters), err)
		}
		d := letters[0]
		if d.Reason != "no model answers" || d.Attempts != 5 || d.Bank != "alice" || d.Session != "s" || d.Seq != 1 || d.Subject != "mem.alice.window.s" || d.Last.Before(d.First) {
			t.Errorf("letter %+v", d)
		}
		if got := d.Messages(c.Naming.Messages()); len(got) != 1 || got[0] != bad.First() {
			t.Errorf("the letter holds the messages %v", got)
		}
		if told.Load() != 2 {
			t.Errorf("told of %d dead letters, want 2 tellings of one", told.Load())
		}
		if n, err := deadletter.Count(t.Context(), c, "alice"); n != 1 || err != nil {
			t.Errorf("%d dead, %v", n, err)
		}
	})

	t.Run("a handler rejects an event at once, and the event succeeds when it is sent again", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var heal atomic.Bool
		var handled atomic.Int64
		goWork(t, c, work.Config{Backoff: quick}, func(context.Context, events.Event) error {
			handled.Add(1)
			if heal.Load() {
				return nil
			}
			return fmt.Errorf("extract: %w", &deadletter.PermanentError{Reason: "the answer is no JSON", Output: "certainly!"})
		})
		var letters []memory.DeadLetter
		natstest.Eventually(t, "a dead letter", func() bool {
			letters, _ = deadletter.List(t.Context(), c, deadletter.Filter{})
			return len(letters) == 1 && pending(t, c) == 0
		})
		if letters[0].Output != "certainly!" || letters[0].Attempts != 1 || handled.Load() != 1 {
			t.Errorf("letter %+v after %d", letters[0], handled.Load())
		}
		heal.Store(true)
		if n, err := deadletter.RetryAll(t.Context(), c, deadletter.Filter{}); n != 1 || err != nil {
			t.Fatalf("sent %d again, %v", n, err)
		}
		natstest.Eventually(t, "the window handled", func() bool { return handled.Load() == 2 && pending(t, c) == 0 })
		if letters, err := deadletter.List(t.Context(), c, deadletter.Filter{}); len(letters) != 0 || err != nil {
			t.Errorf("%d letters left, %v", len(letters), err)
		}
	})

	t.Run("an event whose subject does not decode is a dead letter under its token", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if _, err := c.JS.Publish(t.Context(), "mem.%61.window.s", []byte(`{"new":[{"seq":1}]}`)); err != nil {
			t.Fatal(err)
		}
		goWork(t, c, work.Config{}, func(context.Context, events.Event) error { t.Error("it was handled"); return nil })
		natstest.Eventually(t, "its dead letter", func() bool {
			l, err := deadletter.List(t.Context(), c, deadletter.Filter{Bank: "%61"})
			return err == nil && len(l) == 1
		})
	})
}

func TestWorkStops(t *testing.T) {
	t.Parallel()

	t.Run("a running handler has a grace period, and other events are returned at once", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for i := range uint64(20) {
			natstest.PublishWindow(t, c, i+1)
		}
		begun, release := make(chan struct{}, 20), make(chan struct{})
		stop := goWork(t, c, work.Config{Concurrency: 2, Grace: time.Minute}, func(ctx context.Context, _ events.Event) error {
			begun <- struct{}{}
			<-release
			return ctx.Err()
		})
		<-begun
		<-begun
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		close(release)
		<-stopped
		natstest.Eventually(t, "what was begun to be finished", func() bool { return pending(t, c) <= 18 })
		// Another worker receives the others at once, not after the ack wait of 30 s.
		began := time.Now()
		goWork(t, c, work.Config{}, func(context.Context, events.Event) error { return nil })
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the rest took %s", took)
		}
	})

	t.Run("after the grace period a handler's context ends and its event is returned", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		begun := make(chan struct{})
		stop := goWork(t, c, work.Config{Grace: 10 * time.Millisecond, MaxAttempts: 1}, func(ctx context.Context, _ events.Event) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
		<-begun
		stop()
		if n := pending(t, c); n != 1 {
			t.Errorf("%d windows wait, want 1", n)
		}
		goWork(t, c, work.Config{}, func(context.Context, events.Event) error { return nil })
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
	})

	t.Run("a slow handler keeps its event by progress acknowledgements", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var calls atomic.Int64
		goWork(t, c, work.Config{AckWait: time.Second, Concurrency: 3}, func(ctx context.Context, _ events.Event) error {
			calls.Add(1)
			slow, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
			defer cancel()
			<-slow.Done() // more than twice the ack wait
			return nil
		})
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		if calls.Load() != 1 {
			t.Errorf("it was handled %d times", calls.Load())
		}
	})

	t.Run("work goes on when the server comes back", func(t *testing.T) {
		t.Parallel()
		s := natstest.StartServer(t)
		c := s.Connect(t)
		if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
			t.Fatal(err)
		}
		goWork(t, c, work.Config{AckWait: time.Second}, func(context.Context, events.Event) error { return nil })
		natstest.PublishWindow(t, c, 1)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		s.Shutdown()
		s.Restart(t)
		natstest.Eventually(t, "the connection", c.NC.IsConnected)
		natstest.PublishWindow(t, c, 2)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
	})
}
