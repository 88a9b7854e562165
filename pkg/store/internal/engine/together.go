package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
)

// Sender is an Engine that can send several statements in one round trip (Tx.Together).
type Sender interface {
	// Send sends statements, which the database runs in order.
	Send(t *Tx, statements []*Statement) error
	// Receive waits until the first n of the statements sent last have run, and sets the answer of each.
	Receive(t *Tx, n int) error
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
// up to its next statement with a result; then all of these statements are sent, and each function goes on as soon as its own
// is answered. A function must not depend on what another one does to the database. The first error ends all of them.
func (t *Tx) Together(fns ...func(*Tx) error) error {
	waiting := make([]func(*Tx, func() bool) error, len(fns))
	for i, fn := range fns {
		waiting[i] = func(t *Tx, _ func() bool) error { return fn(t) }
	}
	return t.Interleave(waiting...)
}

// Interleave is Together of functions that may wait for each other: rest returns when the others went on, or false when
// that is over because one of them failed. What a function does when rest returned it does while the database works for the
// others, where there is something to send. Where the functions run one after the other rest returns at once, so what a
// function waits for is done by an earlier one.
func (t *Tx) Interleave(fns ...func(t *Tx, rest func() bool) error) error {
	if _, ok := t.engine.(Sender); !ok || len(fns) < 2 {
		for _, fn := range fns {
			if err := fn(t, func() bool { return true }); err != nil {
				return err
			}
		}
		return nil
	}
	turns, stop := t.turns(fns)
	defer stop()
	for i := range turns.next {
		if err := turns.take(i); err != nil {
			return err
		}
	}
	for turns.running > 0 {
		if err := turns.round(t); err != nil {
			return err
		}
	}
	return nil
}

// turns are functions of which one runs at a time.
type turns struct {
	next    []func() ([]*Statement, bool) // runs a function up to its next statements; nil when it has ended
	errs    []error
	needs   []int        // how many of asked a function waits for; 0 for one that waits for other functions
	asked   []*Statement // to send
	running int
}

func (t *Tx) turns(fns []func(t *Tx, rest func() bool) error) (out *turns, stop func()) {
	out = &turns{next: make([]func() ([]*Statement, bool), len(fns)), errs: make([]error, len(fns)), needs: make([]int, len(fns)), running: len(fns)}
	stops := make([]func(), len(fns))
	for i, fn := range fns {
		out.next[i], stops[i] = iter.Pull(func(yield func([]*Statement) bool) {
			inner := *t
			inner.send = func(list []*Statement) error {
				if !yield(list) {
					return errStopped
				}
				return nil
			}
			out.errs[i] = fn(&inner, func() bool { return yield(nil) })
		})
	}
	return out, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// take runs a function up to its next statements.
func (o *turns) take(i int) error {
	asked, more := o.next[i]()
	if !more {
		o.running, o.next[i] = o.running-1, nil
		return o.errs[i]
	}
	o.asked = append(o.asked, asked...)
	if o.needs[i] = 0; len(asked) > 0 {
		o.needs[i] = len(o.asked)
	}
	return nil
}

// waits reports whether a function waits for others.
func (o *turns) waits(i int) bool { return o.next[i] != nil && o.needs[i] == 0 }

// round sends what was asked, and lets each function go on once.
func (o *turns) round(t *Tx) error {
	needs := slices.Clone(o.needs)
	sent := len(o.asked)
	if err := t.sendAll(o.asked); err != nil {
		return err
	}
	o.asked = nil
	for i := range needs { // while the database works
		if needs[i] == 0 && o.waits(i) {
			if err := o.take(i); err != nil {
				return err
			}
		}
	}
	for i, n := range needs {
		if n == 0 || o.next[i] == nil {
			continue
		}
		if err := t.receive(n); err != nil {
			return err
		}
		if err := o.take(i); err != nil {
			return err
		}
	}
	if sent == 0 {
		return nil
	}
	for i := range needs { // what these waited for may have come
		if needs[i] == 0 && o.waits(i) {
			if err := o.take(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendAll sends statements. Among functions that run together they are answered when it returns.
func (t *Tx) sendAll(list []*Statement) error {
	switch {
	case len(list) == 0:
		return nil
	case t.send != nil:
		return t.send(list)
	}
	return t.engine.(Sender).Send(t, list)
}

// receive waits for the answers to the first n of the statements sent.
func (t *Tx) receive(n int) error {
	if t.send != nil {
		return nil
	}
	return t.engine.(Sender).Receive(t, n)
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
	if err := t.sendAll([]*Statement{s}); err != nil {
		return nil, err
	}
	if t.send != nil {
		return s.Answer, t.ctx.Err()
	}
	return s.Answer, t.receive(1)
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
