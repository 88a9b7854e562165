package events

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Renewal counts how often a stream was read on from a new subscription, and why.
type Renewal struct {
	Stream string
	Cause  string // stalled, silent, lost, gap, drifted, reconnected or error
	Count  uint64
}

// The causes for which a subscription is made anew.
const (
	causeStalled     = "stalled"     // events are pending and none was delivered
	causeSilent      = "silent"      // no sign of life
	causeLost        = "lost"        // the broker ended it: deleted, or its leader moved
	causeGap         = "gap"         // a delivery was left out
	causeDrifted     = "drifted"     // the consumer was changed so that events are held back
	causeReconnected = "reconnected" // the connection was made again
	causeError       = "error"
)

// brokenError is the end of a subscription that is made anew. It means
// memory.ErrUnavailable.
type brokenError struct {
	cause string
	err   error
}

func broken(cause string, err error) error { return &brokenError{cause, err} }

func (e *brokenError) Error() string   { return e.err.Error() }
func (e *brokenError) Unwrap() []error { return []error{e.err, memory.ErrUnavailable} }

// renewals counts them for a connection.
type renewals struct {
	mu     sync.Mutex
	counts map[Renewal]uint64 // by stream and cause
}

// newRenewals has a count for the stalls of every stream that is read for good.
func newRenewals(n Naming) *renewals {
	r := &renewals{counts: map[Renewal]uint64{}}
	for _, stream := range []string{n.Messages(), n.Windows(), n.Writes()} {
		r.counts[Renewal{Stream: stream, Cause: causeStalled}] = 0
	}
	return r
}

// renewed counts the end of a subscription to a stream, which is then made anew,
// and gives its cause.
func (c *Conn) renewed(stream string, err error) string {
	cause := causeError
	var b *brokenError
	if errors.As(err, &b) {
		cause = b.cause
	}
	if c.renewals == nil {
		return cause
	}
	c.renewals.mu.Lock()
	defer c.renewals.mu.Unlock()
	c.renewals.counts[Renewal{Stream: stream, Cause: cause}]++
	return cause
}

// Renewals gives what was counted so far, by stream and cause.
func (c *Conn) Renewals() []Renewal {
	if c.renewals == nil {
		return nil
	}
	c.renewals.mu.Lock()
	defer c.renewals.mu.Unlock()
	var out []Renewal
	for r, n := range c.renewals.counts {
		r.Count = n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Renewal) int { return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Cause, b.Cause)) })
	return out
}
