package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// opError is a write whose outcome is not known: repeating it with op is safe.
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// opOf gives the op of a write's error, "" for any other error.
func opOf(err error) string {
	var e *opError
	if errors.As(err, &e) {
		return e.op
	}
	return ""
}

// control checks what every write carries and gives its op and wait.
func (s *Service) control(w memory.WriteControl) (op string, wait time.Duration, err error) {
	if wait, err = s.cfg.waiting(w.Wait); err != nil {
		return "", 0, err
	}
	if w.Op == "" {
		return ulid.Make().String(), wait, nil
	}
	return w.Op, wait, memory.CheckID("op", w.Op)
}

// write appends a write to the log, unless its op was applied before, and waits
// for its outcome in the store. An outcome that is an error comes as one.
func (s *Service) write(ctx context.Context, w memory.Write, wait time.Duration) (memory.WriteOutcome, error) {
	out, err := s.store.Outcome(ctx, w.Bank, w.Op)
	if err != nil {
		return memory.WriteOutcome{}, err
	}
	if out == nil {
		if s.conn == nil {
			return memory.WriteOutcome{}, fmt.Errorf("write %s: no connection to the log: %w", w.Op, memory.ErrUnavailable)
		}
		if _, err := s.conn.AppendWrite(ctx, w); err != nil {
			return memory.WriteOutcome{}, &opError{w.Op, err}
		}
		if out, err = s.outcome(ctx, w.Bank, w.Op, wait); err != nil {
			return memory.WriteOutcome{}, err
		}
	}
	if out.Code != 0 {
		return *out, refusal(*out)
	}
	return *out, nil
}

// outcome waits for the outcome of an op.
func (s *Service) outcome(ctx context.Context, bank memory.BankID, op string, wait time.Duration) (*memory.WriteOutcome, error) {
	var out *memory.WriteOutcome
	done, err := pollUntil(ctx, wait, func(ctx context.Context) (bool, error) {
		var err error
		out, err = s.store.Outcome(ctx, bank, op)
		return out != nil, err
	})
	if err != nil {
		return nil, &opError{op, err}
	}
	if !done {
		return nil, &opError{op, fmt.Errorf("the write %s is in the log but was not applied within %s; repeating it with the same op is safe: %w",
			op, wait, memory.ErrDeadline)}
	}
	return out, nil
}

// refusal is the error of a write that was refused when it was applied.
func refusal(o memory.WriteOutcome) error {
	meaning := memory.FromCode(o.Code)
	if meaning == nil {
		return fmt.Errorf("write %s was refused with code %d: %s", o.Op, o.Code, o.Message)
	}
	return &memory.FieldError{Field: o.Field, Message: o.Message, Meaning: meaning}
}

// exists checks that a bank was made.
func (s *Service) exists(ctx context.Context, bank memory.BankID) error {
	return s.store.Read(ctx, bank, func(Reader) error { return nil })
}
