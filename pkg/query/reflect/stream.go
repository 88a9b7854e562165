package reflect

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// stream sends a response in pieces while it comes. The pieces since the last reset, joined, are the response. A nil
// stream sends nothing.
type stream struct {
	send     func(wire.Delta) error
	sent     strings.Builder // since the last reset
	err      error           // of the first piece that could not be sent; no more are sent after it
	citer    *prompt.Citer
	field    *prompt.FieldReader
	source   int    // what is streamed: sourceNone, sourceText, or a call by its place + 1
	withheld string // text that came and waits until it is long enough to be an answer
	enough   int    // bytes of text from which on it is sent
	came     bool   // a piece, since the last begin
}

// What is streamed before anything came, and when it is the model's text.
const (
	sourceNone = 0
	sourceText = -1
)

func newStream(send func(wire.Delta) error) *stream {
	if send == nil {
		return nil
	}
	return &stream{send: send}
}

// begin prepares for a call of the model. Its text is sent from so many bytes on. What an earlier call sent is void.
func (s *stream) begin(shown func(int) bool, enough int) {
	s.enough, s.withheld, s.came = enough, "", false
	s.citer, s.field, s.source = prompt.NewCiter(shown), prompt.NewFieldReader("answer"), sourceNone
	if s.sent.Len() > 0 {
		s.reset()
	}
}

// begun reports whether anything came of the last call, sent or not.
func (s *stream) begun() bool { return s != nil && s.came }

// text takes a piece of the model's text.
func (s *stream) text(delta string) error {
	s.came = true
	if s.source == sourceNone {
		s.withheld += delta
		if strings.TrimSpace(s.withheld) == "" || len(s.withheld) < s.enough {
			return nil
		}
		s.source, delta = sourceText, s.withheld
	}
	if s.source == sourceText {
		return s.add(delta)
	}
	return nil
}

// call takes a piece of the arguments of a tool call; the answer is in those of done.
func (s *stream) call(call int, name, delta string) error {
	s.came = true
	if s.source == sourceNone && name == prompt.ToolDone {
		s.source = call + 1
	}
	if s.source == call+1 {
		return s.add(s.field.Write(delta))
	}
	return nil
}

// add sends the next piece of an answer. One that grows too long is broken off.
func (s *stream) add(piece string) error {
	if s.sent.Len()+len(piece) > maxResponse {
		return errTooLong
	}
	s.put(s.citer.Write(piece))
	return nil
}

// end sends the rest of a response, or all of it anew when what was sent is not its beginning. It returns the error of
// the first piece that could not be sent.
func (s *stream) end(response string) error {
	if s == nil {
		return nil
	}
	rest, ok := strings.CutPrefix(response, s.sent.String())
	if !ok {
		s.reset()
		rest = response
	}
	for piece := range strings.SplitAfterSeq(rest, "\n") {
		s.put(piece)
	}
	return s.err
}

func (s *stream) reset() {
	s.sent.Reset()
	if s.err == nil {
		s.err = s.send(wire.Delta{Reset: true})
	}
}

// put sends a piece, unless it is empty.
func (s *stream) put(piece string) {
	if piece == "" || s.err != nil {
		return
	}
	s.sent.WriteString(piece)
	s.err = s.send(wire.Delta{Delta: piece})
}
