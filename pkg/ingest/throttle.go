package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// quota holds the limits of a bank's profile; zero is unlimited.
type quota struct {
	rate  float64 // messages per second
	bytes int64   // of the text and captions of all its messages
}

// limiter enforces the quotas of a bank: messages per second by a token bucket that stream time fills, and bytes by a
// sum that is counted in the stream when needed. Its decisions about events after the position are stored before a
// window names them, so that a replay decides the same.
type limiter struct {
	Last      uint64    `json:"last"`   // last event decided
	Rate      float64   `json:"rate"`   // that applied to it, in messages per second; 0 = unlimited
	Tokens    float64   `json:"tokens"` // left after it
	At        time.Time `json:"at"`     // latest stream time so far
	Throttled []uint64  `json:"throttled,omitempty"`

	Limit   int64     `json:"limit,omitempty"`  // that applied to it, in bytes; 0 = unlimited
	Bytes   int64     `json:"bytes,omitempty"`  // stored up to it, while a limit applies
	Counted time.Time `json:"counted,omitzero"` // stream time of the event at which they were last counted in the stream
}

// recountAfter is the least stream time between two counts of a bank that exceeds its bytes. Forgetting messages makes
// room.
const recountAfter = time.Minute

// decide reports whether a message exceeds a quota. q is the present quota of the bank; it applies to events after
// barrier, because earlier ones may have been decided by the previous quota. A burst of one second's worth, at least
// one message, is allowed. stored returns the bytes of the bank's messages before this one.
func (l *limiter) decide(e Event, q quota, barrier uint64, stored func() (int64, error)) (bool, error) {
	if e.Seq <= l.Last {
		return slices.Contains(l.Throttled, e.Seq), nil
	}
	if e.Seq <= barrier {
		q = quota{l.Rate, l.Limit}
	}
	if q.rate <= 0 && l.Rate <= 0 && q.bytes <= 0 && l.Limit <= 0 {
		return false, nil // nothing to record
	}
	full, err := l.full(e, q.bytes, stored)
	if err != nil {
		return false, err
	}
	fast := l.fast(e, q.rate)
	l.Last = e.Seq
	if e.Stored.After(l.At) {
		l.At = memory.At(e.Stored)
	}
	if full || fast {
		l.Throttled = append(l.Throttled, e.Seq)
	}
	return full || fast, nil
}

// full adds the bytes of a message and reports whether the sum exceeds the limit.
func (l *limiter) full(e Event, limit int64, stored func() (int64, error)) (bool, error) {
	fresh := l.Limit > 0
	l.Limit = limit
	if limit <= 0 {
		l.Bytes, l.Counted = 0, time.Time{}
		return false, nil
	}
	size := int64(e.Bytes)
	if !fresh || l.Bytes+size > limit && e.Stored.Sub(l.Counted) >= recountAfter {
		n, err := stored()
		if err != nil {
			return false, err
		}
		l.Bytes, l.Counted = n, memory.At(e.Stored)
	}
	l.Bytes += size // the message is stored in either case
	return l.Bytes > limit, nil
}

// fast takes a token from the bucket and reports whether there was none.
func (l *limiter) fast(e Event, rate float64) bool {
	burst := max(1, rate)
	if l.Rate <= 0 {
		l.Tokens = burst
	} else if d := e.Stored.Sub(l.At); d > 0 {
		l.Tokens += rate * d.Seconds()
	}
	l.Tokens = min(burst, l.Tokens)
	l.Rate = rate
	if rate <= 0 {
		return false
	}
	if l.Tokens < 1 {
		return true
	}
	l.Tokens--
	return false
}

// stored returns the bytes of a bank's messages before an event. It counts what the stream holds: without erased
// messages, with repeated ids.
func (d *draft) stored(ctx context.Context, b memory.BankID, before uint64) (int64, error) {
	var sum int64
	conn := d.deps.Conn
	_, err := ordered.Scan(ctx, conn, conn.Naming.Messages(), []string{conn.Naming.StoredOf(b, events.KindMessage)}, 0, func(e events.Event) error {
		if e.Seq >= before {
			return ordered.ErrSkipRest
		}
		if m, err := e.Message(); err == nil {
			sum += int64(len(m.Content) + len(m.Caption()))
		}
		return nil
	})
	return sum, err
}

// forget drops the decisions about events that no replay will read.
func (l *limiter) forget(position uint64) {
	l.Throttled = slices.DeleteFunc(slices.Clone(l.Throttled), func(seq uint64) bool { return seq <= position })
}
