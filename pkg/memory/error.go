package memory

import (
	"errors"
	"fmt"
	"strings"
)

// The four meanings an error can have for a caller. Drivers, providers and the
// broker map theirs to one of these at the border; code decides by errors.Is.
var (
	// ErrInvalid: the input is wrong and will be wrong again (400).
	ErrInvalid = errors.New("invalid")
	// ErrNotFound: no such bank or record (404).
	ErrNotFound = errors.New("not found")
	// ErrConflict: the target moved on, or a vector is of another model or size (409).
	ErrConflict = errors.New("conflict")
	// ErrUnavailable: a needed part is down or not ready; trying again may help (503).
	ErrUnavailable = errors.New("unavailable")
)

// Three narrower meanings that have a code of their own on the wire.
var (
	// ErrTooLarge: the payload or the reply passes a limit (413).
	ErrTooLarge = errors.New("too large")
	// ErrQuota: the bank is over its quota (429).
	ErrQuota = errors.New("over quota")
	// ErrDeadline: the time given passed before the outcome was known (504).
	ErrDeadline = errors.New("deadline passed")
)

// FieldError says which field of an input is wrong and what was expected.
// It wraps the meaning (usually ErrInvalid).
type FieldError struct {
	Field   string // JSON path of the field, "" where the whole body is meant
	Message string // what was expected and what came
	Meaning error  // one of the meanings above
}

// Error names the field first.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Unwrap gives the meaning.
func (e *FieldError) Unwrap() error { return e.Meaning }

// Invalid is a FieldError that means ErrInvalid.
func Invalid(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...), Meaning: ErrInvalid}
}

// Code gives the wire code of an error: 400, 404, 409, 413, 429, 503, 504, or
// 500 for an error without a meaning.
func Code(err error) int {
	for _, m := range codes {
		if errors.Is(err, m.meaning) {
			return m.code
		}
	}
	return 500
}

// FromCode gives the meaning that a wire code stands for, nil for an unknown one.
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
	{ErrTooLarge, 413}, {ErrQuota, 429}, {ErrDeadline, 504},
	{ErrInvalid, 400}, {ErrNotFound, 404}, {ErrConflict, 409}, {ErrUnavailable, 503},
}

// Fault is the body of a failed request: {"error":{"code":400,"message":"…","field":"…"}}.
type Fault struct {
	Error FaultDetail `json:"error"`
}

// FaultDetail is what a Fault says. Op is set on a write whose outcome is not
// known: repeating the request with it is safe.
type FaultDetail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Op      string `json:"op,omitempty"`
}

// FaultOf gives the wire form of an error.
func FaultOf(err error) Fault {
	d := FaultDetail{Code: Code(err), Message: err.Error()}
	var fe *FieldError
	if errors.As(err, &fe) {
		d.Field = fe.Field
	}
	return Fault{Error: d}
}

// Err gives back the error a Fault carries, with its meaning.
func (f Fault) Err() error {
	meaning := FromCode(f.Error.Code)
	if meaning == nil {
		return fmt.Errorf("code %d: %s", f.Error.Code, f.Error.Message)
	}
	return &FieldError{Field: f.Error.Field, Message: strings.TrimPrefix(f.Error.Message, f.Error.Field+": "), Meaning: meaning}
}
