package engine

import (
	"context"
	"errors"
	"iter"
)

// Sender is an Engine that can send several statements in one round trip (Tx.Together).
type Sender interface {
	// Send runs statements, in order, and sets the answer of each.
	Send(t *Tx, statements []*Statement) error
}

// Statement is one of those that go to the database together.
type Statement struct {
	Query  string
	Args   []any
	Answer any // the engine's own, which the driver returns when the statement is run with AnswerOf its context
}

type answerKey struct{}

// AnswerOf returns the answer that a statement with this context has already; nil for none.
func AnswerOf(ctx context.Context) any { return ctx.Value(answerKey{}) }

// errStopped ends a function that waits for an answer when another one failed.
var errStopped = errors.New("another statement of the transaction failed")

// Sends reports whether the engine is a Sender.
func (t *Tx) Sends() bool {
	_, ok := t.engine.(Sender)
	return ok
}

// Together runs functions whose statements go to the database in common round trips, where the engine is a Sender, and else
// one after the other. Each sees the transaction as its argument. Of several functions one runs at a time, in their order,
// up to its next statement with a result; then all of these statements are sent, and the functions go on. A function must
// not depend on what another one does to the database. The first error ends all of them.
func (t *Tx) Together(fns ...func(*Tx) error) error {
	waiting := make([]func(*Tx, func() bool) error, len(fns))
	for i, fn := range fns {
		waiting[i] = func(t *Tx, _ func() bool) error { return fn(t) }
	}
	return t.Interleave(waiting...)
}

// Interleave is Together of functions that may wait for each other: rest returns when the others went on, or false when
// that is over because one of them failed. Where they run one after the other it returns at once, so what a function waits
// for is done by an earlier one.
func (t *Tx) Interleave(fns ...func(t *Tx, rest func() bool) error) error {
	sender, ok := t.engine.(Sender)
	if !ok || len(fns) < 2 {
		for _, fn := range fns {
			if err := fn(t, func() bool { return true }); err != nil {
				return err
			}
		}
		return nil
	}
	send := t.send
	if send == nil {
		send = func(list []*Statement) error {
			if len(list) == 0 {
				return nil
			}
			return sender.Send(t, list)
		}
	}
	errs := make([]error, len(fns))
	next := make([]func() ([]*Statement, bool), len(fns))
	for i, fn := range fns {
		var stop func()
		next[i], stop = iter.Pull(func(yield func([]*Statement) bool) {
			inner := *t
			inner.send = func(list []*Statement) error {
				if !yield(list) {
					return errStopped
				}
				return nil
			}
			errs[i] = fn(&inner, func() bool { return yield(nil) })
		})
		defer stop()
	}
	for running := len(fns); running > 0; {
		var list []*Statement
		for i := range next {
			if next[i] == nil {
				continue
			}
			asked, more := next[i]()
			if !more {
				running, next[i] = running-1, nil
				if errs[i] != nil {
					return errs[i]
				}
			}
			list = append(list, asked...)
		}
		if running == 0 {
			break
		}
		if err := send(list); err != nil {
			return err
		}
	}
	return nil
}

// Apart returns the transaction for statements that go at once, among functions that run together too: for one that holds a
// lock.
func (t *Tx) Apart() *Tx {
	other := *t
	other.send = nil
	return &other
}

// Answer runs a statement of a Sender's dialect and returns its answer: among functions that run together with the statements
// of the others, and else at once.
func (t *Tx) Answer(query string, args []any) (any, error) {
	s := &Statement{Query: query, Args: args}
	if t.send == nil {
		err := t.engine.(Sender).Send(t, []*Statement{s})
		return s.Answer, err
	}
	if err := t.send([]*Statement{s}); err != nil {
		return nil, err
	}
	return s.Answer, t.ctx.Err()
}

// asks returns the context to run a statement with. Among functions that run together it waits for the answer.
func (t *Tx) asks(query string, args []any) (context.Context, error) {
	if t.send == nil {
		return t.ctx, nil
	}
	a, err := t.Answer(query, args)
	if err != nil {
		return nil, err
	}
	return context.WithValue(t.ctx, answerKey{}, a), nil
}
