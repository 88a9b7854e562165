package events

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Resubscription counts how often readers of a stream replaced their subscription for one cause.
type Resubscription struct {
	Stream string
	Cause  string // one of the Cause constants
	Count  uint64
}

// The causes for which a subscription is replaced.
const (
	CauseStalled     = "stalled"     // events are pending and none is delivered
	CauseSilent      = "silent"      // the heartbeats of the broker stopped
	CauseLost        = "lost"        // the broker ended it, for instance because the consumer was deleted
	CauseGap         = "gap"         // a delivery is missing
	CauseDrifted     = "drifted"     // the consumer was reconfigured to hold events back
	CauseReconnected = "reconnected" // the connection was re-established
	CauseError       = "error"       // any other error
)

type brokenError struct {
	cause string
	err   error
}

// Broken returns the error of a subscription that is to be replaced. It is memory.ErrUnavailable.
func Broken(cause string, err error) error { return &brokenError{cause, err} }

func (e *brokenError) Error() string   { return e.err.Error() }
func (e *brokenError) Unwrap() []error { return []error{e.err, memory.ErrUnavailable} }

// resubscriptions counts them for a connection.
type resubscriptions struct {
	mu     sync.Mutex
	counts map[Resubscription]uint64 // by stream and cause
}

// newResubscriptions begins at 0 for the stalls of the streams that are read permanently.
func newResubscriptions(n Naming) *resubscriptions {
	r := &resubscriptions{counts: map[Resubscription]uint64{}}
	for _, stream := range []string{n.Messages(), n.Windows(), n.Writes()} {
		r.counts[Resubscription{Stream: stream, Cause: CauseStalled}] = 0
	}
	return r
}

// Resubscribed counts the end of a subscription to a stream that is about to be replaced, and returns its cause.
func (c *Conn) Resubscribed(stream string, err error) (cause string) {
	cause = CauseError
	var b *brokenError
	if errors.As(err, &b) {
		cause = b.cause
	}
	if c.resubscriptions == nil {
		return cause
	}
	c.resubscriptions.mu.Lock()
	defer c.resubscriptions.mu.Unlock()
	c.resubscriptions.counts[Resubscription{Stream: stream, Cause: cause}]++
	return cause
}

// Resubscriptions returns what this connection counted so far, sorted by stream and cause.
func (c *Conn) Resubscriptions() []Resubscription {
	if c.resubscriptions == nil {
		return nil
	}
	c.resubscriptions.mu.Lock()
	defer c.resubscriptions.mu.Unlock()
	var out []Resubscription
	for r, n := range c.resubscriptions.counts {
		r.Count = n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Resubscription) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Cause, b.Cause))
	})
	return out
}
