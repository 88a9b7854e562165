package events

import (
	"context"
	"sync"
)

// Turn is the place of a handler among those that Work runs at once. The zero
// Turn waits for nobody.
type Turn struct {
	before <-chan struct{} // closed when it is this one's turn
	mine   *passed
}

// passed is closed once a turn, and all before it, are over.
type passed struct {
	once sync.Once
	done chan struct{}
}

// next is the turn after t.
func (t Turn) next() Turn {
	n := Turn{mine: &passed{done: make(chan struct{})}}
	if t.mine != nil {
		n.before = t.mine.done
	}
	return n
}

// Wait returns when every handler of an event before this one has returned or
// passed its turn on, and with ctx's error if that ends first.
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

// Pass lets the next one in, as soon as it is this one's turn. It does not wait
// for that; a second call does nothing. A handler that returns has passed.
func (t Turn) Pass() {
	if t.mine == nil {
		return
	}
	t.mine.once.Do(func() {
		if t.before == nil {
			close(t.mine.done)
			return
		}
		select {
		case <-t.before:
			close(t.mine.done)
		default: // one that failed ahead of its turn
			go func() { <-t.before; close(t.mine.done) }()
		}
	})
}

type turnKey struct{}

func withTurn(ctx context.Context, t Turn) context.Context {
	if t.mine == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf gives the turn of the handler whose context it is; the zero Turn where
// WorkConfig.InTurn is not set.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	return t
}
