package admission_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// desk is a gate of which a test takes places.
type desk struct {
	t    *testing.T
	gate *admission.Gate
}

func open(t *testing.T, change func(*admission.Config)) desk {
	t.Helper()
	cfg := admission.Config{Quick: 2, Shared: 2, Costly: 1, CostlyFrom: time.Hour, LargeFrom: 1 << 10, Answers: 2, PerBank: 100, Bytes: 1 << 20}
	if change != nil {
		change(&cfg)
	}
	g, err := admission.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return desk{t, g}
}

func (d desk) admit(r admission.Request) *admission.Ticket {
	d.t.Helper()
	k, err := d.gate.Admit(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return k
}

// start takes a place that is free.
func (d desk) start(r admission.Request) (*admission.Ticket, context.Context) {
	d.t.Helper()
	k := d.admit(r)
	ctx, err := k.Start(timeout(d.t))
	if err != nil {
		d.t.Fatalf("no place for %+v: %v", r, err)
	}
	return k, ctx
}

// full reports whether a request finds no place: only one that would wait notices that its context has ended.
func (d desk) full(r admission.Request) bool {
	d.t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	k := d.admit(r)
	defer k.End()
	_, err := k.Start(ended)
	return err != nil
}

// notice tells once that a request begins to wait.
type notice struct {
	context.Context
	waits chan struct{}
	once  *sync.Once
}

func (n notice) Done() <-chan struct{} {
	n.once.Do(func() { n.waits <- struct{}{} })
	return n.Context.Done()
}

func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func recall(bank string) admission.Request {
	return admission.Request{Bank: bank, Name: "recall", Size: 10}
}

func TestGate(t *testing.T) {
	t.Parallel()
	t.Run("a bank that comes finds a place whatever another bank asks for", func(t *testing.T) {
		t.Parallel()
		d := open(t, nil)
		flood, _ := d.start(recall("flood"))
		if !d.full(recall("flood")) {
			t.Error("one bank has both places")
		}
		if d.full(recall("other")) {
			t.Error("another bank finds none")
		}
		flood.End()
	})
	t.Run("the place that becomes free goes to the bank that has used less", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.Quick = 1 })
		first, _ := d.start(recall("flood"))
		order := make(chan string, 4)
		waits := make(chan struct{})
		run := func(bank string) {
			k := d.admit(recall(bank))
			go func() {
				if _, err := k.Start(notice{timeout(t), waits, new(sync.Once)}); err != nil {
					t.Error(err)
				}
				order <- bank
				k.End()
			}()
			<-waits
		}
		for range 3 {
			run("flood")
		}
		run("other")
		first.End()
		if got := <-order; got != "other" {
			t.Errorf("after a request of the flood, %q came first", got)
		}
		for range 3 {
			<-order
		}
	})
	t.Run("a request that waits for something else holds no place", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.Quick = 1 })
		first, ctx := d.start(recall("a"))
		back := admission.Leave(ctx)
		inner := admission.Leave(ctx) // another goroutine of the same request
		second, _ := d.start(recall("a"))
		inner() // returns at once: the request is still away
		second.End()
		back()
		if !d.full(recall("b")) {
			t.Error("a request that came back holds no place")
		}
		first.End()
		if d.full(recall("b")) {
			t.Error("a request that ended holds its place")
		}
	})
	t.Run("a request whose context ends while it is away takes no place", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.Quick = 1 })
		first := d.admit(recall("a"))
		parent, cancel := context.WithCancel(context.Background())
		ctx, err := first.Start(parent)
		if err != nil {
			t.Fatal(err)
		}
		back := admission.Leave(ctx)
		second, _ := d.start(recall("b"))
		cancel()
		back()
		first.End()
		second.End()
		if d.full(recall("c")) {
			t.Error("a place is lost")
		}
	})
	t.Run("large and slow requests share places of their own", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.CostlyFrom = time.Nanosecond })
		large := admission.Request{Bank: "a", Name: "recall", Size: 1 << 12}
		first, _ := d.start(large)
		if !d.full(admission.Request{Bank: "b", Name: "recall", Size: 1 << 12}) {
			t.Error("two large requests run at once")
		}
		quick, _ := d.start(recall("a"))
		quick.End() // took longer than a nanosecond
		if !d.full(recall("a")) {
			t.Error("a request that took long before runs beside a costly one")
		}
		if d.full(recall("b")) {
			t.Error("a bank waits for the costly requests of another")
		}
		first.End()
	})
	t.Run("what is too much is refused with the time to come again", func(t *testing.T) {
		t.Parallel()
		d := open(t, func(c *admission.Config) { c.PerBank = 2 })
		d.admit(recall("a"))
		d.admit(recall("a"))
		_, err := d.gate.Admit(recall("a"))
		var fe *memory.FieldError
		if !errors.As(err, &fe) || memory.Code(err) != 429 || fe.RetryAfter != time.Second {
			t.Errorf("a third request of a bank: %v", err)
		}
		d.admit(admission.Request{Bank: "b", Name: "retain", Size: 1 << 19}).End()
		if _, err := d.gate.Admit(admission.Request{Bank: "b", Name: "retain", Size: 1 << 21}); memory.Code(err) != 429 {
			t.Errorf("a body above the bound: %v", err)
		}
	})
	t.Run("a closed gate waits for what runs and then refuses", func(t *testing.T) {
		t.Parallel()
		d := open(t, nil)
		k, _ := d.start(recall("a"))
		closed := make(chan struct{})
		go func() { defer close(closed); d.gate.Close(timeout(t), time.Minute) }()
		select {
		case <-closed:
			t.Fatal("the gate closed before its request ended")
		case <-time.After(20 * time.Millisecond):
		}
		k.End()
		<-closed
		if _, err := d.gate.Admit(recall("a")); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("a closed gate: %v", err)
		}
	})
}
