package rank

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unspacedThings are words for things in a script without spaces, by their first character.
type unspacedThings map[rune][]string

func (t unspacedThings) add(word string) {
	first, _ := utf8.DecodeRuneInString(word)
	t[first] = append(t[first], word)
}

// in returns how many words for things a text has outside its questions; a word within a longer one is not counted again.
func (t unspacedThings) in(s string) (n int) {
	sentence := sentences(s)
	var before rune
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		longest := 0
		for _, w := range t[c] {
			if len(w) > longest && strings.HasPrefix(s[i:], w) && !cutsKatakana(before, w, s[i+len(w):]) {
				longest = len(w)
			}
		}
		if longest > 0 {
			if !sentence.asks(i) {
				n++
			}
			size = longest
		}
		before, _ = utf8.DecodeLastRuneInString(s[:i+size])
		i += size
	}
	return n
}

// cutsKatakana reports whether a word begins or ends inside a run of Katakana, which is one word: "パン" is no part of
// "パンツ". before is the character in front of the word, and rest is what follows.
func cutsKatakana(before rune, word, rest string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	next, _ := utf8.DecodeRuneInString(rest)
	return isKatakana(first) && isKatakana(before) || isKatakana(last) && isKatakana(next)
}

func isKatakana(r rune) bool { return unicode.Is(unicode.Katakana, r) || r == 'ー' }
