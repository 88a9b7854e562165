package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
)

// maxLine is the length of a line, in bytes, that langchaingo surely reads: it gives up at 64 KiB.
const maxLine = 32 << 10

// stream is a streamed answer on its way to langchaingo, which puts its text together. The stream hands the pieces on
// as they come and collects what langchaingo drops: tool calls by their index, the reason for stopping, and errors.
type stream struct {
	x    *call.Exchange
	from *bufio.Reader
	out  bytes.Buffer // what langchaingo is to read next
	err  error        // what follows it

	calls   []streamedCall
	refusal string
	finish  string
	done    bool // the server said that the stream is complete
	length  int  // of the text, in bytes
}

// streamedCall is a tool call that comes in pieces.
type streamedCall struct {
	id, name  string
	arguments []byte
	emitted   int // bytes of the arguments that were handed on
}

func newStream(from io.Reader, x *call.Exchange) *stream {
	return &stream{x: x, from: bufio.NewReader(from)}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for s.out.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.err = s.next()
	}
	return s.out.Read(p)
}

// next reads a line; io.EOF follows the last one.
func (s *stream) next() error {
	line, end := s.from.ReadBytes('\n')
	if end != nil && !errors.Is(end, io.EOF) {
		return end
	}
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
		return end
	}
	if string(data) == "[DONE]" {
		s.done = true
		return io.EOF
	}
	var c completion
	if json.Unmarshal(data, &c) != nil {
		return call.Garbled("a piece of the stream is no completion but %s", call.Describe(data))
	}
	if err := c.failure("amid the stream", data); err != nil {
		return err
	}
	if c.Usage != nil {
		s.x.Usage = c.Usage.counted()
	}
	if len(c.Choices) == 0 {
		return end
	}
	if err := s.add(&c, line); err != nil {
		return err
	}
	return end
}

// add takes in a piece of the answer and hands it on.
func (s *stream) add(c *completion, line []byte) error {
	piece := c.Choices[0]
	if piece.FinishReason != "" {
		s.finish = piece.FinishReason
	}
	s.refusal = cmp.Or(s.refusal, piece.Delta.Refusal)
	if len(piece.Delta.Calls) > 0 || len(line) > maxLine || c.isOdd(piece.Delta) {
		s.passText(piece.Delta.Content.value)
	} else {
		s.out.Write(append(bytes.TrimRight(line, "\r\n"), '\n'))
	}
	s.length += len(piece.Delta.Content.value)
	s.addCalls(piece.Delta.Calls)
	if err := s.x.EmitText(piece.Delta.Content.value); err != nil {
		return err
	}
	return s.emitCalls()
}

// passText passes the text of a piece on its own, where langchaingo could not read the piece.
func (s *stream) passText(rest string) {
	for rest != "" {
		n := min(len(rest), maxLine/8) // JSON may write a byte as six
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		event, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]string{"content": rest[:n]}}}})
		if err != nil {
			return // a string is always JSON
		}
		s.out.WriteString("data: ")
		s.out.Write(event)
		s.out.WriteString("\n")
		rest = rest[n:]
	}
}

// addCalls takes in pieces of tool calls. A piece names its call by its index; one without an index continues the last
// call, unless it brings a new id.
func (s *stream) addCalls(pieces []toolCall) {
	for _, piece := range pieces {
		at := len(s.calls) - 1
		switch {
		case piece.Index != nil:
			at = *piece.Index
		case at < 0 || piece.ID != "" && s.calls[at].id != "" && piece.ID != s.calls[at].id:
			at++
		}
		if at < 0 || at >= call.MaxCalls {
			continue
		}
		for len(s.calls) <= at {
			s.calls = append(s.calls, streamedCall{})
		}
		c := &s.calls[at]
		if piece.ID != "" {
			c.id = piece.ID
		}
		c.name = cmp.Or(c.name, piece.Function.Name)
		c.arguments = append(c.arguments, piece.Function.Arguments.value...)
	}
}

// emitCalls hands on what came of the arguments of calls whose name is known.
func (s *stream) emitCalls() error {
	for i := range s.calls {
		c := &s.calls[i]
		if c.name == "" {
			continue
		}
		piece := string(c.arguments[c.emitted:])
		c.emitted = len(c.arguments)
		if err := s.x.EmitArguments(i, c.name, piece); err != nil {
			return err
		}
	}
	return nil
}

// completion returns the answer of a stream that was read to its end, with the text that langchaingo put together. A
// stream that ends before the model stopped was cut off.
func (s *stream) completion(text string) (memory.Completion, error) {
	if !s.done && s.finish == "" {
		return memory.Completion{}, call.Garbled("the stream ended before the answer did")
	}
	if len(text) != s.length {
		return memory.Completion{}, call.Garbled("the text of the stream cannot be read")
	}
	if err := verdict(s.refusal, s.finish); err != nil {
		return memory.Completion{}, err
	}
	out := memory.Completion{Text: text, Truncated: s.finish == stoppedByLimit}
	for i, c := range s.calls {
		out.Calls = appendCall(out.Calls, i, c.id, c.name, string(c.arguments))
	}
	return out, nil
}
