package secret

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of a text longer than longText a rule reads only where it can match: a regular expression takes a hundred times as
// long for a byte as a search for a word.
const (
	longText   = 4 << 10
	beforeWord = 256  // bytes, spaces not counted, that are read before a word of the rule
	behindWord = 2048 // and behind it
)

// part is a range of bytes of a text.
type part struct{ from, to int }

// parts returns the ranges of a text that the rule has to read, in order and apart: everything of a short text; of a
// long one the surroundings of the rule's words, up to white space, or the runs of bytes that can hold a match.
func (r rule) parts(text, lower string) []part {
	switch {
	case r.whole || len(text) <= longText && (r.near == 0 || len(text) <= 4*r.near):
		return []part{{0, len(text)}}
	case r.within != nil:
		return r.within(text)
	case len(r.words) == 0:
		return []part{{0, len(text)}}
	}
	before, behind := beforeWord, behindWord
	if r.near > 0 {
		before, behind = r.near, r.near
	}
	var out []part
	for _, p := range around(lower, r.words, before, behind) {
		if p.to-p.from > longText && r.prog != nil {
			out = append(out, matches(r.prog(), text, p, before+behind)...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// runs finds the maximal runs of bytes that a match consists of, where they are long enough. A part has the byte before
// and behind its run, which say whether a word begins and ends there.
func runs(least int, of func(b byte) bool) func(text string) []part {
	return func(text string) []part {
		var out []part
		for i := 0; i < len(text); i++ {
			from := i
			for i < len(text) && of(text[i]) {
				i++
			}
			if i-from >= least {
				out = append(out, part{max(from-1, 0), min(i+1, len(text))})
			}
		}
		return out
	}
}

// awsKeys finds the runs that have the length of an AWS secret access key.
func awsKeys(text string) []part {
	const length = 40
	found := runs(length, func(b byte) bool { return alnum(b) || b == '/' || b == '+' })(text)
	return slices.DeleteFunc(found, func(p part) bool { return p.to-p.from > length+2 })
}

// maxIBAN is the length of the longest account number, with spaces between its groups and what stands before and behind.
const maxIBAN = 34 + 9 + 8

// ibans finds two letters with two digits behind them, and as much as an account number may have.
func ibans(text string) []part {
	letter := func(b byte) bool { return alnum(b) && !digit(b) }
	var out []part
	for i := 0; i+4 <= len(text); i++ {
		if !digit(text[i+3]) || !digit(text[i+2]) || !letter(text[i+1]) || !letter(text[i]) || i > 0 && (alnum(text[i-1]) || text[i-1] == '_') {
			continue
		}
		from, to := max(i-1, 0), min(i+maxIBAN, len(text))
		if n := len(out); n > 0 && out[n-1].to >= from {
			out[n-1].to = to
		} else {
			out = append(out, part{from, to})
		}
	}
	return out
}

// around returns the surroundings of words: so many bytes before and behind them, spaces not counted.
func around(lower string, words []string, before, behind int) []part {
	next := make([]int, len(words)) // where each word is found next; len(lower) = nowhere
	find := func(i, from int) {
		next[i] = len(lower)
		if at := strings.Index(lower[from:], words[i]); at >= 0 {
			next[i] = from + at
		}
	}
	for i := range words {
		find(i, 0)
	}
	var out []part
	for {
		first := 0
		for i, n := range next {
			if n < next[first] {
				first = i
			}
		}
		at := next[first]
		if at == len(lower) {
			return out
		}
		from, to := backwards(lower, at, before), forwards(lower, at+len(words[first]), behind)
		for { // as far as words follow
			last, end := lastOf(lower[:to], at+1, words)
			if last < 0 {
				break
			}
			at, to = last, max(to, forwards(lower, end, behind))
		}
		if n := len(out); n > 0 && out[n-1].to >= from {
			out[n-1].to = max(out[n-1].to, to)
		} else {
			out = append(out, part{from, to})
		}
		for i, n := range next {
			if n <= at {
				find(i, at+1)
			}
		}
	}
}

// lastOf returns where the last of the words in s from an offset on begins and ends, -1 if there is none.
func lastOf(s string, from int, words []string) (at, end int) {
	at = -1
	for _, w := range words {
		if i := strings.LastIndex(s[min(from, len(s)):], w); i >= 0 && from+i > at {
			at, end = from+i, from+i+len(w)
		}
	}
	return at, end
}

// backwards returns the beginning of a word that has so many bytes that are no spaces between it and at.
func backwards(s string, at, bytes int) int {
	for n := 0; at > 0 && (n < bytes || !space(s[at-1])); at-- {
		if !space(s[at-1]) {
			n++
		}
	}
	return at
}

// forwards returns the end of a word that has so many bytes that are no spaces between at and it.
func forwards(s string, at, bytes int) int {
	for n := 0; at < len(s) && (n < bytes || !space(s[at])); at++ {
		if !space(s[at]) {
			n++
		}
	}
	return at
}

func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// lowered returns a text in lower case whose bytes stand where they stood: a letter whose lower case has another length
// is kept.
func lowered(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			if b[i] >= 'A' && b[i] <= 'Z' {
				b[i] += 'a' - 'A'
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == n {
			utf8.EncodeRune(b[i:], l)
		}
		i += n
	}
	return string(b)
}

// alnum reports letters of the alphabet and digits.
func alnum(b byte) bool { return digit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func digit(b byte) bool { return b >= '0' && b <= '9' }
