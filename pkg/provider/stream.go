package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// events reads a stream of server-sent events and calls fn with each line of
// data, in order, until fn says that it has all, or fails. It reports whether
// the stream ended by itself before that. Every line is an event of its own:
// no provider spreads one over several, and some leave out the empty lines.
func events(r io.Reader, fn func(data []byte) (done bool, err error)) (ended bool, err error) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return false, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data = bytes.TrimSpace(data); len(data) > 0 {
				done, err := fn(data)
				if done || err != nil {
					return false, err
				}
			}
		}
		if last {
			return true, nil
		}
	}
}

// streamed reports whether the answer to a prompt is asked for as a stream.
func streamed(p memory.Prompt) bool { return p.Stream != nil || p.StreamCall != nil }

// emitter hands the pieces of one attempt's answer to the receivers of a
// prompt. A nil emitter is an answer that comes whole.
type emitter struct {
	stream func(string) error
	calls  func(call int, name, delta string) error
	said   bool
}

func newEmitter(p memory.Prompt) *emitter {
	if !streamed(p) {
		return nil
	}
	return &emitter{stream: p.Stream, calls: p.StreamCall}
}

// text hands on a piece of the answer's text.
func (e *emitter) text(piece string) error {
	if e == nil || e.stream == nil || piece == "" {
		return nil
	}
	e.said = true
	return received(e.stream(piece))
}

// arguments hands on a piece of the arguments of a call, whose name is known.
func (e *emitter) arguments(call int, name, piece string) error {
	if e == nil || e.calls == nil || piece == "" {
		return nil
	}
	e.said = true
	return received(e.calls(call, name, piece))
}

// received gives the error of a receiver, which ends the call for good.
func received(err error) error {
	if err == nil {
		return nil
	}
	return &fault{text: "the receiver of the stream: " + err.Error(), cause: err, outcome: outcomeCanceled}
}

// settle says that what fails after a piece was handed on is not tried again:
// the piece cannot be taken back.
func (e *emitter) settle(err error) error {
	if err == nil || e == nil || !e.said {
		return err
	}
	f := *broken("the answer broke off", err)
	f.again = false
	return &f
}
