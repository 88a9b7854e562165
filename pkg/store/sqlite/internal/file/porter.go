package file

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// EachStem calls fn with the words of a text as the tokenizer "porter unicode61 remove_diacritics 2" of FTS5 makes
// them, where they consist of Latin letters and digits alone. Of a word that has other letters too, which FTS5 takes
// whole, fn gets the Latin parts. A word is valid during its call only.
func (*File) EachStem(text string, fn func(word []byte)) {
	var buf [64]byte
	word := buf[:0]
	flush := func() {
		if len(word) > 0 {
			fn(porterStem(word))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			word = append(word, byte(r))
		case 'A' <= r && r <= 'Z':
			word = append(word, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			flush()
		case isDiacritic(r):
		default:
			if folded := foldedLatin()[r]; folded != 0 {
				word = utf8.AppendRune(word, folded)
			} else {
				flush()
			}
		}
	}
	flush()
}

// isDiacritic reports a combining mark that the tokenizer drops from the inside of a word. Other marks separate words.
func isDiacritic(r rune) bool {
	const first = 0x0300
	return first <= r && r < first+64 && uint64(0x000361f8_08029fdf)&(1<<(r-first)) != 0
}

// foldedLatin maps the Latin letters and numbers outside ASCII to what the tokenizer makes of them: lower case, and the
// letter beneath its diacritics where that is one of ASCII.
var foldedLatin = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{0x017f: 's', 0x1e9b: 's', 0x01e0: 0x01e1, 0x01e1: 0x01e1, 0x2c7e: 0x023f, 0x2c7f: 0x0240} // what differs in its tables
	for _, span := range [][2]rune{{0xaa, 0x24f}, {0x1e00, 0x1eff}, {0x212a, 0x212b}} {
		for r := span[0]; r <= span[1]; r++ {
			if m[r] != 0 || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
				continue
			}
			m[r] = unicode.ToLower(r)
			if base := norm.NFD.String(string(m[r])); base[0] < utf8.RuneSelf {
				m[r] = rune(base[0])
			}
		}
	}
	return m
})

// porterStem stems a word in place as FTS5 does: by the first algorithm of Porter, on bytes. A word of one or two bytes,
// or of more than 64, stays.
func porterStem(w []byte) []byte {
	if len(w) < 3 || len(w) > 64 {
		return w
	}
	w = porterParticiple(porterPlural(w))
	if n := len(w) - 1; w[n] == 'y' && hasVowel(w[:n]) {
		w[n] = 'i'
	}
	for i := range porterSteps {
		w = porterSteps[i].apply(w)
	}
	if n := len(w) - 1; w[n] == 'e' {
		if m := measure(w[:n]); m > 1 || m == 1 && !endsShort(w[:n]) {
			w = w[:n]
		}
	}
	if n := len(w) - 1; n > 0 && w[n] == 'l' && w[n-1] == 'l' && measure(w[:n]) > 1 {
		w = w[:n]
	}
	return w
}

// porterPlural is step 1a.
func porterPlural(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's' || w[n-2] == 's':
		return w
	case w[n-2] == 'e' && (n > 4 && w[n-4] == 's' && w[n-3] == 's' || n > 3 && w[n-3] == 'i'):
		return w[:n-2]
	}
	return w[:n-1]
}

// porterParticiple is step 1b.
func porterParticiple(w []byte) []byte {
	n, ending := len(w), 0
	switch {
	case hasEnding(w, "eed"):
		if measure(w[:n-3]) > 0 {
			return w[:n-1]
		}
		return w
	case hasEnding(w, "ed"):
		ending = 2
	case hasEnding(w, "ing"):
		ending = 3
	}
	if ending == 0 || !hasVowel(w[:n-ending]) {
		return w
	}
	w = w[:n-ending]
	n = len(w)
	last := w[n-1]
	switch {
	case hasEnding(w, "at") || hasEnding(w, "bl") || hasEnding(w, "iz"):
		return append(w, 'e')
	case n > 1 && last == w[n-2] && !isPorterVowel(last, false) && last != 'l' && last != 's' && last != 'z':
		return w[:n-1]
	case measure(w) == 1 && endsShort(w):
		return append(w, 'e')
	}
	return w
}

// porterStep replaces the first of its endings that a word has, if the measure of what stands before it is above least.
type porterStep struct {
	endings []porterEnding
	least   int
}

type porterEnding struct{ ending, with string }

func newPorterStep(least int, list string) porterStep {
	s := porterStep{least: least}
	for f := range strings.FieldsSeq(list) {
		ending, with, _ := strings.Cut(f, ":")
		s.endings = append(s.endings, porterEnding{ending, with})
	}
	return s
}

// porterSteps are steps 2, 3 and 4.
var porterSteps = []porterStep{
	newPorterStep(0, `ational:ate tional:tion enci:ence anci:ance izer:ize logi:log bli:ble alli:al entli:ent eli:e ousli:ous
		ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble`),
	newPorterStep(0, `ical:ic ness icate:ic iciti:ic ful ative alize:al`),
	newPorterStep(1, `al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize`),
}

func (s *porterStep) apply(w []byte) []byte {
	for _, e := range s.endings {
		if !hasEnding(w, e.ending) {
			continue
		}
		stem := w[:len(w)-len(e.ending)]
		if last := stem[len(stem)-1]; e.ending == "ion" && last != 's' && last != 't' || measure(stem) <= s.least {
			return w
		}
		return append(stem, e.with...)
	}
	return w
}

// hasEnding reports an ending that is not the whole word.
func hasEnding(w []byte, ending string) bool {
	n := len(w) - len(ending)
	return n > 0 && w[n] == ending[0] && string(w[n:]) == ending
}

// isPorterVowel reports a vowel; y is one behind a consonant.
func isPorterVowel(c byte, behindConsonant bool) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return c == 'y' && behindConsonant
}

// measure counts the runs of vowels that a consonant follows, up to 2.
func measure(w []byte) int {
	m, consonant, vowels := 0, false, false
	for _, c := range w {
		consonant = !isPorterVowel(c, consonant)
		if consonant && vowels {
			if m++; m == 2 {
				return m
			}
		}
		vowels = !consonant
	}
	return m
}

func hasVowel(w []byte) bool {
	for i, c := range w {
		if isPorterVowel(c, i > 0) {
			return true
		}
	}
	return false
}

// endsShort reports that a word ends in consonant, vowel and a consonant other than w, x and y.
func endsShort(w []byte) bool {
	n := len(w)
	if n < 3 || w[n-1] == 'w' || w[n-1] == 'x' || w[n-1] == 'y' {
		return false
	}
	consonant, ends := false, 0
	for _, c := range w {
		consonant = !isPorterVowel(c, consonant)
		ends <<= 1
		if consonant {
			ends |= 1
		}
	}
	return ends&7 == 5
}
