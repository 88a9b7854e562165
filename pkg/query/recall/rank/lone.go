package rank

import (
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// loneCharacters finds the Chinese characters of a question that none of its pairs with content holds: words of one
// character between particles.
type loneCharacters struct {
	out  []string
	rest string // the character that the pairs so far end with, "" if one of them that has content holds it
	end  int    // of the last pair
}

// add takes the next pair, or a character that stands alone; without says that it carries no content.
func (l *loneCharacters) add(w text.IndexWord, without bool) {
	first, n := utf8.DecodeRune(w.Folded)
	second, m := utf8.DecodeRune(w.Folded[n:])
	if m == 0 {
		return
	}
	begins := w.Start+n != l.end // of a run
	if begins {
		l.flush()
	}
	if without && unicode.Is(unicode.Han, first) && (begins || l.rest != "") {
		l.out = append(l.out, string(first))
	}
	l.rest, l.end = "", w.End
	if without && unicode.Is(unicode.Han, second) {
		l.rest = string(second)
	}
}

// flush ends a run of characters.
func (l *loneCharacters) flush() {
	if l.rest != "" {
		l.out = append(l.out, l.rest)
	}
	l.rest = ""
}

func (l *loneCharacters) found() []string {
	l.flush()
	return l.out
}
