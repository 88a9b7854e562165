package admission_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// roomy has more places than one bank may have.
func roomy(c *admission.Config) { c.Quick, c.Shared, c.Costly = 8, 8, 2 }

func TestSlowRequestsLeavePlaces(t *testing.T) {
	t.Parallel()
	t.Run("of a kind that was never measured one runs, and the others when it was", func(t *testing.T) {
		t.Parallel()
		d := open(t, roomy)
		first, _ := d.start(recall("loud"))
		if !d.full(recall("loud")) {
			t.Error("a second one runs")
		}
		if d.full(admission.Request{Bank: "loud", Name: "list"}) || d.full(recall("calm")) {
			t.Error("another kind, or another bank, waits for it")
		}
		waits, started := make(chan struct{}), make(chan error)
		second := d.admit(recall("loud"))
		go func() {
			_, err := second.Start(notice{timeout(t), waits, new(sync.Once)})
			started <- err
		}()
		<-waits
		first.End()
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		third, _ := d.start(recall("loud"))
		third.End()
		second.End()
	})
	t.Run("one that waits for the log lets the others of its kind start", func(t *testing.T) {
		t.Parallel()
		d := open(t, roomy)
		first, ctx := d.start(recall("loud"))
		back := admission.Leave(ctx)
		second, _ := d.start(recall("loud"))
		second.End()
		back()
		first.End()
	})
	t.Run("one that gives up its turn does not keep the others of its kind waiting", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.Quick = 1 })
		busy, _ := d.start(recall("calm"))
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		k := d.admit(recall("loud"))
		if _, err := k.Start(gone); err == nil {
			t.Fatal("it found a place")
		}
		k.End()
		busy.End()
		next, _ := d.start(recall("loud"))
		next.End()
	})
	t.Run("a bank has at most half of the quick places", func(t *testing.T) {
		t.Parallel()
		d := open(t, roomy)
		measured, _ := d.start(recall("loud"))
		measured.End()
		for range 4 {
			d.start(recall("loud"))
		}
		if !d.full(recall("loud")) {
			t.Error("a fifth request of one bank runs")
		}
		for _, other := range []string{"a", "b", "c", "d"} {
			d.start(recall(other))
		}
	})
	t.Run("beside another bank that asks, a bank has fewer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := open(t, func(c *admission.Config) { c.Quick, c.Shared = 8, 2 })
			ended, _ := d.start(recall("loud"))
			ended.End()
			d.start(recall("loud"))
			d.start(recall("loud"))
			quiet, _ := d.start(recall("quiet"))
			quiet.End()
			passes(t, 900*time.Millisecond)
			if !d.full(recall("loud")) {
				t.Error("a third request of the loud bank runs within a second of another bank's request")
			}
			passes(t, 200*time.Millisecond)
			d.start(recall("loud"))
			d.start(recall("loud"))
			if d.full(recall("quiet")) {
				t.Error("no place is left for the bank that comes back")
			}
		})
	})
	t.Run("who waits in the quick lane while its kind turns out to be costly goes to the other", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.Quick, c.Costly, c.CostlyFrom = 2, 1, 20*time.Millisecond })
		quick, _ := d.start(recall("loud"))
		quick.End()
		slow, _ := d.start(recall("loud"))
		waits, started := make(chan struct{}), make(chan error)
		second := d.admit(recall("loud"))
		go func() {
			_, err := second.Start(notice{timeout(t), waits, new(sync.Once)})
			started <- err
		}()
		<-waits
		passes(t, 100*time.Millisecond)
		slow.End()
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		if !d.full(admission.Request{Bank: "other", Name: "retain", Size: 1 << 12}) {
			t.Error("it runs in a quick place")
		}
		second.End()
	})
	t.Run("cheap requests do not hide that a kind was slow just now", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.CostlyFrom = 20 * time.Millisecond })
		slow, _ := d.start(recall("loud"))
		passes(t, 100*time.Millisecond)
		slow.End()
		for range 30 {
			cheap, _ := d.start(recall("loud"))
			cheap.End()
		}
		d.start(recall("loud"))
		if !d.full(admission.Request{Bank: "other", Name: "retain", Size: 1 << 12}) {
			t.Error("after cheap ones it runs in a quick place")
		}
	})
}

// passes waits until a time has passed, which is what a request takes.
func passes(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}
