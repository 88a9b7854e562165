package call

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 16 << 20

// sentHeaders are the only headers that leave the process: client libraries add others, which describe this machine.
var sentHeaders = []string{"Content-Type", "Authorization", "X-Api-Key", "Anthropic-Version", "X-Goog-Api-Key"}

// keyHeaders carry the key of a model. They are not sent without one.
var keyHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

// Exchange is the request of one attempt and its answer. It is the http.RoundTripper under a provider's client
// library. Not safe for concurrent use.
type Exchange struct {
	// Usage is what the attempt took, as far as the answer reports it.
	Usage memory.Usage
	// URL replaces the address that the client library makes; "" = the library's.
	URL string
	// Edit returns the body to send in place of the library's; nil = as it is.
	Edit func(body []byte) ([]byte, error)
	// Inspect sees the body of an answer with status 200 on its way to the library; nil = nothing does. An error of
	// its reader is the error of the attempt.
	Inspect func(answer io.Reader) io.Reader

	client  *Client
	text    func(string) error
	call    func(call int, name, delta string) error
	emitted bool
	err     error // why the exchange failed; libraries only keep its text
}

// HTTPClient returns a client whose requests go through the exchange.
func (x *Exchange) HTTPClient() *http.Client { return &http.Client{Transport: x} }

// Post sends v as JSON. The caller closes the answer, which has status 200.
func (x *Exchange) Post(ctx context.Context, url string, header http.Header, v any) (io.ReadCloser, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, invalid("the request cannot be written as JSON")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, invalid("the request cannot be made")
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := x.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// PostJSON sends v as JSON and returns the whole answer.
func (x *Exchange) PostJSON(ctx context.Context, url string, header http.Header, v any) ([]byte, error) {
	answer, err := x.Post(ctx, url, header, v)
	if err != nil {
		return nil, err
	}
	defer answer.Close() //nolint:errcheck // it was read
	return io.ReadAll(answer)
}

// RoundTrip implements http.RoundTripper. An answer that it returns has status 200.
func (x *Exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := x.send(r)
	if err != nil {
		return nil, x.fail(err)
	}
	return resp, nil
}

func (x *Exchange) send(r *http.Request) (*http.Response, error) {
	defer r.Body.Close() //nolint:errcheck // a buffer of the client library
	body, err := io.ReadAll(r.Body)
	if err == nil && x.Edit != nil {
		body, err = x.Edit(body)
	}
	if err != nil {
		return nil, invalid("the request cannot be made")
	}
	url := cmp.Or(x.URL, r.URL.String())
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, invalid("the request cannot be made")
	}
	for _, name := range sentHeaders {
		if v := r.Header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	if x.client.at.Key == "" {
		for _, name := range keyHeaders {
			req.Header.Del(name)
		}
	}
	resp, err := x.client.deps.Transport.RoundTrip(req)
	if err != nil {
		return nil, broken("no answer", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()                                  //nolint:errcheck // it was read
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) //nolint:errcheck // the status says enough
		return nil, refused(resp.StatusCode, resp.Header, text, time.Now())
	}
	answer := &body200{x: x, from: &bounded{from: resp.Body, left: maxAnswer}, close: resp.Body}
	if x.Inspect != nil {
		answer.from = x.Inspect(answer.from)
	}
	resp.Body = answer
	resp.Header.Set("Content-Type", "application/json") // libraries refuse what a server labels wrongly
	return resp, nil
}

// fail records why the exchange failed and returns it.
func (x *Exchange) fail(err error) error {
	f := broken("the answer broke off", err)
	if x.err == nil {
		x.err = f
	}
	return f
}

// outcome returns the fault of an attempt that returned err; nil when it succeeded. What the exchange itself recorded
// has priority. An attempt that handed on a piece of its answer is not repeated: the piece cannot be taken back.
func (x *Exchange) outcome(ctx context.Context, err error) error {
	if x.err != nil {
		err = x.err
	}
	if err == nil {
		return nil
	}
	var f *Fault
	switch {
	case errors.As(err, &f):
	case ctx.Err() != nil:
		f = broken("the answer broke off", ctx.Err())
	default: // of a client library: its text may hold the answer
		f = Garbled("the answer cannot be read")
	}
	own := *f
	own.hide(string(x.client.at.Key))
	if x.emitted {
		own.again = false
	}
	return &own
}

// Receive sets who receives the pieces of the answer as they come: those of its text, and those of the arguments of
// tool calls. Either may be nil.
func (x *Exchange) Receive(text func(string) error, call func(call int, name, delta string) error) {
	x.text, x.call = text, call
}

// EmitText hands on a piece of the answer's text.
func (x *Exchange) EmitText(piece string) error {
	if x.text == nil || piece == "" {
		return nil
	}
	x.emitted = true
	return received(x.text(piece))
}

// EmitArguments hands on a piece of the arguments of a tool call, whose name is known.
func (x *Exchange) EmitArguments(call int, name, piece string) error {
	if x.call == nil || piece == "" {
		return nil
	}
	x.emitted = true
	return received(x.call(call, name, piece))
}

// received returns the error of a receiver, which ends the call for good.
func received(err error) error {
	if err == nil {
		return nil
	}
	return &Fault{text: "the receiver of the stream: " + err.Error(), cause: err, outcome: outcomeCanceled}
}

// body200 is the body of an answer with status 200. It records why reading it failed.
type body200 struct {
	x     *Exchange
	from  io.Reader
	close io.Closer
}

// Read implements io.Reader.
func (b *body200) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.x.fail(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body200) Close() error { return b.close.Close() }

// bounded reads up to a number of bytes and fails beyond it.
type bounded struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &Fault{
			text:    fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20),
			meaning: memory.ErrUnavailable, outcome: outcomeUnavailable, down: true,
		}
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Events reads a stream of server-sent events and calls fn with the data of each, in order, until fn reports that it
// has all, or fails. ended reports whether the stream ended before that. Every line of data is an event of its own: no
// provider spreads one over several, and some leave out the empty lines between them.
func Events(r io.Reader, fn func(data []byte) (done bool, err error)) (ended bool, err error) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return false, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data = bytes.TrimSpace(data); len(data) > 0 {
				if done, err := fn(data); done || err != nil {
					return false, err
				}
			}
		}
		if last {
			return true, nil
		}
	}
}
