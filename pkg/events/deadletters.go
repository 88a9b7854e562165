package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DeadFilter chooses dead letters; the zero value chooses all.
type DeadFilter struct {
	Bank  string // the token as it stands; EncodeToken of a bank's name
	Stage string
	After uint64 // IDs behind this one
	Limit int    // 0 = no limit
}

func (f DeadFilter) subject(n Naming) string {
	bank, stage := f.Bank, EncodeToken(f.Stage)
	if bank == "" {
		bank = "*"
	}
	if stage == "" {
		stage = "*"
	}
	return n.Subject(bank, KindDead, stage)
}

// DeadLetters lists dead letters, oldest first. The list is never nil.
func (c *Conn) DeadLetters(ctx context.Context, f DeadFilter) ([]DeadLetter, error) {
	letters := []DeadLetter{}
	_, err := c.Scan(ctx, c.Naming.Dead(), []string{f.subject(c.Naming)}, f.After, func(e Event) error {
		letters = append(letters, readLetter(e))
		if f.Limit > 0 && len(letters) >= f.Limit {
			return ErrEnough
		}
		return nil
	})
	return letters, err
}

// DeadLetter reads one dead letter by its ID; memory.ErrNotFound if it is not there.
func (c *Conn) DeadLetter(ctx context.Context, id uint64) (DeadLetter, error) {
	e, err := c.EventAt(ctx, c.Naming.Dead(), id)
	if err != nil {
		return DeadLetter{}, fmt.Errorf("dead letter %d: %w", id, err)
	}
	return readLetter(e), nil
}

// readLetter reads a letter; one that cannot be read stands for itself.
func readLetter(e Event) DeadLetter {
	var d DeadLetter
	if json.Unmarshal(e.Data, &d) != nil || d.Subject == "" {
		d = DeadLetter{Stage: e.What, Reason: "the dead letter itself cannot be read", Stream: e.Stream, Seq: e.Seq, Payload: e.Data, First: e.Stored, Last: e.Stored}
	}
	d.ID, d.Bank, d.trace = e.Seq, e.BankToken, e.trace()
	return d
}

// DropDead removes a dead letter for good; one that is not there is no error.
func (c *Conn) DropDead(ctx context.Context, id uint64) error {
	return c.Erase(ctx, c.Naming.Dead(), id)
}

// RetryAllDead is RetryDead for every letter of the filter. It goes on past a
// letter that fails and returns how many were sent and the joined errors.
func (c *Conn) RetryAllDead(ctx context.Context, f DeadFilter) (int, error) {
	return c.eachDead(ctx, f, func(id uint64) error {
		_, err := c.RetryDead(ctx, id)
		return err
	})
}

// DropAllDead is DropDead for every letter of the filter; it returns how many went.
func (c *Conn) DropAllDead(ctx context.Context, f DeadFilter) (int, error) {
	return c.eachDead(ctx, f, func(id uint64) error { return c.DropDead(ctx, id) })
}

func (c *Conn) eachDead(ctx context.Context, f DeadFilter, do func(id uint64) error) (int, error) {
	letters, err := c.DeadLetters(ctx, f)
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
		case errors.Is(err, memory.ErrNotFound): // someone else was faster
		default:
			errs = append(errs, err)
		}
	}
	return done, errors.Join(errs...)
}
