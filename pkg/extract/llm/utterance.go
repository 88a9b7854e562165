package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// utterance is a message, or a piece of one, as it is shown to the model.
type utterance struct {
	message memory.Message
	text    string
	tokens  int
	overlap int // characters that further pieces share
}

// utterances returns the messages as they are shown: with their captions, compressed where that is on, and long ones
// in pieces.
func utterances(in []memory.Message, c Config) []utterance {
	out := make([]utterance, 0, len(in))
	for _, m := range in {
		s := m.Content
		if caption := m.Caption(); caption != "" {
			s = strings.TrimSpace(s + " [image: " + caption + "]")
		}
		if c.Rate > 0 && c.Rate < 1 {
			s = Compress(s, c.Rate)
		}
		u := utterance{message: m, text: s, tokens: text.CountTokens(s), overlap: c.Overlap}
		if u.tokens <= c.MaxInput {
			out = append(out, u)
			continue
		}
		out = append(out, u.pieces(c.MaxInput)...)
	}
	return out
}

// minPiece is the length, in characters, below which an utterance is not cut.
const minPiece = 256

// pieces cuts an utterance into pieces of at most limit tokens.
func (u utterance) pieces(limit int) []utterance {
	size := utf8.RuneCountInString(u.text)
	for {
		size = max(size/2, u.overlap+1, minPiece)
		out := u.cut(size, min(u.overlap, size/2))
		fits := true
		for _, piece := range out {
			fits = fits && piece.tokens <= limit
		}
		if fits || size <= max(u.overlap+1, minPiece) {
			return out
		}
	}
}

// halves cuts an utterance into two pieces; the second is empty for a short utterance.
func (u utterance) halves() (first, second []utterance) {
	n := utf8.RuneCountInString(u.text)
	if n < 2*minPiece {
		return []utterance{u}, nil
	}
	overlap := min(u.overlap, n/8)
	pieces := u.cut((n+1)/2+overlap, overlap)
	return pieces[:1], pieces[1:]
}

// cut cuts an utterance into pieces of at most size characters.
func (u utterance) cut(size, overlap int) []utterance {
	var out []utterance
	for _, p := range Split(u.text, size, overlap) {
		piece := utterance{message: u.message, text: u.text[p.From:p.To], overlap: u.overlap}
		piece.tokens = text.CountTokens(piece.text)
		out = append(out, piece)
	}
	return out
}

// verbatim returns an utterance as a fact of its own, for what the model takes in no size.
func (u utterance) verbatim() extract.Draft {
	return extract.Draft{
		Text:    u.message.Speaker + ": " + memory.Truncate(u.text, memory.MaxFactText-memory.MaxName-2),
		Sources: []memory.MessageID{u.message.ID},
	}
}

// messages returns the message of each utterance.
func messages(batch []utterance) []memory.Message {
	out := make([]memory.Message, len(batch))
	for i, u := range batch {
		out[i] = u.message
	}
	return out
}

// The bounds of the context that is shown before the new messages, where the window does not set them.
const (
	maxContext       = 6 // utterances
	maxContextTokens = 1024
)

// contextTail returns the end of what stands before the new messages, within the bounds of context.
func contextTail(before []utterance) []utterance {
	tokens := 0
	for i := len(before) - 1; i >= 0; i-- {
		tokens += before[i].tokens
		if tokens > maxContextTokens || len(before)-i > maxContext {
			return before[i+1:]
		}
	}
	return before
}

// Piece is a stretch of a text, in bytes.
type Piece struct{ From, To int }

// Split cuts a text into pieces of at most size characters. Together they hold every byte of it, each begins exactly
// overlap characters before the end of the previous one, and none begins or ends inside a character. A piece ends behind
// white space where there is some in its last third, and never between a letter and its marks unless nothing else is
// possible. A text that fits is one piece, an empty one none. A size below 1 counts as 1, an overlap outside 0 to
// size-1 as the nearer bound.
func Split(text string, size, overlap int) []Piece {
	size = max(size, 1)
	overlap = max(0, min(overlap, size-1))
	at := make([]int, 0, len(text)+1) // where each character begins
	for i := range text {
		at = append(at, i)
	}
	n := len(at)
	at = append(at, len(text))
	var out []Piece
	for from := 0; from < n; {
		to := from + size
		if to >= n {
			return append(out, Piece{at[from], len(text)})
		}
		to = breakAt(text, at, max(from+overlap+1, to-size/3), to)
		out = append(out, Piece{at[from], at[to]})
		from = to - overlap
	}
	return out
}

// breakAt returns the last good place from low to high to end a piece, else high.
func breakAt(text string, at []int, low, high int) int {
	r := func(i int) rune { c, _ := utf8.DecodeRuneInString(text[at[i]:]); return c }
	for i := high; i >= low; i-- {
		if unicode.IsSpace(r(i-1)) && !unicode.IsSpace(r(i)) {
			return i
		}
	}
	for i := high; i >= low; i-- {
		if !unicode.Is(unicode.M, r(i)) && r(i) != '\u200d' && r(i-1) != '\u200d' {
			return i
		}
	}
	return high
}
