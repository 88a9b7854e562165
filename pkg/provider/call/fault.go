package call

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

var outcomes = []string{
	outcomeOK, outcomeInvalid, outcomeTooLarge, outcomeLimited, outcomeRejected, outcomeUnavailable, outcomeDeadline,
	outcomeCanceled, outcomeSkipped,
}

// What a provider's answer says about the settings. Both come with memory.ErrUnavailable: the request itself is sound.
var (
	ErrKeyRefused = errors.New("the key was refused")
	ErrNotThere   = errors.New("no such model or address")
)

// Fault is why an attempt failed and what follows from it.
type Fault struct {
	text    string
	meaning error // of pkg/memory; nil = the cause is not the provider
	cause   error // where it is no text of a server
	outcome string
	status  int           // of HTTP; 0 = none
	again   bool          // another attempt may help
	after   time.Duration // what the server asks to wait
	down    bool          // the provider is in trouble
}

// Error returns the reason in one line, without the model's name.
func (f *Fault) Error() string { return f.text }

// Unwrap returns the meaning and the cause.
func (f *Fault) Unwrap() []error {
	var out []error
	for _, err := range []error{f.meaning, f.cause} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// hide removes a key from the text: servers like to repeat what they were sent.
func (f *Fault) hide(key string) {
	if key != "" && strings.Contains(f.text, key) {
		f.text, f.cause = strings.ReplaceAll(f.text, key, "[key]"), nil
	}
}

// Garbled is an answer that cannot be read; another attempt may bring a better one.
func Garbled(format string, args ...any) *Fault {
	return &Fault{
		text: fmt.Sprintf(format, args...), meaning: memory.ErrUnavailable, outcome: outcomeUnavailable, again: true, down: true,
	}
}

// Unsound is an answer that cannot be used and that another attempt would not improve.
func Unsound(format string, args ...any) *Fault {
	f := Garbled(format, args...)
	f.again = false
	return f
}

// Declined is an answer that the model or its provider refuses to give.
func Declined(format string, args ...any) *Fault {
	return &Fault{text: fmt.Sprintf(format, args...), meaning: memory.ErrInvalid, outcome: outcomeInvalid}
}

// invalid is a request that cannot be sent.
func invalid(text string) *Fault {
	return &Fault{text: text, meaning: memory.ErrInvalid, outcome: outcomeInvalid}
}

// broken is the fault of an error of the connection, before or during the answer. A fault stays what it is.
func broken(what string, err error) *Fault {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Fault{text: what + ": " + err.Error(), cause: context.Canceled, outcome: outcomeCanceled}
	case errors.Is(err, context.DeadlineExceeded):
		return &Fault{
			text: what + ": no answer in the time there was", meaning: memory.ErrDeadline, cause: context.DeadlineExceeded,
			outcome: outcomeDeadline,
		}
	}
	return &Fault{
		text: what + ": " + err.Error(), meaning: memory.ErrUnavailable, cause: err, outcome: outcomeUnavailable, again: true, down: true,
	}
}

func isOutage(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.down
}

func outcomeOf(err error) string {
	var f *Fault
	switch {
	case err == nil:
		return outcomeOK
	case errors.As(err, &f) && f.outcome != "":
		return f.outcome
	}
	return outcomeUnavailable
}

// refused returns the fault behind a status other than 200.
func refused(status int, header http.Header, body []byte, now time.Time) *Fault {
	message, asked := Explain(body)
	f := &Fault{
		status: status, text: fmt.Sprintf("status %d %s", status, http.StatusText(status)), meaning: memory.ErrUnavailable,
		outcome: outcomeRejected,
	}
	if message != "" {
		f.text = fmt.Sprintf("status %d: %s", status, message)
	}
	switch {
	case status == http.StatusRequestEntityTooLarge ||
		(status >= 400 && status <= 500 && status != http.StatusTooManyRequests && tooLong(message)):
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

// retryAfter reads how long a server asks to wait; 0 = it does not say.
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

// Explain finds the message in the body of a failure, as one line, and how long it asks to wait.
func Explain(body []byte) (message string, after time.Duration) {
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
			return "", 0 // a web page
		}
		return OneLine(text), 0
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
	return OneLine(message), after
}

// maxMessage bounds what is repeated of a server's own words, in bytes.
const maxMessage = 300

// OneLine returns a server's words as one printable line of bounded length.
func OneLine(s string) string {
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

// Describe says what came in place of the expected JSON, without its text, which may be a conversation's.
func Describe(raw []byte) string {
	switch text := strings.TrimSpace(string(raw)); {
	case text == "":
		return "nothing"
	case text[0] == '<':
		return "a web page"
	case text[0] == '{' || text[0] == '[':
		return fmt.Sprintf("JSON of another shape, or broken, of %d bytes", len(raw))
	}
	return fmt.Sprintf("%d bytes of text", len(raw))
}

// tooLong reports whether a message says that the request exceeds what the model can hold. There is no common code for
// it; these are the words of the providers and of the servers people run themselves.
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
