package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Grams gives the single characters and the pairs of neighbours of every CJK
// run of text, joined by spaces, each as often as it stands there; "" for text
// without CJK. It is what a word index needs to find one and two character
// queries in scripts that put no spaces between words.
func Grams(text string) string {
	if isASCII(text) {
		return ""
	}
	var b strings.Builder
	prev := ""
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isCJK(r) {
			prev = ""
			i += size
			continue
		}
		c := text[i : i+size]
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c)
		if prev != "" {
			b.WriteByte(' ')
			b.WriteString(prev)
			b.WriteString(c)
		}
		prev = c
		i += size
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isCJK reports the letters of Chinese, Japanese and Korean.
func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return r >= 0x4E00 && r <= 0x9FFF || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r == 'ー'
}
