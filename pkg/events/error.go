package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// meaning gives an error of the broker one of memory's meanings and says what
// was being done. nil stays nil; an error that has a meaning keeps it.
func meaning(err error, format string, args ...any) error {
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
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrPermissionViolation),
		errors.Is(err, nats.ErrBadSubject), errors.Is(err, jetstream.ErrInvalidKey):
		m = memory.ErrInvalid
	case isConflict(err):
		m = memory.ErrConflict
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrKeyNotFound),
		errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound),
		errors.Is(err, jetstream.ErrBucketNotFound):
		m = memory.ErrNotFound
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum:
		m = memory.ErrTooLarge
	case errors.As(err, &api) && api.Code == 404:
		m = memory.ErrNotFound
	case errors.As(err, &api) && api.Code == 400:
		m = memory.ErrInvalid
	}
	return fmt.Errorf("%s: %w: %w", what, m, err)
}

// isConflict reports a write that expected another revision.
func isConflict(err error) bool {
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) {
		return true
	}
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// transient reports whether trying again may help.
func transient(err error) bool { return errors.Is(err, memory.ErrUnavailable) }
