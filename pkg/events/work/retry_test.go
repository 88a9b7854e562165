package work_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestLater(t *testing.T) {
	t.Parallel()
	quick := events.Backoff{Min: time.Millisecond, Max: 2 * time.Millisecond}
	away := fmt.Errorf("the model: %w", memory.ErrUnavailable)

	t.Run("postponed events use no attempts", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var calls atomic.Int64
		goWork(t, c, work.Config{MaxAttempts: 3, Backoff: quick, Patience: time.Hour}, func(context.Context, events.Event) error {
			switch n := calls.Add(1); {
			case n == 2 || n == 9:
				return errors.New("a bad answer")
			case n < 12:
				return work.RetryLater(away)
			}
			return nil
		})
		natstest.Eventually(t, "an empty queue", func() bool { return pending(t, c) == 0 })
		if n, err := deadletter.Count(t.Context(), c, "alice"); n != 0 || err != nil || calls.Load() != 12 {
			t.Errorf("%d dead after %d calls, %v", n, calls.Load(), err)
		}
	})
	t.Run("bad answers between are counted together", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var calls atomic.Int64
		goWork(t, c, work.Config{MaxAttempts: 3, Backoff: quick}, func(context.Context, events.Event) error {
			if calls.Add(1)%3 == 0 {
				return &deadletter.OutputError{Err: errors.New("a bad answer"), Output: "certainly!", Prompt: "extract/1"}
			}
			return work.RetryLater(away)
		})
		var letters []memory.DeadLetter
		natstest.Eventually(t, "a dead letter", func() bool {
			letters, _ = deadletter.List(t.Context(), c, deadletter.Filter{})
			return len(letters) == 1
		})
		if l := letters[0]; calls.Load() != 9 || l.Output != "certainly!" || l.Prompt != "extract/1" || l.Reason != "a bad answer" {
			t.Errorf("letter %+v after %d calls", l, calls.Load())
		}
	})
	t.Run("patience ends", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var calls atomic.Int64
		goWork(t, c, work.Config{MaxAttempts: 2, Backoff: quick, Patience: 7 * time.Millisecond}, func(context.Context, events.Event) error {
			calls.Add(1)
			return work.RetryLater(away)
		})
		natstest.Eventually(t, "a dead letter", func() bool { n, err := deadletter.Count(t.Context(), c, "alice"); return err == nil && n == 1 })
		// Waits of 1, 2, 2 and 2 ms are 7 ms; then two deliveries count.
		if n := calls.Load(); n != 6 {
			t.Errorf("dead after %d deliveries, want 6", n)
		}
	})
	t.Run("another worker restarts the count for an event that outlived its attempts", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var off atomic.Int64
		stop := goWork(t, c, work.Config{MaxAttempts: 2, Backoff: quick}, func(context.Context, events.Event) error {
			off.Add(1)
			return work.RetryLater(away)
		})
		natstest.Eventually(t, "five deliveries", func() bool { return off.Load() >= 5 })
		stop()
		var bad atomic.Int64
		goWork(t, c, work.Config{MaxAttempts: 2, Backoff: quick}, func(context.Context, events.Event) error {
			bad.Add(1)
			return errors.New("a bad answer")
		})
		natstest.Eventually(t, "a dead letter", func() bool { n, err := deadletter.Count(t.Context(), c, "alice"); return err == nil && n == 1 })
		if n := bad.Load(); n != 2 {
			t.Errorf("dead after %d bad answers, want 2", n)
		}
	})
	t.Run("RetryLater(nil) is nil, and the cause is preserved", func(t *testing.T) {
		t.Parallel()
		if err := work.RetryLater(nil); err != nil {
			t.Errorf("got %v", err)
		}
		if err := work.RetryLater(away); !errors.Is(err, memory.ErrUnavailable) || err.Error() != away.Error() {
			t.Errorf("got %v", err)
		}
	})
}

func TestALongAnswerIsCutBeforeThePayload(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	e := events.Event{Stream: c.Naming.Windows(), Seq: 1, BankToken: "alice", Subject: "mem.alice.window.s", Data: []byte(`{"new":[{"seq":7}]}`)}
	d := deadletter.New("extract", e, &deadletter.OutputError{Err: errors.New("no JSON"), Output: strings.Repeat("é", 1<<20)}, time.Unix(1, 0))
	if err := deadletter.Publish(t.Context(), c, d); err != nil {
		t.Fatal(err)
	}
	letters, err := deadletter.List(t.Context(), c, deadletter.Filter{})
	if err != nil || len(letters) != 1 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	if l := letters[0]; len(l.Output) != 4096 || l.Reason != "no JSON" || len(l.Messages(c.Naming.Messages())) != 1 {
		t.Errorf("output of %d bytes, reason %q, messages %v", len(l.Output), l.Reason, l.Messages(c.Naming.Messages()))
	}
}
