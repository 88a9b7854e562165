package query

import (
	"context"
	"time"
)

// The waits between two looks at the store: they grow by half, from the first to the last.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 20 * time.Millisecond
)

// pollUntil asks done until it says yes, fails, or wait has passed; it asks at
// least once. It reports whether done said yes; ctx's end is an error.
func pollUntil(ctx context.Context, wait time.Duration, done func(context.Context) (bool, error)) (bool, error) {
	deadline := time.Now().Add(wait)
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for pause := firstLook; ; pause = min(pause*3/2, lastLook) {
		ok, err := done(ctx)
		if ok || err != nil {
			return ok, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false, nil
		}
		timer.Reset(min(pause, left))
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-timer.C:
		}
	}
}

// fresh waits until the store has applied what a request asks to see. It
// reports whether it has; without anything asked, at once.
func (s *Service) fresh(ctx context.Context, message, write uint64, wait time.Duration) (bool, error) {
	if message == 0 && write == 0 {
		return true, nil
	}
	return pollUntil(ctx, wait, func(ctx context.Context) (bool, error) {
		messages, writes, err := s.store.Applied(ctx)
		return messages >= message && writes >= write, err
	})
}
