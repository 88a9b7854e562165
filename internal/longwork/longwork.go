// Package longwork bounds how many cores of a process work on long messages, so that everything else always finds one.
//
// A message of 900 kB takes some tenths of a second of a core: it is decoded, searched for secrets and extracted. The stages
// of a process share one Limit and take a place of it for each long message, while they work on it and not while they
// wait.
package longwork

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// From is the size in bytes from which text is long.
const From = 64 << 10

// Limit is a number of places for work on long messages. Whoever waited longest gets the next one. It is safe for
// concurrent use. Nil is no limit.
type Limit struct{ places *semaphore.Weighted }

// New returns a limit of places, at least one.
func New(places int) *Limit { return &Limit{semaphore.NewWeighted(int64(max(1, places)))} }

// Default leaves a core to work that is not long, in a program that has four times as many threads as cores.
func Default() *Limit { return New(runtime.GOMAXPROCS(0)/4 - 1) }

// Begin waits for a place where text of a size is long. The caller calls done, once, when the work has ended. The error
// is that of ctx, which ended first; nothing is to be done then.
func (l *Limit) Begin(ctx context.Context, size int) (done func(), err error) {
	if l == nil || size < From {
		return func() {}, nil
	}
	if err := l.places.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for work on another long message: %w", err)
	}
	return func() { l.places.Release(1) }, nil
}
