package work_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestPark(t *testing.T) {
	t.Parallel()
	window := func(bank memory.BankID, seq uint64) memory.Window {
		return memory.Window{ID: memory.NewWindowID(bank, "s 1", seq, seq, 0), Bank: bank, Session: "s 1", Trigger: memory.TriggerFlush,
			New: []memory.WindowMessage{{Seq: seq}}}
	}
	// queued returns the only event of the work queue.
	queued := func(t *testing.T, c *events.Conn) events.Event {
		t.Helper()
		s, err := c.JS.Stream(t.Context(), c.Naming.Windows())
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.EventAt(t.Context(), c.Naming.Windows(), s.CachedInfo().State.FirstSeq)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	counts := func(t *testing.T, c *events.Conn, bank memory.BankID, waiting, parked int) {
		t.Helper()
		w, err := work.Pending(t.Context(), c, bank)
		if err != nil {
			t.Fatal(err)
		}
		p, err := work.CountParked(t.Context(), c, bank)
		if err != nil {
			t.Fatal(err)
		}
		if w != waiting || p != parked {
			t.Errorf("%d on the queue and %d parked, want %d and %d", w, p, waiting, parked)
		}
	}
	t.Run("a window that moves is in one stream or both at every step, and in one at the end", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if err := c.PublishWindow(t.Context(), window("alice", 7)); err != nil {
			t.Fatal(err)
		}
		first := queued(t, c)
		for range 2 { // the second as after a crash before the acknowledgement
			if err := work.Park(t.Context(), c, first); err != nil {
				t.Fatal(err)
			}
			counts(t, c, "alice", 1, 1)
		}
		if work.WasParked(first) {
			t.Error("a new window counts as returned")
		}
		acknowledge := func(e events.Event) {
			t.Helper()
			if err := c.Erase(t.Context(), c.Naming.Windows(), e.Seq); err != nil {
				t.Fatal(err)
			}
		}
		acknowledge(first)
		for range 3 { // parked and put back again and again, within the broker's memory of ids
			list, err := work.ParkedWindows(t.Context(), c, "alice")
			if err != nil || len(list) != 1 {
				t.Fatalf("parked %v, %v", list, err)
			}
			for range 2 { // the second as after a crash before the erasure
				if err := work.Unpark(t.Context(), c, list[0]); err != nil {
					t.Fatal(err)
				}
				counts(t, c, "alice", 1, 0)
			}
			back := queued(t, c)
			w, err := back.Window()
			if diff := cmp.Diff(window("alice", 7), w); err != nil || diff != "" || !work.WasParked(back) {
				t.Errorf("put back: %v, returned %v, %s", err, work.WasParked(back), diff)
			}
			if err := work.Park(t.Context(), c, back); err != nil {
				t.Fatal(err)
			}
			acknowledge(back)
			counts(t, c, "alice", 0, 1)
		}
	})
	t.Run("counts tell banks apart, and what is in flight is on the queue or parked", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		if n, err := work.Parked(t.Context(), c); err != nil || len(n) != 0 {
			t.Errorf("nothing is parked: %v, %v", n, err)
		}
		for i, bank := range []memory.BankID{"alice", "al ice", "alice"} {
			if err := c.PublishWindow(t.Context(), window(bank, uint64(i+1))); err != nil {
				t.Fatal(err)
			}
		}
		e := queued(t, c)
		if err := work.Park(t.Context(), c, e); err != nil {
			t.Fatal(err)
		}
		if err := c.Erase(t.Context(), c.Naming.Windows(), e.Seq); err != nil {
			t.Fatal(err)
		}
		counts(t, c, "alice", 1, 1)
		counts(t, c, "al ice", 1, 0)
		n, err := work.Parked(t.Context(), c)
		if diff := cmp.Diff(map[string]int{"alice": 1}, n); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		flying, err := work.InFlight(t.Context(), c, "alice")
		if diff := cmp.Diff([]memory.Window{window("alice", 1), window("alice", 3)}, flying); err != nil || diff != "" {
			t.Errorf("in flight: %v %s", err, diff)
		}
	})
}
