package ingest

import (
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// limiter is a bank's quota of messages per second: a bucket of tokens that
// stream time fills. What it decided of events after the position is recorded
// before a window names them, so that a replay decides alike.
type limiter struct {
	Last      uint64    `json:"last"`   // last event decided
	Rate      float64   `json:"rate"`   // in force for it, in messages per second; 0 = unbounded
	Tokens    float64   `json:"tokens"` // left after it
	At        time.Time `json:"at"`     // latest stream time so far
	Throttled []uint64  `json:"throttled,omitempty"`
}

// decide says whether the message is over the quota. rate is what the bank's
// profile says now; it holds for events past barrier, for those up to it may
// have been decided by the rate before. A burst of one second's worth, at
// least one message, passes.
func (l *limiter) decide(e Event, rate float64, barrier uint64) bool {
	if e.Seq <= l.Last {
		return slices.Contains(l.Throttled, e.Seq)
	}
	if e.Seq <= barrier {
		rate = l.Rate
	}
	if rate <= 0 && l.Rate <= 0 {
		return false // nothing to record
	}
	burst := max(1, rate)
	if l.Rate <= 0 {
		l.Tokens = burst
	} else if d := e.Stored.Sub(l.At); d > 0 {
		l.Tokens += rate * d.Seconds()
	}
	l.Tokens = min(burst, l.Tokens)
	l.Last, l.Rate = e.Seq, rate
	if e.Stored.After(l.At) {
		l.At = memory.At(e.Stored)
	}
	if rate <= 0 {
		return false
	}
	if l.Tokens < 1 {
		l.Throttled = append(l.Throttled, e.Seq)
		return true
	}
	l.Tokens--
	return false
}

// forget drops decisions that no replay will ask for.
func (l *limiter) forget(position uint64) {
	l.Throttled = slices.DeleteFunc(slices.Clone(l.Throttled), func(seq uint64) bool { return seq <= position })
}
