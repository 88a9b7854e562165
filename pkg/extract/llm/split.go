package llm

import (
	"unicode"
	"unicode/utf8"
)

// Piece is a stretch of a text, in bytes.
type Piece struct{ From, To int }

// Split cuts a text into pieces of at most size characters. Together they hold
// every byte of it, each begins exactly overlap characters before the end of the one
// before it, and none begins or ends inside a character. A piece ends behind white space where there
// is some in its last third, and never between a letter and its marks unless
// nothing else is possible. A text that fits is one piece, an empty one none.
// size is taken as 1 or more, overlap as 0 to less than size.
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

// breakAt gives the last good place to end a piece from low to high, else high.
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
