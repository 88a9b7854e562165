package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are strings of which a text is to contain one. They are looked for in one pass, however many they are.
type Words struct {
	words  []string
	place  [256]uint16 // by key: where in groups the words of the key are
	groups [][]string  // the first is empty
}

// NewWords returns the set of words, each of two bytes or more. Shorter ones panic.
func NewWords(words ...string) *Words {
	a := &Words{words: words, groups: make([][]string, 1, len(words)+1)}
	for _, w := range words {
		k := key(w[0], w[1])
		if a.place[k] == 0 {
			a.place[k] = uint16(len(a.groups)) //nolint:gosec // a key has one at most
			a.groups = append(a.groups, nil)
		}
		a.groups[a.place[k]] = append(a.groups[a.place[k]], w)
	}
	return a
}

// key is where the words that begin with two bytes stand.
func key(first, second byte) byte { return first*7 ^ second*29 }

// In reports whether a text contains one of the words.
func (a *Words) In(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		for _, w := range a.groups[a.place[key(s[i], s[i+1])]] {
			if strings.HasPrefix(s[i:], w) {
				return true
			}
		}
	}
	return false
}

// folded returns a text in which letters that an expression may take for one another, in either case, are the same.
func folded(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(foldedRune, s)
		}
	}
	return strings.ToLower(s)
}

// foldedRune returns the least of the runes that are the same but for their case, in lower case if it is ASCII.
func foldedRune(r rune) rune {
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}
