package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Verification is what a check of the store found. It names tables, ids and
// numbers, never text.
type Verification struct {
	OK       bool           `json:"ok"`       // no problem was found
	Counts   map[string]int `json:"counts"`   // rows by table
	Problems []string       `json:"problems"` // the broken rules, a sentence each; never null
	Checks   []Check        `json:"checks"`   // every rule, in the order checked
}

// Check is one rule and whether it holds.
type Check struct {
	Rule    string   `json:"rule"`
	Broken  int      `json:"broken"`            // how often; 0 = it holds, or was not checked
	Where   []string `json:"where,omitempty"`   // some of the places
	Skipped string   `json:"skipped,omitempty"` // why it was not checked
}

// NewVerification has found nothing yet.
func NewVerification() Verification {
	return Verification{OK: true, Counts: map[string]int{}, Problems: []string{}, Checks: []Check{}}
}

// Add takes up one rule.
func (v *Verification) Add(c Check) {
	v.Checks = append(v.Checks, c)
	if c.Broken == 0 {
		return
	}
	v.OK = false
	p := fmt.Sprintf("%s: broken %d times", c.Rule, c.Broken)
	if c.Broken == 1 {
		p = c.Rule + ": broken"
	}
	if len(c.Where) > 0 {
		p += " (" + strings.Join(c.Where, ", ") + ")"
	}
	v.Problems = append(v.Problems, p)
}

// VerifyOptions say how a store is checked.
type VerifyOptions struct {
	Full bool // every index of the file and every row, where a part is enough otherwise
}

// Accounted is a message event that the store knows of.
type Accounted struct {
	Seq       uint64
	Bank      memory.BankID
	Forgotten bool // the log holds it until it is erased, and then no longer
}

// Queues is what commits left to be done: how many entries, and the number of the first.
type Queues struct {
	Changes      int // to be published
	FirstChange  int64
	Erasures     int // stream events to be erased
	FirstErasure int64
}

// VerifyRequest asks for a check of the store against itself and the log.
type VerifyRequest struct {
	// Full reads all of the file and of the log, where a part is enough otherwise.
	Full bool `json:"full,omitempty"`
	// Stopped says that no consolidator runs: what waits for one is no problem.
	Stopped bool `json:"-"`
	// Patience is how long the first entry of a queue may stay the first; 0 = 10 s.
	Patience time.Duration `json:"-"`
}

// Verify checks the store: by itself, and against the log it was made from.
func (s *Service) Verify(ctx context.Context, _ memory.BankID, r VerifyRequest) (Verification, error) {
	v, err := s.store.Verify(ctx, VerifyOptions{Full: r.Full})
	if err != nil {
		return v, err
	}
	c := &logCheck{Service: s, v: &v}
	if s.conn == nil {
		c.skip(positionRule, "there is no log to compare the store with")
		return v, nil
	}
	for _, check := range []func(context.Context) error{
		c.positions, func(ctx context.Context) error { return c.messages(ctx, r.Full) },
		func(ctx context.Context) error { return c.queues(ctx, r) },
	} {
		if err := check(ctx); err != nil {
			return v, err
		}
	}
	return v, nil
}

// logCheck compares the store with the log.
type logCheck struct {
	*Service
	v *Verification
}

func (c *logCheck) skip(rule, why string) { c.v.Add(Check{Rule: rule, Skipped: why}) }

const positionRule = "the store is not ahead of the log"

// positions checks that what is applied was published.
func (c *logCheck) positions(ctx context.Context) error {
	messages, writes, err := c.store.Applied(ctx)
	if err != nil {
		return err
	}
	out := Check{Rule: positionRule}
	for _, p := range []struct {
		stream  string
		applied uint64
	}{{c.conn.Naming.Messages(), messages}, {c.conn.Naming.Writes(), writes}} {
		last, err := c.conn.LastSeq(ctx, p.stream)
		if err != nil {
			return err
		}
		if p.applied > last {
			out.Broken++
			out.Where = append(out.Where, fmt.Sprintf("%s ends at %d, the store stands at %d", p.stream, last, p.applied))
		}
	}
	c.v.Add(out)
	return nil
}

// inLog reports whether the log holds a message event of the bank at a sequence.
func (c *logCheck) inLog(ctx context.Context, k Accounted) (bool, error) {
	e, err := c.conn.EventAt(ctx, c.conn.Naming.Messages(), k.Seq)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && e.Kind == events.KindMessage && e.Bank == k.Bank, err
}
