package consolidate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// errReplaced ends consolidation on a store that another has taken the place of.
var errReplaced = errors.New("the store was replaced")

// drainWithin is how long the outbox may take to be published before a store is replaced.
const drainWithin = 10 * time.Second

// Active is the active consolidator, as seen by who wants to put another store in the place of its own. It is safe for
// concurrent use.
type Active struct {
	loop      *loop
	erasing   chan struct{} // held by who erases from the log, or keeps it from being erased from
	replacing chan replacement
	replaced  atomic.Bool
}

// replacement asks the loop to pause and to call f.
type replacement struct {
	ctx  context.Context //nolint:containedctx // of the caller of f, for one call
	f    func(ctx context.Context, at kv.Progress) error
	done chan error // has room for one
}

func newActive(l *loop) *Active {
	a := &Active{loop: l, erasing: make(chan struct{}, 1), replacing: make(chan replacement)}
	l.replacing = a.replacing
	return a
}

// Applied returns how far the store is.
func (a *Active) Applied() kv.Progress { return *a.loop.applied.Load() }

// HoldErasures keeps forgotten text from being erased from the log until release is called. What is erased already is
// noted there when it returns. The store forgets as ever.
func (a *Active) HoldErasures(ctx context.Context) (release func(), err error) {
	select {
	case a.erasing <- struct{}{}:
		return func() {
			if !a.replaced.Load() {
				<-a.erasing
			}
		}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Replace pauses between two transactions, waits until every committed change is published, and calls f with the position
// of the store, which stays as it is until f returns. After nil the Consolidator begins anew, on what its Store is then;
// after an error, which is returned, it goes on. f is to be quick: whatever is appended waits for it.
func (a *Active) Replace(ctx context.Context, f func(ctx context.Context, at kv.Progress) error) error {
	r := replacement{ctx, f, make(chan error, 1)}
	select {
	case a.replacing <- r:
		err := <-r.done
		a.replaced.Store(err == nil)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replace carries a replacement out, in the goroutine that changes the store. The error is errReplaced after a success;
// another one of the replacement does not end the loop.
func (l *loop) replace(r replacement) error {
	err := l.drain(r.ctx)
	if err == nil {
		err = r.f(r.ctx, *l.applied.Load())
	}
	r.done <- err
	if err == nil {
		return errReplaced
	}
	return nil
}

// drain waits until every committed change is published.
func (l *loop) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainWithin)
	defer cancel()
	signal(l.committed)
	tick := time.NewTicker(tellAfter)
	defer tick.Stop()
	for {
		entries, err := l.deps.Store.Outbox(ctx, 0, 1)
		if err == nil && len(entries) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("changes are not published within %s: %w", drainWithin, errors.Join(memory.ErrUnavailable, err))
		}
	}
}
