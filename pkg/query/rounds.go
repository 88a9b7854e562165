package query

import (
	"context"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// rounds shares what is expensive to find out about a bank among those who ask for it at once. A round serves everybody
// who asked before it began, and nobody who asked later: what they did before must show. The zero value is ready.
type rounds[T any] struct {
	mu    sync.Mutex
	banks map[memory.BankID]*bankRounds[T] // those of which a round is under way
}

// bankRounds are the round of a bank that is under way, and the one that begins when it ends, nil if nobody waits for it.
type bankRounds[T any] struct{ now, next *round[T] }

type round[T any] struct {
	done  chan struct{} // closed when it has ended
	value T
	err   error
	void  bool // whoever it was begun for has gone, and there is no answer
}

// get returns what find does in a round that begins after the call. Who is first in a round calls find, with a context of
// its own.
func (r *rounds[T]) get(ctx context.Context, bank memory.BankID, find func() (T, error)) (T, error) {
	for {
		mine, before, first := r.join(bank)
		if first {
			return r.run(ctx, bank, mine, before, find)
		}
		select {
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-mine.done:
		}
		if !mine.void {
			return mine.value, mine.err
		}
	}
}

// join returns the next round of a bank, the one that it waits for (nil = none), and whether the caller is its first.
func (r *rounds[T]) join(bank memory.BankID) (mine, before *round[T], first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.banks[bank]
	if b == nil {
		if r.banks == nil {
			r.banks = map[memory.BankID]*bankRounds[T]{}
		}
		mine = &round[T]{done: make(chan struct{})}
		r.banks[bank] = &bankRounds[T]{now: mine}
		return mine, nil, true
	}
	if b.next == nil {
		b.next, first = &round[T]{done: make(chan struct{})}, true
	}
	return b.next, b.now, first
}

// run waits for the round before and carries out its own.
func (r *rounds[T]) run(ctx context.Context, bank memory.BankID, mine, before *round[T], find func() (T, error)) (T, error) {
	mine.void = true
	defer r.end(bank, mine)
	if before != nil {
		select {
		case <-ctx.Done():
			return mine.value, ctx.Err()
		case <-before.done:
		}
	}
	value, err := find()
	if ctx.Err() == nil {
		mine.value, mine.err, mine.void = value, err, false
	}
	return value, err
}

// end ends a round, which may not have begun, and lets the next one begin.
func (r *rounds[T]) end(bank memory.BankID, mine *round[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch b := r.banks[bank]; {
	case b.next == mine: // it did not wait for the one before
		b.next = nil
	case b.next == nil:
		delete(r.banks, bank)
	default:
		b.now, b.next = b.next, nil
	}
	close(mine.done)
}
