package text

import (
	"strings"
	"unicode"
)

// scripts are scripts that one language, or one above all, is written in.
var scripts = []struct {
	table    *unicode.RangeTable
	language Language
}{
	{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Han, "zh"}, {unicode.Hangul, "ko"}, {unicode.Cyrillic, "ru"}, {unicode.Greek, "el"},
	{unicode.Arabic, "ar"}, {unicode.Hebrew, "he"}, {unicode.Devanagari, "hi"}, {unicode.Thai, "th"}, {unicode.Bengali, "bn"}, {unicode.Tamil, "ta"},
	{unicode.Telugu, "te"}, {unicode.Kannada, "kn"}, {unicode.Malayalam, "ml"}, {unicode.Gujarati, "gu"}, {unicode.Gurmukhi, "pa"}, {unicode.Sinhala, "si"},
	{unicode.Georgian, "ka"}, {unicode.Armenian, "hy"}, {unicode.Ethiopic, "am"}, {unicode.Khmer, "km"}, {unicode.Lao, "lo"}, {unicode.Myanmar, "my"},
	{unicode.Tibetan, "bo"},
}

// scriptOf returns the language of the script that most letters of s belong to; "" for Latin. A character of Chinese
// counts for three letters, for it says as much, and kana make a text Japanese.
func scriptOf(s string) Language {
	count := make([]int, len(scripts))
	latin := 0
	for _, r := range s {
		if r < 0x370 {
			if unicode.IsLetter(r) {
				latin++
			}
			continue
		}
		for i := range scripts {
			if unicode.Is(scripts[i].table, r) {
				count[i]++
				if scripts[i].language == "zh" || scripts[i].language == "ja" || scripts[i].language == "ko" {
					count[i] += 2
				}
				break
			}
		}
	}
	best := -1
	for i, n := range count {
		if n > 0 && (best < 0 || n > count[best]) {
			best = i
		}
	}
	switch {
	case best < 0, count[best] <= latin/2:
		return ""
	case count[0]+count[1] > 0 && scripts[best].language == "zh":
		return "ja"
	case scripts[best].language == "ru":
		return cyrillic(strings.ToLower(s))
	case scripts[best].language == "ar" && strings.ContainsAny(s, "پچژگکی"):
		return "fa"
	}
	return scripts[best].language
}

// cyrillic returns which language of the script a text in lower case is.
func cyrillic(s string) Language {
	switch {
	case strings.ContainsAny(s, "іїєґ"):
		return "uk"
	case strings.ContainsAny(s, "љњћђџј"):
		return "sr"
	case strings.ContainsAny(s, "әғқңөұүһ"):
		return "kk"
	case strings.ContainsAny(s, "ыэё"):
		return "ru"
	}
	for w := range strings.FieldsSeq(s) {
		switch strings.Trim(w, ".,!?;:") {
		case "съм", "са", "се", "ще", "аз", "ми", "е", "беше":
			return "bg"
		}
	}
	return "ru"
}
