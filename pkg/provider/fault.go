package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The outcomes of an attempt, as they are counted.
const (
	outcomeOK          = "ok"
	outcomeInvalid     = "invalid"     // the model refuses the request as it stands
	outcomeTooLarge    = "too_large"   // more than the model's context holds
	outcomeLimited     = "limited"     // asked to come back later
	outcomeRejected    = "rejected"    // key, address or model are wrong
	outcomeUnavailable = "unavailable" // no answer, a failure of the server, or nothing that can be read
	outcomeDeadline    = "deadline"
	outcomeCanceled    = "canceled"
	outcomeSkipped     = "skipped" // not sent: the model is left alone for a while
)

var outcomes = []string{outcomeOK, outcomeInvalid, outcomeTooLarge, outcomeLimited, outcomeRejected, outcomeUnavailable, outcomeDeadline, outcomeCanceled, outcomeSkipped}

// What a provider's answer says about the settings. Both are
// memory.ErrUnavailable too, for no request is wrong by itself.
var (
	ErrKeyRefused = errors.New("the key was refused")
	ErrNotThere   = errors.New("no such model or address")
)

// fault is why an attempt failed and what follows from it.
type fault struct {
	text    string
	meaning error // of pkg/memory; nil = a cause that is none of the provider's
	cause   error // what it came from, where that is no text of a server's
	outcome string
	status  int           // of HTTP; 0 = none
	again   bool          // another attempt may help
	after   time.Duration // what the server asks to wait
	down    bool          // the provider is not well
}

func (f *fault) Error() string { return f.text }

// Unwrap gives the meaning and the cause.
func (f *fault) Unwrap() []error {
	var out []error
	for _, err := range []error{f.meaning, f.cause} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// garbled is an answer that cannot be read; another attempt may bring a better one.
func garbled(format string, args ...any) *fault {
	return &fault{text: fmt.Sprintf(format, args...), meaning: memory.ErrUnavailable, outcome: outcomeUnavailable, again: true, down: true}
}

// declined is an answer that the model does not want to give.
func declined(format string, args ...any) *fault {
	return &fault{text: fmt.Sprintf(format, args...), meaning: memory.ErrInvalid, outcome: outcomeInvalid}
}

// broken is an error of the connection, before the answer or amid it.
func broken(what string, err error) *fault {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &fault{text: what + ": " + err.Error(), cause: context.Canceled, outcome: outcomeCanceled}
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{text: what + ": no answer in the time there was", meaning: memory.ErrDeadline, cause: context.DeadlineExceeded, outcome: outcomeDeadline}
	}
	return &fault{text: what + ": " + err.Error(), meaning: memory.ErrUnavailable, cause: err, outcome: outcomeUnavailable, again: true, down: true}
}

// refused gives the fault behind a status that is not 200.
func refused(status int, header http.Header, body []byte, now time.Time) *fault {
	message, asked := explain(body)
	f := &fault{status: status, text: fmt.Sprintf("status %d %s", status, http.StatusText(status)), meaning: memory.ErrUnavailable, outcome: outcomeRejected}
	if message != "" {
		f.text = fmt.Sprintf("status %d: %s", status, message)
	}
	switch {
	case status == http.StatusRequestEntityTooLarge || (status >= 400 && status <= 500 && status != http.StatusTooManyRequests && tooLong(message)):
		f.meaning, f.outcome = memory.ErrTooLarge, outcomeTooLarge
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		f.meaning, f.outcome = memory.ErrInvalid, outcomeInvalid
	case status == http.StatusTooManyRequests:
		f.outcome, f.again = outcomeLimited, !strings.Contains(message, "insufficient_quota")
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status >= 500 && status != http.StatusNotImplemented:
		f.outcome, f.again, f.down = outcomeUnavailable, true, true
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.cause = ErrKeyRefused
	case status == http.StatusNotFound:
		f.cause = ErrNotThere
	case status >= 300 && status < 400:
		f.text += " (a redirect is not followed; set the address that it leads to)"
	}
	if f.after = retryAfter(header, now); f.after == 0 {
		f.after = asked
	}
	if f.after > 0 && f.again {
		f.text += fmt.Sprintf(" (it asks to wait %s)", f.after.Round(time.Second/10))
	}
	return f
}

// retryAfter reads when a server wants to be asked again; 0 = it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// explain finds what the body of a failure says, in one line, and how long it asks to wait.
func explain(body []byte) (message string, after time.Duration) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &v) != nil {
		text := string(body)
		if strings.HasPrefix(strings.TrimSpace(text), "<") {
			return "", 0 // a page for people
		}
		return oneLine(text), 0
	}
	var e struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Details []struct {
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	switch {
	case json.Unmarshal(v.Error, &e) == nil && (e.Message != "" || e.Type != ""):
		message = e.Message
		for _, more := range []string{e.Type, strings.Trim(string(e.Code), `"`)} {
			if more != "" && more != "null" && !strings.Contains(message, more) && strings.Contains(more, "_") {
				message += " (" + more + ")"
			}
		}
		for _, d := range e.Details {
			if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
				after = wait
			}
		}
	case len(v.Error) > 0 && json.Unmarshal(v.Error, &message) == nil:
	case v.Message != "":
		message = v.Message
	default:
		message = string(v.Detail)
	}
	return oneLine(message), after
}

// maxMessage bounds what is told of a server's own words, in bytes.
const maxMessage = 300

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}

// tooLong reports whether a message says that the request passes what the
// model can hold. There is no common code for it; these are the words of the
// providers and of the servers people run themselves.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{
		"context_length", "context length", "context window", "maximum context", "context size", "max context",
		"prompt is too long", "input is too long", "too many tokens", "token count", "string_above_max_length", "string too long",
		"reduce the length", "is too large to process", "exceeds the maximum number of tokens", "must have less than",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
