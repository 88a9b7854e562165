package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// quota is what a bank's profile allows; zero is unbounded.
type quota struct {
	rate  float64 // messages per second
	bytes int64   // of all its messages, text and captions
}

// limiter is a bank's quotas: of messages per second, a bucket of tokens that
// stream time fills, and of bytes, a sum that is counted in the stream when it
// is needed. What it decided of events after the position is recorded before a
// window names them, so that a replay decides alike.
type limiter struct {
	Last      uint64    `json:"last"`   // last event decided
	Rate      float64   `json:"rate"`   // in force for it, in messages per second; 0 = unbounded
	Tokens    float64   `json:"tokens"` // left after it
	At        time.Time `json:"at"`     // latest stream time so far
	Throttled []uint64  `json:"throttled,omitempty"`

	Limit   int64     `json:"limit,omitempty"`  // in force for it, in bytes; 0 = unbounded
	Bytes   int64     `json:"bytes,omitempty"`  // stored up to it, while a limit is in force
	Counted time.Time `json:"counted,omitzero"` // stream time of the event at which they were counted anew
}

// recountAfter is how long a bank that is over its bytes waits, in stream time,
// before they are counted anew: what was forgotten makes room.
const recountAfter = time.Minute

// decide says whether the message is over a quota. q is what the bank's profile
// says now; it holds for events past barrier, for those up to it may have been
// decided by the quota before. A burst of one second's worth, at least one
// message, passes. stored gives the bytes of the bank's messages before this one.
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

// full counts the bytes of a message and says whether they are past the limit.
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
	l.Bytes += size // over the limit or not, it is kept
	return l.Bytes > limit, nil
}

// fast takes a message out of the bucket and says whether there was none left.
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

// stored sums up the bytes of a bank's messages before an event, as they stand
// in the stream: what was forgotten is gone, a repeat of an id counts.
func (d *draft) stored(ctx context.Context, b memory.BankID, before uint64) (int64, error) {
	var sum int64
	conn := d.deps.Conn
	_, err := conn.Scan(ctx, conn.Naming.Messages(), []string{conn.Naming.StoredOf(b, events.KindMessage)}, 0, func(e events.Event) error {
		if e.Seq >= before {
			return events.ErrEnough
		}
		if m, err := e.Message(); err == nil {
			sum += int64(len(m.Content) + len(m.Caption()))
		}
		return nil
	})
	return sum, err
}

// forget drops decisions that no replay will ask for.
func (l *limiter) forget(position uint64) {
	l.Throttled = slices.DeleteFunc(slices.Clone(l.Throttled), func(seq uint64) bool { return seq <= position })
}
