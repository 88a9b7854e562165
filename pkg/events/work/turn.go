package work

import (
	"context"
	"sync"
)

// Turn is the place of a handler in the order of the stream, among those of one bank that Run calls at once. The zero
// Turn waits for nobody.
type Turn struct {
	before <-chan struct{} // closed when all earlier turns have passed
	own    *passed
}

// passed is closed when a turn and all before it have passed.
type passed struct {
	once sync.Once
	done chan struct{}
}

// next returns the turn after t.
func (t Turn) next() Turn {
	n := Turn{own: &passed{done: make(chan struct{})}}
	if t.own != nil {
		n.before = t.own.done
	}
	return n
}

// Wait returns when every handler of an earlier event of the bank has returned or called Pass. It returns the error of
// ctx if that ends first.
func (t Turn) Wait(ctx context.Context) error {
	if t.before == nil {
		return nil
	}
	select {
	case <-t.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pass ends the turn as soon as all earlier turns have ended. It does not wait; a second call does nothing. A handler
// that returns has passed.
func (t Turn) Pass() {
	if t.own == nil {
		return
	}
	t.own.once.Do(func() {
		if t.before == nil {
			close(t.own.done)
			return
		}
		select {
		case <-t.before:
			close(t.own.done)
		default: // a handler that failed before its turn
			go func() { <-t.before; close(t.own.done) }()
		}
	})
}

// turns gives the turns of each bank.
type turns struct {
	mu   sync.Mutex
	last map[string]Turn // of the handler begun last; a bank without handlers has none
}

func (t *turns) next(bank string) Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.last[bank].next()
	t.last[bank] = turn
	return turn
}

// pass ends a turn, and forgets the bank where it was the last one.
func (t *turns) pass(bank string, turn Turn) {
	turn.Pass()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last[bank].own != turn.own {
		return
	}
	select {
	case <-turn.own.done:
		delete(t.last, bank)
	default: // an earlier one has not passed
	}
}

type turnKey struct{}

func withTurn(ctx context.Context, t Turn) context.Context {
	if t.own == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the turn of the handler that was called with ctx, the zero Turn unless Config.InTurn is set.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	return t
}
