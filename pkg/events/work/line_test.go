package work_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// windowsOf publishes windows of one bank.
func windowsOf(t *testing.T, c *events.Conn, bank memory.BankID, n int) {
	t.Helper()
	for seq := range uint64(n) {
		w := memory.Window{ID: memory.NewWindowID(bank, "s", seq+1, seq+1, 0), Bank: bank, Session: "s", New: []memory.WindowMessage{{Seq: seq + 1}}}
		if err := c.PublishWindow(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
}

// ackPending counts the events that were delivered and that nobody has acknowledged.
func ackPending(t *testing.T, c *events.Conn) int {
	t.Helper()
	cons, err := c.JS.Consumer(t.Context(), c.Naming.Windows(), "extract")
	if err != nil {
		return -1 // the worker has not made it yet
	}
	return cons.CachedInfo().NumAckPending
}

func TestBanksTakeTurns(t *testing.T) {
	t.Parallel()
	for _, handlers := range []int{1, 3} {
		c := natstest.Start(t)
		windowsOf(t, c, "loud", 40)
		windowsOf(t, c, "quiet", 3)
		var mu sync.Mutex
		var order []memory.BankID
		last := map[memory.BankID]uint64{}
		release := make(chan struct{})
		goWork(t, c, work.Config{Concurrency: handlers, Ahead: 64}, func(_ context.Context, e events.Event) error {
			mu.Lock()
			order = append(order, e.Bank)
			if handlers == 1 && e.Seq <= last[e.Bank] {
				t.Errorf("window %d of %s comes after %d", e.Seq, e.Bank, last[e.Bank])
			}
			last[e.Bank] = e.Seq
			mu.Unlock()
			<-release
			return nil
		})
		natstest.Eventually(t, "everything is taken ahead", func() bool { return ackPending(t, c) == 43 })
		for n := range 43 { // one handler ends, and the next begins: all take equally long
			natstest.Eventually(t, "every handler is busy", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(order) == min(n+handlers, 43)
			})
			release <- struct{}{}
		}
		natstest.Eventually(t, "an empty queue", func() bool { return ackPending(t, c) == 0 })
		mu.Lock()
		defer mu.Unlock()
		at := 0
		for n := 0; n < 3; at++ {
			if order[at] == "quiet" {
				n++
			}
		}
		if most := handlers + 2*3 + handlers; len(order) != 43 || at > most {
			t.Errorf("with %d handlers the quiet bank's windows began within the first %d of %d, expected %d: %v", handlers, at, len(order), most, order[:at])
		}
	}
}

// TestAnIdleProcessGetsWhatABusyOneHolds blocks the handler of a process that holds all windows, and starts another. A
// process that has no room for more asks for none.
func TestAnIdleProcessGetsWhatABusyOneHolds(t *testing.T) {
	t.Parallel()
	t.Run("room for more", func(t *testing.T) { t.Parallel(); idleProcessGetsWindows(t, 64) })
	t.Run("no room", func(t *testing.T) { t.Parallel(); idleProcessGetsWindows(t, 19) })
}

func idleProcessGetsWindows(t *testing.T, ahead int) {
	t.Helper()
	c := natstest.Start(t)
	windowsOf(t, c, "loud", 20)
	release := make(chan struct{})
	stop := goWork(t, c, work.Config{Concurrency: 1, Ahead: ahead}, func(context.Context, events.Event) error { <-release; return nil })
	natstest.Eventually(t, "everything is taken ahead", func() bool { return ackPending(t, c) == 20 })
	var done atomic.Int64
	var seqs sync.Map
	goWork(t, c, work.Config{Concurrency: 1, Ahead: ahead}, func(_ context.Context, e events.Event) error {
		seqs.Store(e.Seq, true)
		done.Add(1)
		return nil
	})
	natstest.Eventually(t, "the idle process has most of them", func() bool { return done.Load() >= 10 })
	close(release)
	natstest.Eventually(t, "an empty queue", func() bool { return ackPending(t, c) == 0 })
	stop()
	if n := pendingOf(t, c, "loud"); n != 0 {
		t.Errorf("%d windows are left", n)
	}
}

// TestAStopGivesBackWhatWaits stops a process that holds windows: another has them at once, and none is lost.
func TestAStopGivesBackWhatWaits(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	windowsOf(t, c, "loud", 20)
	release := make(chan struct{})
	stop := goWork(t, c, work.Config{Concurrency: 1, Ahead: 64, AckWait: time.Minute}, func(context.Context, events.Event) error { <-release; return nil })
	natstest.Eventually(t, "everything is taken ahead", func() bool { return ackPending(t, c) == 20 })
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	var mu sync.Mutex
	got := map[uint64]bool{}
	goWork(t, c, work.Config{Concurrency: 1, Ahead: 64, AckWait: time.Minute}, func(_ context.Context, e events.Event) error {
		mu.Lock()
		defer mu.Unlock()
		got[e.Seq] = true
		return nil
	})
	natstest.Eventually(t, "all but the one in its handler are worked on", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= 19
	})
	close(release)
	<-stopped
	natstest.Eventually(t, "nothing is left", func() bool { return pendingOf(t, c, "loud") == 0 })
}

func pendingOf(t *testing.T, c *events.Conn, bank memory.BankID) int {
	t.Helper()
	n, err := work.Pending(t.Context(), c, bank)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestABankLeavesHandlersToOthers(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	windowsOf(t, c, "loud", 40)
	var loud atomic.Int64
	quiet, release := make(chan struct{}), make(chan struct{})
	goWork(t, c, work.Config{Concurrency: 8, Ahead: 64}, func(_ context.Context, e events.Event) error {
		if e.Bank == "quiet" {
			close(quiet)
			return nil
		}
		loud.Add(1)
		<-release
		return nil
	})
	defer close(release)
	natstest.Eventually(t, "six handlers of eight for a bank that is alone", func() bool { return loud.Load() == 6 })
	windowsOf(t, c, "quiet", 1)
	select {
	case <-quiet:
	case <-time.After(natstest.Patience):
		t.Fatal("the handlers of the loud bank hold up the quiet one")
	}
	if n := loud.Load(); n != 6 {
		t.Errorf("the loud bank has %d handlers of 8, expected 6", n)
	}
}

// TestAProcessAloneKeepsItsOrder publishes windows for some seconds to a process whose handlers are blocked, so that they
// wait in it and none at the broker. Nothing may go back to the queue: it would come again behind later windows.
func TestAProcessAloneKeepsItsOrder(t *testing.T) {
	t.Parallel()
	conn := natstest.Start(t)
	var mu sync.Mutex
	var began []uint64
	release := make(chan struct{})
	goWork(t, conn, work.Config{Concurrency: 32, Ahead: 1 << 15, InTurn: true}, func(ctx context.Context, e events.Event) error {
		<-release
		if err := work.TurnOf(ctx).Wait(ctx); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		began = append(began, e.Seq)
		return nil
	})
	windows := 0
	for until := time.Now().Add(3500 * time.Millisecond); time.Now().Before(until); { // the line is looked at once a second
		windows++
		natstest.PublishWindow(t, conn, uint64(windows))
	}
	close(release)
	natstest.Eventually(t, "an empty queue", func() bool { return pending(t, conn) == 0 })
	mu.Lock()
	defer mu.Unlock()
	if len(began) != windows || !slices.IsSorted(began) {
		t.Errorf("%d of %d windows of a bank were handled; in ascending order: %t", len(began), windows, slices.IsSorted(began))
	}
}
