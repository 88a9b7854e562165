package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Grams returns the single characters and the pairs of neighbours of every CJK run of text, joined by spaces, each as
// often as it occurs; "" for text without CJK. A word index needs them to find queries of one or two characters in
// scripts that put no spaces between words.
func Grams(text string) string {
	if IsASCII(text) {
		return ""
	}
	var b strings.Builder
	prev := ""
	for _, r := range text {
		if !isCJK(r) {
			prev = ""
			continue
		}
		c := string(r)
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
	}
	return b.String()
}

// chineseParticles are pronouns, particles, question words and the like of Chinese that seldom stand in a word of content.
const chineseParticles = "的了吗呢吧啊呀嘛么什哪谁我你您他她它们咱这那是在把让也很几怎"

// IsFunctionGram reports whether one or two characters of a text without spaces in a language carry no content: of Chinese
// those that hold a particle, of Japanese Hiragana alone, which writes endings and particles.
func IsFunctionGram(gram string, language Language) bool {
	switch language {
	case "zh":
		return strings.ContainsAny(gram, chineseParticles)
	case "ja":
		return strings.IndexFunc(gram, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) < 0
	}
	return false
}

// IsASCII reports whether s has no byte above 127.
func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isCJK reports whether r is a letter of Chinese, Japanese or Korean.
func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return r >= 0x4E00 && r <= 0x9FFF || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r == 'ー'
}
