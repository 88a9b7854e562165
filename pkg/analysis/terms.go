package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Term is a word, a number or a single CJK character of a text.
type Term struct {
	Text   string // lower case, without a possessive 's; apostrophes are '
	Stem   string // English stem without diacritics; the Text itself for stop words and numbers
	Stop   bool   // carries no content of its own
	Name   bool   // capitalised inside a sentence, or known as a name
	Number bool   // starts with a digit or is a number word from two up
	Start  int    // byte offset of the word in the text
	End    int    // byte offset behind the word, a possessive 's included
}

// Terms gives the words and numbers of text in order. A run of letters, digits
// and inner apostrophes is one term; decimal points, thousands separators and
// colons inside a number belong to it; CJK runs come as single characters.
// Invalid UTF-8 separates terms. Empty text gives nil.
func Terms(text string) []Term {
	words := scan(text)
	if len(words) == 0 {
		return nil
	}
	out := make([]Term, len(words))
	for i, w := range words {
		t := Term{Text: w.lower, Start: w.start, End: w.end}
		t.Stop = isStop(w.lower)
		t.Number = w.digit || numberWords[w.lower] != ""
		switch {
		case t.Stop, w.digit, w.cjk:
			t.Stem = w.lower
		default:
			t.Stem = stem(w.lower)
		}
		t.Name = isName(words, i)
		out[i] = t
	}
	return out
}

// ContentStems gives the stems of the terms that are no stop words, names
// included, each once, in the order they are first seen.
func ContentStems(text string) []string {
	words := scan(text)
	out := make([]string, 0, len(words))
	seen := make(map[string]struct{}, len(words))
	for _, w := range words {
		if isStop(w.lower) {
			continue
		}
		s := w.lower
		if !w.digit && !w.cjk {
			s = stem(s)
		}
		if _, dup := seen[s]; dup {
			continue
		}
		seen[s] = struct{}{}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// word is a term before its meaning is looked up.
type word struct {
	lower      string
	start, end int
	digit      bool // starts with a digit
	cjk        bool // one CJK character
	upper      bool // starts with an upper-case letter
	caps       bool // two or more letters, none lower case
	first      bool // opens a sentence
	possessive bool // ended in 's
	camel      bool // an upper-case letter behind a lower-case one: GitHub, iPhone
	gap        bool // something else than one space stands before it
}

// scan cuts text into words.
func scan(text string) []word {
	out := make([]word, 0, len(text)/6+1)
	first := true
	lastEnd := -1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if isCJK(r) {
			out = append(out, word{lower: text[i : i+size], start: i, end: i + size, cjk: true, first: first})
			first = false
			i += size
			lastEnd = i
			continue
		}
		if !isWordRune(r) {
			switch r {
			case '.':
				first = len(out) == 0 || lastEnd != i || !abbreviates(out[len(out)-1].lower)
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
		w.first = first
		w.gap = lastEnd < 0 || text[lastEnd:i] != " "
		first = false
		out = append(out, w)
		i = w.end
		lastEnd = i
	}
	return out
}

// abbreviates reports a word whose full stop ends no sentence: a title, an initial.
func abbreviates(w string) bool {
	_, title := titles[w]
	return title && w != "no" || len(w) == 1 && w != "i"
}

// wordAt reads the word that starts at byte i, where a word rune stands.
func wordAt(text string, i int) word {
	r, _ := utf8.DecodeRuneInString(text[i:])
	w := word{start: i, digit: unicode.IsDigit(r), upper: unicode.IsUpper(r)}
	letters, lower := 0, 0
	ascii, fold := true, false
	j := i
	for j < len(text) {
		r, size := utf8.DecodeRuneInString(text[j:])
		if isWordRune(r) && !isCJK(r) {
			if unicode.IsLetter(r) {
				letters++
				switch {
				case unicode.IsLower(r):
					lower++
				case unicode.IsUpper(r):
					fold = true
					w.camel = w.camel || lower > 0
				}
			}
			ascii = ascii && r < utf8.RuneSelf
			j += size
			continue
		}
		if !joins(text, j, r, size, w.digit) {
			break
		}
		ascii = ascii && r < utf8.RuneSelf
		j += size
	}
	w.end = j
	raw := text[i:j]
	if !ascii {
		raw = strings.ReplaceAll(raw, "’", "'")
	}
	if fold || !ascii {
		raw = strings.ToLower(raw)
	}
	w.caps = letters > 1 && lower == 0
	if base, ok := strings.CutSuffix(raw, "'s"); ok && base != "" && !isStop(raw) {
		w.possessive, raw = true, base
	}
	w.lower = raw
	return w
}

// joins reports whether the rune at j, which is no word rune, belongs to the
// word around it: an apostrophe between letters, a separator between digits.
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

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) && !isVariation(r))
}

// isVariation reports the selectors that choose how an emoji is drawn.
func isVariation(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F }
