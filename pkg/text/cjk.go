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

// GramForm returns the form under which a word of a script without spaces is found among Grams, whatever stands before and
// behind it: one or two characters are a gram, a longer word the grams behind its first character, one after the other. It
// is "" for a word of another script.
func GramForm(word string) string {
	first, n := utf8.DecodeRuneInString(word)
	if !isCJK(first) {
		return ""
	}
	if second := word[n:]; utf8.RuneCountInString(second) < 2 {
		return word
	}
	return strings.TrimPrefix(Grams(word), word[:n]+" ")
}

// chineseParticles are pronouns, particles, question words and the like of Chinese that seldom stand in a word of content.
const chineseParticles = "的了吗呢吧啊呀嘛么什哪谁我你您他她它们咱这那是在把让也很几怎"

// japaneseParticles are particles of Japanese that follow a noun and are seldom the ending of a verb. japaneseQuestions are
// characters that only ask.
const japaneseParticles, japaneseQuestions = "のはがをにへとでも", "何誰"

// chineseAlone are characters of Chinese that are no word of content where they stand alone.
const chineseAlone = "一二三个里中上下有是不没和与对从到为都会要能做去来多少第种些次用时候年月日"

// IsFunctionGram reports whether one or two characters of a text without spaces in a language carry no content: of Chinese
// those that hold a particle, and a character that says little alone; of Japanese Hiragana alone, which writes endings and particles, and a character with the
// particle behind it or with what stands before it.
func IsFunctionGram(gram string, language Language) bool {
	switch language {
	case "zh":
		return strings.ContainsAny(gram, chineseParticles) || utf8.RuneCountInString(gram) == 1 && strings.Contains(chineseAlone, gram)
	case "ja":
		first, n := utf8.DecodeRuneInString(gram)
		rest := gram[n:]
		return unicode.Is(unicode.Hiragana, first) || rest != "" && strings.Contains(japaneseParticles, rest) ||
			rest == "" && strings.ContainsRune(japaneseQuestions, first)
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
