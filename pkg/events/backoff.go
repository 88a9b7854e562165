package events

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Backoff bounds the waits between attempts: from Min, half as long again each
// time with some chance, up to Max.
type Backoff struct {
	Min time.Duration
	Max time.Duration
}

func (b Backoff) orDefault() Backoff {
	if b.Min <= 0 {
		b.Min = 50 * time.Millisecond
	}
	if b.Max < b.Min {
		b.Max = max(5*time.Second, b.Min)
	}
	return b
}

func (b Backoff) start() *backoff.ExponentialBackOff {
	b = b.orDefault()
	e := backoff.NewExponentialBackOff()
	e.InitialInterval, e.MaxInterval, e.Multiplier = b.Min, b.Max, 2
	e.Reset()
	return e
}

// delay is the wait before attempt+1, without chance: Min doubled per attempt, at most Max.
func (b Backoff) delay(attempt int) time.Duration {
	b = b.orDefault()
	d := b.Min
	for range attempt - 1 {
		if d *= 2; d >= b.Max || d <= 0 {
			return b.Max
		}
	}
	return d
}

// wait sleeps for d; it reports false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// untilDone calls f until it returns nil, an error that trying again does not
// help, or ctx ends; failed is told of each error that is retried.
func untilDone(ctx context.Context, b Backoff, f func() error, failed func(error)) error {
	w := b.start()
	for {
		err := f()
		if err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
		if failed != nil {
			failed(err)
		}
		if !wait(ctx, w.NextBackOff()) {
			return err
		}
	}
}
