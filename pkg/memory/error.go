package memory

import (
	"errors"
	"fmt"
	"time"
)

// The four meanings an error can have for a caller. Drivers, providers and the broker map theirs to one of these at the
// border; code decides by errors.Is.
var (
	// ErrInvalid: the input is wrong and will be wrong again (400).
	ErrInvalid = errors.New("invalid")
	// ErrNotFound: no such bank or record (404).
	ErrNotFound = errors.New("not found")
	// ErrConflict: the target changed meanwhile, or a vector is of another model or size (409).
	ErrConflict = errors.New("conflict")
	// ErrUnavailable: a needed part is down or not ready; trying again may help (503).
	ErrUnavailable = errors.New("unavailable")
)

// Three narrower meanings that have a code of their own on the wire.
var (
	// ErrTooLarge: the payload or the reply exceeds a limit (413).
	ErrTooLarge = errors.New("too large")
	// ErrQuota: the bank is over its quota (429).
	ErrQuota = errors.New("over quota")
	// ErrDeadline: the deadline passed before the outcome was known (504).
	ErrDeadline = errors.New("deadline passed")
)

// ErrForbidden: the broker does not know the credentials, or does not allow them what was asked (403). No reply has it:
// the broker refuses before anybody is asked.
var ErrForbidden = errors.New("not allowed")

// FieldError says which field of an input is wrong and what was expected. It wraps the meaning (usually ErrInvalid).
type FieldError struct {
	Field   string // JSON path of the field, "" where the whole body is meant
	Message string // what was expected and what came
	Meaning error  // one of the meanings above
	// RetryAfter is when the same input is worth another try; 0 = nothing is known.
	RetryAfter time.Duration
}

// Error returns the message after the name of the field.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Unwrap returns the meaning.
func (e *FieldError) Unwrap() error { return e.Meaning }

// Invalid returns a FieldError that means ErrInvalid.
func Invalid(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...), Meaning: ErrInvalid}
}

// Code returns the wire code of an error: 400, 403, 404, 409, 413, 429, 503, 504, or 500 for an error without a meaning.
func Code(err error) int {
	for _, m := range codes {
		if errors.Is(err, m.meaning) {
			return m.code
		}
	}
	return 500
}

// FromCode returns the meaning of a wire code, nil for an unknown one.
func FromCode(code int) error {
	for _, m := range codes {
		if m.code == code {
			return m.meaning
		}
	}
	return nil
}

var codes = []struct {
	meaning error
	code    int
}{
	{ErrForbidden, 403}, {ErrTooLarge, 413}, {ErrQuota, 429}, {ErrDeadline, 504},
	{ErrInvalid, 400}, {ErrNotFound, 404}, {ErrConflict, 409}, {ErrUnavailable, 503},
}
