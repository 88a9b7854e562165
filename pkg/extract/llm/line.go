package llm

import (
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// line is a message, or a piece of one, as it is put to the model.
type line struct {
	message memory.Message
	text    string
	tokens  int
	overlap int // characters that further pieces share
}

// lines gives the messages as they are shown: captions beside the words,
// compressed where that is on, and long ones in pieces.
func lines(in []memory.Message, c Config) []line {
	out := make([]line, 0, len(in))
	for _, m := range in {
		text := m.Content
		if caption := m.Caption(); caption != "" {
			text = strings.TrimSpace(text + " [image: " + caption + "]")
		}
		if c.Rate > 0 && c.Rate < 1 {
			text = Compress(text, c.Rate)
		}
		one := line{message: m, text: text, tokens: analysis.CountTokens(text), overlap: c.Overlap}
		if one.tokens <= c.MaxInput {
			out = append(out, one)
			continue
		}
		out = append(out, one.pieces(c.MaxInput)...)
	}
	return out
}

// pieces cuts a line into pieces of at most so many tokens.
func (l line) pieces(limit int) []line {
	size := utf8.RuneCountInString(l.text)
	for {
		size = max(size/2, l.overlap+1, minPiece)
		var out []line
		fits := true
		for _, p := range Split(l.text, size, min(l.overlap, size/2)) {
			part := line{message: l.message, text: l.text[p.From:p.To], overlap: l.overlap}
			part.tokens = analysis.CountTokens(part.text)
			fits = fits && part.tokens <= limit
			out = append(out, part)
		}
		if fits || size <= max(l.overlap+1, minPiece) {
			return out
		}
	}
}

// minPiece is the length of a line, in characters, below which it is not cut.
const minPiece = 256

// halves cuts a line into two pieces; the second is empty for a short line.
func (l line) halves() (first, second []line) {
	n := utf8.RuneCountInString(l.text)
	if n < 2*minPiece {
		return []line{l}, nil
	}
	overlap := min(l.overlap, n/8)
	for i, p := range Split(l.text, (n+1)/2+overlap, overlap) {
		part := line{message: l.message, text: l.text[p.From:p.To], overlap: l.overlap}
		part.tokens = analysis.CountTokens(part.text)
		if i == 0 {
			first = append(first, part)
		} else {
			second = append(second, part)
		}
	}
	return first, second
}

// whole is a line as a fact of its own: what the model takes in no size is
// kept as it was said.
func (l line) whole() extract.Draft {
	return extract.Draft{Text: l.message.Speaker + ": " + clip(l.text, memory.MaxFactText-memory.MaxName-2), Sources: []memory.MessageID{l.message.ID}}
}

// messages gives the message of each line.
func messages(batch []line) []memory.Message {
	out := make([]memory.Message, len(batch))
	for i, l := range batch {
		out[i] = l.message
	}
	return out
}

// The most that is shown of what stands before the new messages, where the
// window does not say.
const (
	contextLines  = 6
	contextTokens = 1024
)

// last gives the end of what stands before, within the bounds of context.
func last(before []line) []line {
	tokens := 0
	for i := len(before) - 1; i >= 0; i-- {
		tokens += before[i].tokens
		if tokens > contextTokens || len(before)-i > contextLines {
			return before[i+1:]
		}
	}
	return before
}
