package gateway

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// refusal is an error of HTTP itself, with a status that the wire contract does not have.
type refusal struct {
	status  int
	field   string
	message string
	allow   []string // methods, with 405
}

func (r *refusal) Error() string { return r.message }

func missingKey() error {
	return &refusal{status: http.StatusUnauthorized, field: "Authorization", message: "a key is needed; expected the header `Authorization: Bearer SU…` with the seed that `eunoe auth` made"}
}

// faultOf returns the status and the body of an error.
func faultOf(err error) (int, wire.Fault) {
	var r *refusal
	var tooLarge *http.MaxBytesError
	var unknown *client.UnknownOutcome
	f := wire.FaultOf(err)
	switch {
	case errors.As(err, &r):
		f.Error = wire.FaultDetail{Code: r.status, Message: r.message, Field: r.field}
		if r.status == http.StatusTooManyRequests {
			f.Error.RetryAfter = memory.Duration(time.Second)
		}
	case errors.As(err, &tooLarge):
		f.Error = wire.FaultDetail{Code: http.StatusRequestEntityTooLarge, Message: "the body is larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes; send less at a time"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.Error = wire.FaultDetail{Code: http.StatusRequestTimeout, Message: "the body did not come within " + bodyWithin.String()}
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		f.Error = wire.FaultDetail{Code: http.StatusUnauthorized, Field: "Authorization", Message: "the broker does not know this key: it was removed, or is of another deployment"}
	case errors.Is(err, nats.ErrNkeysNotSupported):
		f.Error = wire.FaultDetail{Code: http.StatusUnauthorized, Field: "Authorization", Message: "this deployment has no users: leave the header away, or make users with `eunoe auth init`"}
	case errors.Is(err, memory.ErrForbidden):
		f.Error = wire.FaultDetail{Code: http.StatusForbidden, Message: "this key may not do that: the key of a bot reaches its own bank alone, /v1/admin is for operators"}
	case errors.As(err, &unknown):
		f.Error.Op = unknown.Op
	case errors.Is(err, context.Canceled):
		f.Error = wire.FaultDetail{Code: http.StatusServiceUnavailable, Message: "the request was given up"}
	}
	return f.Error.Code, f
}

// fail answers with an error, unless an answer has begun.
func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, f := faultOf(err)
	if a, ok := w.(*answer); ok && a.began {
		return
	}
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="eunoe"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(time.Duration(f.Error.RetryAfter).Seconds())))))
	case http.StatusMethodNotAllowed:
		var no *refusal
		if errors.As(err, &no) {
			h.Set("Allow", strings.Join(no.allow, ", "))
		}
	case http.StatusInternalServerError:
		g.log.Error().Err(err).Str("path", r.URL.Path).Msg("a request failed")
	}
	write(w, status, encode(f))
}

// answer is a response that remembers its status.
type answer struct {
	http.ResponseWriter
	status int
	began  bool

	in    *incoming
	room  *room
	key   string // public, of whoever asked; set before the body is read
	taken int64  // bytes of the room
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if !a.began {
		a.status, a.began = status, true
		a.in.leave()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	if !a.began {
		a.began = true
		a.in.leave()
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// writeWithin is how long a caller may take to read an answer, or one event of a stream.
const writeWithin = 30 * time.Second

// write answers with JSON. A caller that is gone is no error.
func write(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin)) //nolint:errcheck // a recorder has none
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) //nolint:errcheck // as above
}
