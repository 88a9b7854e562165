package events

import (
	"time"
)

// LaterError is a handler's word that something it needs is away: the event
// itself is sound.
type LaterError struct{ Err error }

// Error gives what is away.
func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *LaterError) Unwrap() error { return e.Err }

// Later makes the error by which a handler puts an event off: it comes again
// after a wait and this delivery is none of its MaxAttempts, until it waited
// for WorkConfig.Patience. nil gives nil.
func Later(err error) error {
	if err == nil {
		return nil
	}
	return &LaterError{Err: err}
}

// OutputError is an error with what a model answered; a letter of the event
// keeps both.
type OutputError struct {
	Err    error
	Output string // raw
	Prompt string // name and version of what it was asked
}

// Error gives the cause, without the output.
func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// waited is how long an event was made to wait before its attempt-th delivery.
func (b Backoff) waited(attempt int) time.Duration {
	var sum time.Duration
	for n := 1; n < attempt; n++ {
		d := b.delay(n)
		if d >= b.orDefault().Max {
			return sum + time.Duration(attempt-n)*d
		}
		sum += d
	}
	return sum
}

// maxTally is how many events a worker remembers deliveries of.
const maxTally = 4096

// tally says which deliveries of an event do not count as attempts: those that
// were put off. It is kept in the process alone. An event that comes here for
// the first time with more deliveries behind it than it may have attempts was
// put off elsewhere, or it would be dead: its attempts are counted anew.
type tally map[uint64]int

// attempts is how many of the deliveries up to this one count.
func (t tally) attempts(e Event, most int) int {
	excused, known := t[e.Seq]
	if !known && e.Attempt > most {
		excused = e.Attempt - 1
		t.excuse(e.Seq, excused)
	}
	return e.Attempt - excused
}

// excuse sets how many deliveries of an event do not count.
func (t tally) excuse(seq uint64, n int) {
	if len(t) >= maxTally {
		clear(t)
	}
	t[seq] = n
}
