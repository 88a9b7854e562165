package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a word of a sentence or what stands between two words.
type piece struct {
	text string
	low  string // lower case; "" where it is no word
}

// split cuts a sentence into pieces; together they are the sentence. A word is
// letters, digits and inner apostrophes.
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

// phrase is the words in lower case, each with a space on both sides, so that
// a phrase is found by its words alone.
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

// next gives the index of the first word at or after i, len(ps) for none.
func next(ps []piece, i int) int {
	for i < len(ps) && ps[i].low == "" {
		i++
	}
	return i
}

// words makes a set.
func words(list string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// lines makes a list of phrases, one a line or divided by commas.
func lines(list string) []string {
	var out []string
	for _, l := range strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == ',' }) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// capitalise sets a first letter in upper case.
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

// uncapitalise undoes the capital of a sentence's first word, where it is no
// name and no "I".
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

// withoutNumber takes the number of a list item from the front: "2. ", "3) ".
func withoutNumber(s string) string {
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return s[n+2:]
	}
	return s
}

// shorten bounds a sentence to maxSentence bytes.
func shorten(s string) string {
	if len(s) > maxSentence {
		return cut(s, maxSentence)
	}
	return s
}
