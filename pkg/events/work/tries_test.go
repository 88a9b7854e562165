package work_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var errBadAnswer = errors.New("a bad answer")

// passed has all windows delivered, and given back before anybody tried them, so many times.
func passed(t *testing.T, c *events.Conn, windows, times int) {
	t.Helper()
	cons, err := c.JS.CreateConsumer(t.Context(), c.Naming.Windows(), jetstream.ConsumerConfig{Durable: "extract", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 30 * time.Second, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 4096})
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		for given := 0; given < windows; {
			batch, err := cons.Fetch(windows - given)
			if err != nil {
				t.Fatal(err)
			}
			for m := range batch.Messages() {
				given++
				if err := m.Nak(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// letterOf waits for the only dead letter.
func letterOf(t *testing.T, c *events.Conn) memory.DeadLetter {
	t.Helper()
	var letters []memory.DeadLetter
	natstest.Eventually(t, "a dead letter", func() bool {
		letters, _ = deadletter.List(t.Context(), c, deadletter.Filter{})
		return len(letters) == 1 && pending(t, c) == 0
	})
	return letters[0]
}

func TestOnlyTriesAreAttempts(t *testing.T) {
	t.Parallel()
	const attempts = 3
	quick := events.Backoff{Min: time.Millisecond, Max: 2 * time.Millisecond}
	for _, times := range []int{0, 1, attempts - 1, attempts, 4 * attempts} {
		t.Run(fmt.Sprintf("after %d deliveries that nobody tried", times), func(t *testing.T) {
			t.Parallel()
			c := natstest.Start(t)
			natstest.PublishWindow(t, c, 1)
			passed(t, c, 1, times)
			var calls atomic.Int64
			goWork(t, c, work.Config{MaxAttempts: attempts, Backoff: quick}, func(context.Context, events.Event) error {
				calls.Add(1)
				return errBadAnswer
			})
			if l := letterOf(t, c); calls.Load() != attempts || l.Attempts != attempts {
				t.Errorf("dead after %d tries, by its letter %d, expected %d", calls.Load(), l.Attempts, attempts)
			}
		})
	}
	t.Run("of every process, and a stop is none", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		natstest.PublishWindow(t, c, 1)
		var calls atomic.Int64
		for n := range int64(attempts - 1) {
			stop := goWork(t, c, work.Config{MaxAttempts: attempts, Backoff: quick, Grace: time.Millisecond}, func(ctx context.Context, _ events.Event) error {
				if calls.Add(1) == 2*n+1 {
					return errBadAnswer
				}
				<-ctx.Done()
				return ctx.Err()
			})
			natstest.Eventually(t, "one more failure, and a try after it", func() bool { return calls.Load() == 2*n+2 })
			stop()
		}
		goWork(t, c, work.Config{MaxAttempts: attempts, Backoff: quick}, func(context.Context, events.Event) error {
			calls.Add(1)
			return errBadAnswer
		})
		if l := letterOf(t, c); calls.Load() != 2*(attempts-1)+1 || l.Reason != errBadAnswer.Error() {
			t.Errorf("dead after %d tries: %s", calls.Load(), l.Reason)
		}
	})
}

// TestAWindowThatEndsItsProcessDies has each process that tries a window end, without another word to the broker.
func TestAWindowThatEndsItsProcessDies(t *testing.T) {
	t.Parallel()
	const attempts = 3
	c := natstest.Start(t)
	natstest.PublishWindow(t, c, 1)
	passed(t, c, 1, 1) // of a first delivery, the broker is not told that somebody tries it
	cfg := work.Config{Durable: "extract", MaxAttempts: attempts, AckWait: time.Second, Grace: time.Millisecond}
	for range attempts {
		dying := natstest.Another(t, c)
		ctx, die := context.WithCancel(t.Context())
		if err := work.Run(ctx, dying, cfg, func(context.Context, events.Event) error {
			dying.NC.Close()
			die()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	goWork(t, c, cfg, func(context.Context, events.Event) error { t.Error("it is tried once more"); return nil })
	if l := letterOf(t, c); l.Attempts != attempts || l.Reason != "the process ended during each of 3 attempts" {
		t.Errorf("letter %+v", l)
	}
}

// TestProcessesThatWaitPassLittle has the handlers of two processes wait while each has room for what the other one holds. What
// was passed is not passed soon again. Then each window fails once, which kills none.
func TestProcessesThatWaitPassLittle(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	const windows = 40
	windowsOf(t, c, "loud", windows)
	began := time.Now()
	release := make(chan struct{})
	var mu sync.Mutex
	calls, deliveries := map[uint64]int{}, map[uint64]int{}
	handle := func(_ context.Context, e events.Event) error {
		<-release
		mu.Lock()
		defer mu.Unlock()
		if calls[e.Seq]++; calls[e.Seq] == 1 {
			deliveries[e.Seq] = e.Attempt
			return errBadAnswer
		}
		return nil
	}
	cfg := work.Config{Concurrency: 1, Ahead: 64, MaxAttempts: 2, Backoff: events.Backoff{Min: time.Millisecond, Max: time.Millisecond}}
	goWork(t, c, cfg, handle)
	natstest.Eventually(t, "everything is taken ahead", func() bool { return ackPending(t, c) == windows })
	goWork(t, c, cfg, handle)
	<-time.After(6 * time.Second)
	close(release)
	natstest.Eventually(t, "an empty queue", func() bool { return pendingOf(t, c, "loud") == 0 })
	if n, err := deadletter.Count(t.Context(), c, "loud"); n != 0 || err != nil {
		t.Errorf("%d windows that failed once are dead, %v", n, err)
	}
	// What comes for the n-th time stays for 2^(n-2) s, but once, when the other process is new.
	most, passes := 3+int(math.Log2(1+time.Since(began).Seconds())), 0
	mu.Lock()
	defer mu.Unlock()
	for seq, n := range deliveries {
		passes += n - 1
		if n > most || calls[seq] != 2 {
			t.Errorf("window %d was delivered %d times before its first try, expected %d at most, and tried %d times", seq, n, most, calls[seq])
		}
	}
	if passes == 0 {
		t.Error("no window was passed")
	}
}

// TestANewProcessGetsWhatWasPassed has a process hold windows that were passed so often that they stay for long, and starts another.
func TestANewProcessGetsWhatWasPassed(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	const windows = 20
	windowsOf(t, c, "loud", windows)
	const passes = 12
	passed(t, c, windows, passes)
	release := make(chan struct{})
	defer close(release)
	cfg := work.Config{Concurrency: 1, Ahead: 64, AckWait: time.Hour}
	goWork(t, c, cfg, func(context.Context, events.Event) error { <-release; return nil })
	natstest.Eventually(t, "everything is taken ahead", func() bool {
		cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
		return err == nil && cons.CachedInfo().Delivered.Consumer >= windows*(passes+1)
	})
	var done atomic.Int64
	goWork(t, c, cfg, func(context.Context, events.Event) error { done.Add(1); return nil })
	natstest.Eventually(t, "the new process has some", func() bool { return done.Load() > 1 })
}
