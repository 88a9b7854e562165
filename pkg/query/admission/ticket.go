package admission

import (
	"context"
	"sync"
	"time"
)

// Ticket is an admitted request. Start and End are called by one goroutine; Leave may be called by any.
type Ticket struct {
	gate    *Gate
	request Request
	lane    *lane
	began   time.Time // when it got the answers' place; zero = it has none
	// measuring ends that others of its kind wait for its measure; nil = none do
	measuring func()

	mu    sync.Mutex
	in    bool          // it holds a place
	since time.Time     // when it got the place
	ran   time.Duration // in places before that
	out   int           // calls of Leave that have not come back
}

// Start waits for a place and returns a context under which Leave works. It returns ctx's error when ctx ends first.
func (t *Ticket) Start(ctx context.Context) (context.Context, error) {
	if t.request.Answers {
		if err := t.gate.answers.enter(ctx, t.request.Bank); err != nil {
			return ctx, err
		}
		t.began = time.Now()
	}
	var err error
	if t.measuring, err = t.gate.awaitMeasured(ctx, t.request); err != nil {
		return ctx, err
	}
	t.lane = t.gate.lane(t.request)
	if err := t.lane.enter(ctx, t.request.Bank); err != nil {
		return ctx, err
	}
	if l := t.gate.lane(t.request); l == t.gate.costly && t.lane != l { // known since it waits
		t.lane.leave(t.request.Bank, 0)
		t.lane = l
		if err := l.enter(ctx, t.request.Bank); err != nil {
			return ctx, err
		}
	}
	t.in, t.since = true, time.Now()
	return context.WithValue(ctx, ticketKey{}, t), nil
}

// End releases everything that the request holds. Every function that Leave returned was called before.
func (t *Ticket) End() {
	if t.in { // whoever gets the place must know what this one took
		t.gate.measure(t.request, t.ran+time.Since(t.since))
		t.step(false)
	}
	t.measured()
	if !t.began.IsZero() {
		t.gate.answers.leave(t.request.Bank, time.Since(t.began))
	}
	t.gate.end(t.request)
}

// measured lets requests of the same kind start that waited until one of them was measured.
func (t *Ticket) measured() {
	if t.measuring != nil {
		t.measuring()
	}
}

// step records that the place was taken or released, and releases it.
func (t *Ticket) step(in bool) {
	now := time.Now()
	if t.in = in; in {
		t.since = now
		return
	}
	took := now.Sub(t.since)
	t.ran += took
	t.lane.leave(t.request.Bank, took)
}

type ticketKey struct{}

// Leave releases the place of the request that ctx belongs to while it waits for something else, and returns the
// function that waits for a place again. Where several goroutines of a request have left, the last to come back takes
// it. A context without a ticket is let through.
func Leave(ctx context.Context) (back func()) {
	t, ok := ctx.Value(ticketKey{}).(*Ticket)
	if !ok {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out++; t.out == 1 && t.in {
		t.step(false)
		t.measured() // what it waits for may take minutes
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.out--; t.out > 0 {
			return
		}
		if err := t.lane.enter(ctx, t.request.Bank); err == nil { // else the request has ended, and holds no place
			t.step(true)
		}
	}
}
