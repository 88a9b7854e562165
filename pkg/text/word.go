package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word, number or CJK character of a text, with what its spelling and its surroundings say about it.
type Word struct {
	Lower      string // lower case, without a possessive 's; apostrophes are '
	Start, End int    // byte offsets in the text; End includes a possessive 's
	Digit      bool   // begins with a digit
	CJK        bool   // is one Chinese, Japanese or Korean character
	Upper      bool   // begins with an upper-case letter
	Caps       bool   // has two letters or more, none of them lower case
	First      bool   // opens a sentence
	Possessive bool   // ended in 's
	Camel      bool   // has an upper-case letter behind a lower-case one: GitHub, iPhone
	Gap        bool   // something other than one space separates it from the word before
}

// Words cuts text into words, in order. A run of letters, digits and inner apostrophes is one word. Decimal points,
// thousands separators and colons between digits belong to their number. Each CJK character is a word. Invalid UTF-8
// separates words. The result is empty for text without words.
func Words(text string) []Word {
	out := make([]Word, 0, len(text)/6+1)
	first := true
	lastEnd := -1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if isCJK(r) {
			out = append(out, Word{Lower: text[i : i+size], Start: i, End: i + size, CJK: true, First: first})
			first = false
			i += size
			lastEnd = i
			continue
		}
		if !IsWordRune(r) {
			switch r {
			case '.':
				first = len(out) == 0 || lastEnd != i || !abbreviates(out[len(out)-1].Lower)
			case '!', '?', '\n', '…', '。', '！', '？', ':', ';', '"', '“', '(', '•', '*', '>':
				first = true
			default:
				if r > 0x2190 { // arrows, symbols, emoji
					first = true
				}
			}
			i += size
			continue
		}
		w := wordAt(text, i)
		w.First = first
		w.Gap = lastEnd < 0 || text[lastEnd:i] != " "
		first = false
		out = append(out, w)
		i = w.End
		lastEnd = i
	}
	return out
}

// abbreviates reports whether a full stop behind the word ends no sentence: the word is a title or an initial.
func abbreviates(w string) bool {
	return titles.Has(w) && w != "no" || len(w) == 1 && w != "i"
}

// wordAt returns the word that begins at byte i, which must be the start of a word rune.
func wordAt(text string, i int) Word {
	r, _ := utf8.DecodeRuneInString(text[i:])
	w := Word{Start: i, Digit: unicode.IsDigit(r), Upper: unicode.IsUpper(r)}
	letters, lower := 0, 0
	ascii, fold := true, false
	j := i
	for j < len(text) {
		r, size := utf8.DecodeRuneInString(text[j:])
		if IsWordRune(r) && !isCJK(r) {
			if unicode.IsLetter(r) {
				letters++
				switch {
				case unicode.IsLower(r):
					lower++
				case unicode.IsUpper(r):
					fold = true
					w.Camel = w.Camel || lower > 0
				}
			}
			ascii = ascii && r < utf8.RuneSelf
			j += size
			continue
		}
		if !joins(text, j, r, size, w.Digit) {
			break
		}
		ascii = ascii && r < utf8.RuneSelf
		j += size
	}
	w.End = j
	raw := text[i:j]
	if !ascii {
		raw = strings.ReplaceAll(raw, "’", "'")
	}
	if fold || !ascii {
		raw = strings.ToLower(raw)
	}
	w.Caps = letters > 1 && lower == 0
	if base, ok := strings.CutSuffix(raw, "'s"); ok && base != "" && !IsStop(raw) {
		w.Possessive, raw = true, base
	}
	w.Lower = raw
	return w
}

// joins reports whether the rune at j, which is no word rune, belongs to the word around it: an apostrophe before a
// letter, or a separator between digits.
func joins(text string, j int, r rune, size int, digit bool) bool {
	next, _ := utf8.DecodeRuneInString(text[j+size:])
	switch r {
	case '\'', '’':
		return unicode.IsLetter(next) && !isCJK(next)
	case '.', ',', ':':
		return digit && unicode.IsDigit(next) && unicode.IsDigit(rune(text[j-1]))
	}
	return false
}

// IsWordRune reports whether words are made of r: letters, digits, the underscore and combining marks.
func IsWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc) && !isVariation(r))
}

// isVariation reports a selector that chooses how an emoji is drawn.
func isVariation(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F }
