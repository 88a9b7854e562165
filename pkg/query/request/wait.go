package request

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
)

// The pauses between two questions of Poll grow by half, from the first to the last. From the last on they are a share
// of the time that has passed, so that many long waits cost little, up to the longest.
const (
	firstPause   = 2 * time.Millisecond
	lastPause    = 20 * time.Millisecond
	pauseShare   = 20 // of the time passed
	longestPause = 100 * time.Millisecond
)

// Poll asks done until it returns true or an error, or until wait has passed. It asks at least once. It returns what
// done said last; the end of ctx is an error. While it waits, the request's place goes to another request.
func Poll(ctx context.Context, wait time.Duration, done func(context.Context) (bool, error)) (bool, error) {
	start := time.Now()
	ok, err := done(ctx)
	if ok || err != nil || wait <= 0 {
		return ok, err
	}
	defer admission.Leave(ctx)()
	timer := time.NewTimer(firstPause)
	defer timer.Stop()
	for pause := firstPause; ; {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-timer.C:
		}
		ok, err := done(ctx)
		passed := time.Since(start)
		if ok || err != nil || passed >= wait {
			return ok, err
		}
		pause = min(pause*3/2, max(lastPause, min(passed/pauseShare, longestPause)))
		timer.Reset(min(pause, wait-passed))
	}
}

// Await polls find until it returns a value or an error; nil when wait has passed without one.
func Await[T any](ctx context.Context, wait time.Duration, find func(context.Context) (*T, error)) (found *T, err error) {
	_, err = Poll(ctx, wait, func(ctx context.Context) (bool, error) {
		var err error
		found, err = find(ctx)
		return found != nil, err
	})
	return found, err
}

// Log tells how far the store has applied the log.
type Log interface {
	// AppliedOf returns the sequence of MEM_MESSAGES up to which the messages of a bank are applied, and the last applied
	// one of MEM_WRITES.
	AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error)
}

// Applied waits until the store has applied a message and a write of a bank by sequence; 0 waits for nothing. It reports
// whether it has.
func Applied(ctx context.Context, log Log, bank memory.BankID, message, write uint64, wait time.Duration) (bool, error) {
	if message == 0 && write == 0 {
		return true, nil
	}
	return Poll(ctx, wait, func(ctx context.Context) (bool, error) {
		messages, writes, err := log.AppliedOf(ctx, bank)
		return messages >= message && writes >= write, err
	})
}
