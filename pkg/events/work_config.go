package events

import (
	"context"
	"time"
)

// WorkConfig says what Work takes and how it goes about it.
type WorkConfig struct {
	Stream      string // a work queue; "" = Naming.Windows
	Durable     string // shared by all workers of the stage
	Stage       string // of dead letters; "" = Durable
	Concurrency int    // handlers at a time; 0 = 4
	// InTurn gives each handler a Turn (TurnOf), so that what handlers do at once
	// can take effect in the order of the stream.
	InTurn      bool
	MaxAttempts int // then dead; 0 = 5
	// Patience is how long an event is put off by Later, as the sum of its
	// waits, before such a delivery counts like another; 0 = 24 h, negative = not at all.
	Patience time.Duration
	// Backoff is the wait before a failed event is delivered again, doubled
	// each time; zero = 1 s to 1 min.
	Backoff Backoff
	// AckWait is how long an event whose worker died stays with it; 0 = 30 s.
	// A handler may take longer: it sends signs of life.
	AckWait time.Duration
	// Grace is how long handlers may go on after ctx ended before theirs ends; 0 = 10 s.
	Grace time.Duration
	// StallAfter is how long a request for events may stay without any before the
	// consumer is asked whether it holds some back; 0 = 5 s.
	StallAfter time.Duration
	// Dead is told of each dead letter before it is published; nil = nobody. Its
	// error has the event delivered again.
	Dead func(context.Context, Event, DeadLetter) error
	Now  func() time.Time // nil = time.Now
}

func (w WorkConfig) orDefault(n Naming) WorkConfig {
	if w.Stream == "" {
		w.Stream = n.Windows()
	}
	if w.Stage == "" {
		w.Stage = w.Durable
	}
	if w.Concurrency <= 0 {
		w.Concurrency = 4
	}
	if w.MaxAttempts <= 0 {
		w.MaxAttempts = 5
	}
	if w.Backoff == (Backoff{}) {
		w.Backoff = Backoff{Min: time.Second, Max: time.Minute}
	}
	if w.AckWait <= 0 {
		w.AckWait = 30 * time.Second
	}
	if w.Grace <= 0 {
		w.Grace = 10 * time.Second
	}
	if w.StallAfter <= 0 {
		w.StallAfter = 5 * time.Second
	}
	if w.Patience == 0 {
		w.Patience = 24 * time.Hour
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	return w
}
