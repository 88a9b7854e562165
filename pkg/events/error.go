package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Classify wraps an error of the broker with what was being done and with the sentinel of package memory that it means,
// memory.ErrUnavailable by default. It returns nil for nil; an error that already has a sentinel keeps it, and
// cancellation has none.
func Classify(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if memory.Code(err) != 500 {
		return fmt.Errorf("%s: %w", what, err)
	}
	m := memory.ErrUnavailable
	var api *jetstream.APIError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, nats.ErrMaxPayload):
		m = memory.ErrTooLarge
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrPermissionViolation):
		m = memory.ErrForbidden
	case errors.Is(err, nats.ErrBadSubject), errors.Is(err, jetstream.ErrInvalidKey):
		m = memory.ErrInvalid
	case isConflict(err):
		m = memory.ErrConflict
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrKeyNotFound),
		errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound),
		errors.Is(err, jetstream.ErrBucketNotFound):
		m = memory.ErrNotFound
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum:
		m = memory.ErrTooLarge
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode): // though its code is 400 or 500
		m = memory.ErrUnavailable
	case errors.As(err, &api) && api.Code == 404:
		m = memory.ErrNotFound
	case errors.As(err, &api) && api.Code == 400:
		m = memory.ErrInvalid
	}
	return fmt.Errorf("%s: %w: %w", what, m, err)
}

// noRoom are the broker's errors about a disk, an account or a stream that is full: the same may succeed later.
var noRoom = []jetstream.ErrorCode{10002, 10023, 10047, 10077}

// isConflict reports whether a write expected another revision.
func isConflict(err error) bool {
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) {
		return true
	}
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Transient reports whether a retry may succeed.
func Transient(err error) bool { return errors.Is(err, memory.ErrUnavailable) }

// Away reports whether an error of a question means that the broker did not answer, or that what was asked has no leader. An
// election ends that.
func Away(err error) bool {
	var api *jetstream.APIError
	return Transient(err) && (!errors.As(err, &api) || api.Code == 503)
}

// Backoff bounds the waits between attempts: from Min, doubled each time, up to Max. The zero value is 50 ms to 5 s.
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

// Intervals returns the waits one after the other, each varied at random by half of its length.
func (b Backoff) Intervals() *backoff.ExponentialBackOff {
	b = b.orDefault()
	e := backoff.NewExponentialBackOff()
	e.InitialInterval, e.MaxInterval, e.Multiplier = b.Min, b.Max, 2
	e.Reset()
	return e
}

// Delay returns the wait after the attempt-th attempt, without variation.
func (b Backoff) Delay(attempt int) time.Duration {
	b = b.orDefault()
	d := b.Min
	for range attempt - 1 {
		if d *= 2; d >= b.Max || d <= 0 {
			return b.Max
		}
	}
	return d
}

// Sleep waits for d. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Retry calls f until it returns nil or an error that is not Transient, or ctx ends, and returns f's last error. failed
// is called with each error that is retried; nil = nobody.
func Retry(ctx context.Context, b Backoff, f func() error, failed func(error)) error {
	var last error
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		if last = f(); last != nil && !Transient(last) {
			return struct{}{}, backoff.Permanent(last)
		}
		return struct{}{}, last
	}, backoff.WithBackOff(b.Intervals()), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		if failed != nil {
			failed(err)
		}
	}))
	return last
}
