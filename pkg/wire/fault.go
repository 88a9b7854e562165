package wire

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Fault is the body of a failed request: {"error":{"code":400,"message":"…","field":"…"}}.
type Fault struct {
	Error FaultDetail `json:"error"`
}

// Err returns the error that the Fault carries, with its meaning.
func (f Fault) Err() error {
	meaning := memory.FromCode(f.Error.Code)
	if meaning == nil {
		return fmt.Errorf("code %d: %s", f.Error.Code, f.Error.Message)
	}
	return &memory.FieldError{Field: f.Error.Field, Message: strings.TrimPrefix(f.Error.Message, f.Error.Field+": "), Meaning: meaning,
		RetryAfter: time.Duration(f.Error.RetryAfter)}
}

// FaultDetail is the content of a Fault. Op is set for a write whose outcome is not known: repeating the request with
// it is safe. RetryAfter is set for a request that was refused because too many were under way: it may be sent again
// then.
type FaultDetail struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Op      string `json:"op,omitempty"`

	RetryAfter memory.Duration `json:"retry_after,omitempty"`
}

// FaultOf returns the wire form of an error.
func FaultOf(err error) Fault {
	d := FaultDetail{Code: memory.Code(err), Message: err.Error()}
	var fe *memory.FieldError
	if errors.As(err, &fe) {
		d.Field, d.RetryAfter = fe.Field, memory.Duration(fe.RetryAfter)
	}
	return Fault{Error: d}
}
