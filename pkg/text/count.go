package text

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// encoding loads the tokenizer at its first use. Its tables are part of the program, those of this one encoding alone:
// the library's own choice by name would link all of them.
var encoding = sync.OnceValue(codec.NewCl100kBase)

// countPiece bounds what is counted at once, in bytes: byte pair encoding of one long run without spaces grows with its
// square.
const countPiece = 4096

// CountTokens returns the size of text in tokens of the cl100k encoding. Text of more than 4 KiB is counted in pieces,
// which adds at most one token a piece. Where the tokenizer refuses a text, four bytes count as one token.
func CountTokens(text string) int {
	n := 0
	for len(text) > 0 {
		piece := text
		if len(piece) > countPiece {
			piece = piece[:cutAt(piece, countPiece)]
		}
		n += countOne(piece)
		text = text[len(piece):]
	}
	return n
}

func countOne(s string) int {
	if n, err := encoding().Count(s); err == nil {
		return n
	}
	return (len(s) + 3) / 4
}

// cutAt returns the last index at or before n at which to cut s: before a space near n, else at a rune boundary. It is
// never 0 for n of 4 or more.
func cutAt(s string, n int) int {
	for i := n; i > n-128 && i > 0; i-- {
		if s[i] == ' ' || s[i] == '\n' {
			return i
		}
	}
	for back := 1; back < utf8.UTFMax && back < n; back++ {
		if utf8.RuneStart(s[n-back+1]) {
			return n - back + 1
		}
	}
	return n
}
