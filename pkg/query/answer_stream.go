package query

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/answer"
)

// stream sends a response in pieces, as it comes. The pieces since the last
// reset, joined, are the response. A nil stream sends nothing.
type stream struct {
	send   func(memory.Delta) error
	sent   strings.Builder // since the last reset
	err    error           // of the first piece that could not be sent; no more are
	citer  *answer.Citer
	field  *answer.Field
	source int // what streams: none, the text, or a call by its place + 1
	hold   int // bytes of text that are held before any is sent
	held   string
	came   bool // a piece, since the last begin
}

// The source of a stream before anything came, and when it is the text.
const (
	sourceNone = 0
	sourceText = -1
)

func newStream(send func(memory.Delta) error) *stream {
	if send == nil {
		return nil
	}
	return &stream{send: send}
}

// begin prepares for a call of the model, the first bytes of whose text are
// held. What an earlier call sent is void.
func (st *stream) begin(known func(int) bool, hold int) {
	st.hold, st.held, st.came = hold, "", false
	st.citer, st.field, st.source = answer.NewCiter(known), answer.NewField("answer"), sourceNone
	if st.sent.Len() > 0 {
		st.reset()
	}
}

// begun reports whether anything came of the last call, sent or not.
func (st *stream) begun() bool { return st != nil && st.came }

// text takes a piece of the model's text.
func (st *stream) text(delta string) error {
	st.came = true
	if st.source == sourceNone {
		st.held += delta
		if strings.TrimSpace(st.held) == "" || len(st.held) < st.hold {
			return nil
		}
		st.source, delta = sourceText, st.held
	}
	if st.source == sourceText {
		return st.grow(delta)
	}
	return nil
}

// grow sends the next piece of an answer. One that does not end is broken off.
func (st *stream) grow(piece string) error {
	if st.sent.Len()+len(piece) > maxResponse {
		return errEndless
	}
	st.put(st.citer.Write(piece))
	return nil
}

// call takes a piece of the arguments of a tool call; the answer is in those of done.
func (st *stream) call(call int, name, delta string) error {
	st.came = true
	if st.source == sourceNone && name == answer.ToolDone {
		st.source = call + 1
	}
	if st.source == call+1 {
		return st.grow(st.field.Write(delta))
	}
	return nil
}

// end sends what is left of a response, or all of it anew when what was sent is
// not its beginning. It gives the error of any piece.
func (st *stream) end(response string) error {
	if st == nil {
		return nil
	}
	rest, ok := strings.CutPrefix(response, st.sent.String())
	if !ok {
		st.reset()
		rest = response
	}
	for piece := range strings.SplitAfterSeq(rest, "\n") {
		st.put(piece)
	}
	return st.err
}

func (st *stream) reset() {
	st.sent.Reset()
	if st.err == nil {
		st.err = st.send(memory.Delta{Reset: true})
	}
}

// put sends a piece that holds something.
func (st *stream) put(piece string) {
	if piece == "" || st.err != nil {
		return
	}
	st.sent.WriteString(piece)
	st.err = st.send(memory.Delta{Delta: piece})
}
