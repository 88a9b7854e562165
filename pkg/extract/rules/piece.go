package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// piece is a word of a sentence, or what separates two words.
type piece struct {
	text string
	low  string // lower case; "" where it is no word
}

// split cuts a sentence into pieces; joined again they are the sentence. Sentences are rewritten piece by piece, so
// this is no list of words as text.Words gives it. A word is letters, digits and inner apostrophes.
func split(s string) []piece {
	var out []piece
	for i := 0; i < len(s); {
		j := i
		word := false
		for j < len(s) {
			r, size := utf8.DecodeRuneInString(s[j:])
			in := letter(r) || r == '\'' && j > i && word && j+1 < len(s) && letter(rune(s[j+1]))
			if j == i {
				word = in
			}
			if in != word {
				break
			}
			j += size
		}
		p := piece{text: s[i:j]}
		if word {
			p.low = strings.ToLower(p.text)
		}
		out = append(out, p)
		i = j
	}
	return out
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func join(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text)
	}
	return b.String()
}

// phrase returns the words in lower case, with a space before and behind each, so that a phrase is found by its whole
// words.
func phrase(ps []piece) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, p := range ps {
		if p.low != "" {
			b.WriteString(p.low)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// next returns the index of the first word at or after i, len(ps) for none.
func next(ps []piece, i int) int {
	for i < len(ps) && ps[i].low == "" {
		i++
	}
	return i
}

// phraseList reads a list of phrases, separated by commas or line breaks.
func phraseList(list string) []string {
	var out []string
	for _, l := range strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == ',' }) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// capitalise sets a first letter in upper case, except in names such as iPhone.
func capitalise(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	if i := strings.IndexByte(s, ' '); i > 0 && strings.ContainsFunc(s[size:i], unicode.IsUpper) { // iPhone, eBay
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// uncapitalise sets the first word of a sentence in lower case, unless it is a name or "I".
func uncapitalise(ps []piece) {
	for i := range ps {
		if ps[i].low == "" {
			continue
		}
		if ps[i].low != "i" && !strings.HasPrefix(ps[i].low, "i'") && len(ps[i].text) > 1 && ps[i].text[1:] == ps[i].low[1:] {
			ps[i].text = ps[i].low
		}
		return
	}
}

// withoutMarks removes the mark or number of a list item, of a heading or of a quotation from the front ("2. ", "3) ",
// "- ", "## "), and the signs of emphasis around words. The number of a date ("20. Februar") stays.
func withoutMarks(s string) string {
	s = strings.TrimLeft(s, "#>*•‣▪◦·–—- ")
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && s[n+1] == ' ' && (s[n] == ')' || s[n] == '.' && !text.IsOrdinal(s[:n], s[n+2:])) {
		s = s[n+2:]
	}
	return emphasis.Replace(s)
}

var emphasis = strings.NewReplacer("**", "", "__", "")

// shorten truncates a sentence to maxSentence bytes.
func shorten(s string) string {
	if len(s) > maxSentence {
		return truncate(s, maxSentence)
	}
	return s
}
