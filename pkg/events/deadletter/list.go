package deadletter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Filter selects dead letters. The zero value selects all.
type Filter struct {
	Bank  string // encoded by events.EncodeToken; "" = all
	Stage string
	After uint64 // only letters with a greater ID
	Limit int    // 0 = no limit
}

func (f Filter) subject(n events.Naming) string {
	bank, stage := f.Bank, events.EncodeToken(f.Stage)
	bank = cmp.Or(bank, "*")
	stage = cmp.Or(stage, "*")
	return n.Subject(bank, events.KindDead, stage)
}

// List returns the dead letters that a filter selects, oldest first. The list is never nil.
func List(ctx context.Context, c *events.Conn, f Filter) ([]memory.DeadLetter, error) {
	letters := []memory.DeadLetter{}
	_, err := ordered.Scan(ctx, c, c.Naming.Dead(), []string{f.subject(c.Naming)}, f.After, func(e events.Event) error {
		letters = append(letters, readLetter(e))
		if f.Limit > 0 && len(letters) >= f.Limit {
			return ordered.ErrSkipRest
		}
		return nil
	})
	return letters, err
}

// Get reads one dead letter by its ID. The error is memory.ErrNotFound if it does not exist.
func Get(ctx context.Context, c *events.Conn, id uint64) (memory.DeadLetter, error) {
	e, err := c.EventIfAny(ctx, c.Naming.Dead(), id)
	if err != nil {
		return memory.DeadLetter{}, fmt.Errorf("dead letter %d: %w", id, err)
	}
	return readLetter(e), nil
}

// Read decodes the dead letter of an event of MEM_DEAD. The error is memory.ErrInvalid.
func Read(e events.Event) (memory.DeadLetter, error) {
	var d memory.DeadLetter
	if err := memory.DecodeEvent(e.Data, &d); err != nil {
		return d, err
	}
	d.ID, d.Bank, d.Trace = e.Seq, e.BankToken, e.Trace()
	return d, nil
}

// readLetter decodes a letter. One that cannot be decoded is returned as a dead letter about itself.
func readLetter(e events.Event) memory.DeadLetter {
	var d memory.DeadLetter
	if json.Unmarshal(e.Data, &d) != nil || d.Subject == "" {
		d = memory.DeadLetter{Stage: e.What, Reason: "the dead letter itself cannot be read", Stream: e.Stream, Seq: e.Seq, Payload: e.Data, First: e.Stored, Last: e.Stored}
	}
	d.ID, d.Bank, d.Trace = e.Seq, e.BankToken, e.Trace()
	return d
}

// Drop erases a dead letter. One that does not exist is no error.
func Drop(ctx context.Context, c *events.Conn, id uint64) error {
	return c.Erase(ctx, c.Naming.Dead(), id)
}

// RetryAll calls Retry for every letter that a filter selects. It continues after a letter that fails, and returns how
// many were sent and the joined errors.
func RetryAll(ctx context.Context, c *events.Conn, f Filter) (int, error) {
	return each(ctx, c, f, func(id uint64) error {
		_, err := Retry(ctx, c, id)
		return err
	})
}

// DropAll calls Drop for every letter that a filter selects, and returns how many were dropped and the joined errors.
func DropAll(ctx context.Context, c *events.Conn, f Filter) (int, error) {
	return each(ctx, c, f, func(id uint64) error { return Drop(ctx, c, id) })
}

func each(ctx context.Context, c *events.Conn, f Filter, do func(id uint64) error) (int, error) {
	letters, err := List(ctx, c, f)
	if err != nil {
		return 0, err
	}
	done := 0
	var errs []error
	for _, d := range letters {
		switch err := do(d.ID); {
		case err == nil:
			done++
		case ctx.Err() != nil:
			return done, errors.Join(append(errs, err)...)
		case errors.Is(err, memory.ErrNotFound): // retried or dropped meanwhile
		default:
			errs = append(errs, err)
		}
	}
	return done, errors.Join(errs...)
}

// Count returns the number of dead letters of a bank.
func Count(ctx context.Context, c *events.Conn, bank memory.BankID) (int, error) {
	return c.Count(ctx, c.Naming.Dead(), c.Naming.BankKind(bank, events.KindDead))
}
