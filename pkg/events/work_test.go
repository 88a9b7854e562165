package events_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func putWindow(t testing.TB, c *events.Conn, seq uint64) memory.Window {
	t.Helper()
	w := memory.Window{ID: memory.NewWindowID("alice", "s", seq, seq, 0), Bank: "alice", Session: "s", New: []memory.WindowMessage{{Seq: seq}}, Trigger: memory.TriggerCount}
	if err := c.PublishWindow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// goWork works until the test ends or stop is called.
func goWork(t *testing.T, c *events.Conn, cfg events.WorkConfig, handle func(context.Context, events.Event) error) (stop func()) {
	t.Helper()
	cfg.Durable = "extract"
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Work(ctx, cfg, handle); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func pending(t testing.TB, c *events.Conn) int {
	t.Helper()
	n, err := c.PendingWindows(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWorkRetries(t *testing.T) {
	t.Parallel()
	quick := events.Backoff{Min: time.Millisecond, Max: 4 * time.Millisecond}

	t.Run("an event whose handler fails comes again, and is dead after its attempts", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		bad, good := putWindow(t, c, 1), putWindow(t, c, 2)
		if n := pending(t, c); n != 2 {
			t.Errorf("%d windows wait, want 2", n)
		}
		var attempts, told atomic.Int64
		goWork(t, c, events.WorkConfig{MaxAttempts: 4, Backoff: quick, Concurrency: 1, Dead: func(_ context.Context, e events.Event, d events.DeadLetter) error {
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
		letters, err := c.DeadLetters(t.Context(), events.DeadFilter{Bank: "alice", Stage: "extract"})
		if err != nil || len(letters) != 1 {
			t.Fatalf("%d letters, %v", len(letters), err)
		}
		d := letters[0]
		if d.Reason != "no model answers" || d.Attempts != 5 || d.Bank != "alice" || d.Session != "s" || d.Seq != 1 || d.Subject != "mem.alice.window.s" || d.Last.Before(d.First) {
			t.Errorf("letter %+v", d)
		}
		if got := d.Messages(c.Naming); len(got) != 1 || got[0] != bad.First() {
			t.Errorf("the letter holds the messages %v", got)
		}
		if told.Load() != 2 {
			t.Errorf("told of %d dead letters, want 2 tellings of one", told.Load())
		}
		if n, err := c.CountDead(t.Context(), "alice"); n != 1 || err != nil {
			t.Errorf("%d dead, %v", n, err)
		}
	})

	t.Run("a handler gives an event up at once, and it works when sent again", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		putWindow(t, c, 1)
		var heal atomic.Bool
		var handled atomic.Int64
		goWork(t, c, events.WorkConfig{Backoff: quick}, func(context.Context, events.Event) error {
			handled.Add(1)
			if heal.Load() {
				return nil
			}
			return fmt.Errorf("extract: %w", events.DeadWithOutput("the answer is no JSON", "certainly!"))
		})
		var letters []events.DeadLetter
		natstest.Eventually(t, "a dead letter", func() bool {
			letters, _ = c.DeadLetters(t.Context(), events.DeadFilter{})
			return len(letters) == 1 && pending(t, c) == 0
		})
		if letters[0].Output != "certainly!" || letters[0].Attempts != 1 || handled.Load() != 1 {
			t.Errorf("letter %+v after %d", letters[0], handled.Load())
		}
		heal.Store(true)
		if n, err := c.RetryAllDead(t.Context(), events.DeadFilter{}); n != 1 || err != nil {
			t.Fatalf("sent %d again, %v", n, err)
		}
		natstest.Eventually(t, "the window handled", func() bool { return handled.Load() == 2 && pending(t, c) == 0 })
		if letters, err := c.DeadLetters(t.Context(), events.DeadFilter{}); len(letters) != 0 || err != nil {
			t.Errorf("%d letters left, %v", len(letters), err)
		}
	})

	t.Run("a subject that does not decode is dead under its token", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if _, err := c.JS.Publish(t.Context(), "mem.%61.window.s", []byte(`{"new":[{"seq":1}]}`)); err != nil {
			t.Fatal(err)
		}
		goWork(t, c, events.WorkConfig{}, func(context.Context, events.Event) error { t.Error("it was handled"); return nil })
		natstest.Eventually(t, "its dead letter", func() bool {
			l, err := c.DeadLetters(t.Context(), events.DeadFilter{Bank: "%61"})
			return err == nil && len(l) == 1
		})
	})
}

func TestWorkStops(t *testing.T) {
	t.Parallel()

	t.Run("a running handler has its grace, and the rest is handed back at once", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		for i := range uint64(20) {
			putWindow(t, c, i+1)
		}
		begun, release := make(chan struct{}, 20), make(chan struct{})
		stop := goWork(t, c, events.WorkConfig{Concurrency: 2, Grace: time.Minute}, func(ctx context.Context, _ events.Event) error {
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
		// Another worker has the others at once, not after the ack wait of 30 s.
		began := time.Now()
		goWork(t, c, events.WorkConfig{}, func(context.Context, events.Event) error { return nil })
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the rest took %s", took)
		}
	})

	t.Run("after its grace a handler's context ends and its event is handed back", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		putWindow(t, c, 1)
		begun := make(chan struct{})
		stop := goWork(t, c, events.WorkConfig{Grace: 10 * time.Millisecond, MaxAttempts: 1}, func(ctx context.Context, _ events.Event) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
		<-begun
		stop()
		if n := pending(t, c); n != 1 {
			t.Errorf("%d windows wait, want 1", n)
		}
		goWork(t, c, events.WorkConfig{}, func(context.Context, events.Event) error { return nil })
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
	})

	t.Run("a slow handler keeps its event by signs of life", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		putWindow(t, c, 1)
		var calls atomic.Int64
		goWork(t, c, events.WorkConfig{AckWait: time.Second, Concurrency: 3}, func(ctx context.Context, _ events.Event) error {
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
		goWork(t, c, events.WorkConfig{AckWait: time.Second}, func(context.Context, events.Event) error { return nil })
		putWindow(t, c, 1)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		s.Shutdown()
		s.Restart(t)
		natstest.Eventually(t, "the connection", c.NC.IsConnected)
		putWindow(t, c, 2)
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
	})
}
