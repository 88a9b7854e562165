package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxStem is the longest word that is stemmed, in bytes.
const maxStem = 64

// Stem returns the English stem of a lower-case word by the Porter2 algorithm, without diacritics: "running" and "runs"
// give "run", "cafés" gives "cafe". A word of one or two bytes, or of more than 64, is its own stem.
//
// The algorithm is written out here because the library that the tests compare it with takes seven times as long, which
// would require a cache, and a cache of words would keep what a bank was told to forget.
func Stem(word string) string {
	if len(word) > maxStem {
		return word
	}
	if !IsASCII(word) {
		word = withoutDiacritics(word)
	}
	if len(word) < 3 || len(word) > maxStem {
		return word
	}
	if s, ok := stemExceptions[word]; ok {
		return s
	}
	var w porter
	w.add(word)
	w.stem()
	if w.n <= len(word) && w.equals(word[:w.n]) {
		return word[:w.n]
	}
	return string(w.letters[:w.n])
}

// withoutDiacritics drops combining marks: "café" becomes "cafe". A word of marks alone stays.
func withoutDiacritics(word string) string {
	out := make([]rune, 0, len(word))
	for _, r := range norm.NFD.String(word) {
		if !unicode.Is(unicode.Mn, r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return word
	}
	return norm.NFC.String(string(out))
}

// porter is a word while Porter2 stems it. A y that is a consonant is held as Y.
type porter struct {
	letters [maxStem]rune // no step makes a word longer than it was
	n       int           // letters in use
	r1, r2  int           // where the regions R1 and R2 begin
}

func (w *porter) stem() {
	for i, r := range w.letters[:w.n] {
		if r == 'y' && (i == 0 || isVowel(w.letters[i-1])) {
			w.letters[i] = 'Y'
		}
	}
	w.r1 = w.region(0)
	for _, prefix := range []string{"gener", "commun", "arsen"} {
		if w.n >= len(prefix) && w.at(0, prefix) {
			w.r1 = len(prefix)
		}
	}
	w.r2 = w.region(w.r1)

	if s := w.suffix(&possessives); s != nil {
		w.drop(len(s.ending))
	}
	w.plural()
	w.participle()
	if n := w.n; n > 2 && (w.letters[n-1] == 'y' || w.letters[n-1] == 'Y') && !isVowel(w.letters[n-2]) {
		w.letters[n-1] = 'i'
	}
	w.derivation()
	w.residue()
	w.finalLetter()

	for i, r := range w.letters[:w.n] {
		if r == 'Y' {
			w.letters[i] = 'y'
		}
	}
}

// region returns where the part begins that follows the first consonant behind a vowel, looking from letter i.
func (w *porter) region(i int) int {
	for i++; i < w.n; i++ {
		if isVowel(w.letters[i-1]) && !isVowel(w.letters[i]) {
			return i + 1
		}
	}
	return w.n
}

// plural is step 1a.
func (w *porter) plural() {
	s := w.suffix(&plurals)
	switch {
	case s == nil:
	case s.ending == "s": // goes if a vowel stands before it, but not right before it
		if w.vowelBefore(w.n - 2) {
			w.drop(1)
		}
	case s.ending == "ies" || s.ending == "ied":
		if w.n > 4 {
			w.drop(2)
		} else {
			w.drop(1)
		}
	default:
		w.replace(s)
	}
}

// participle is step 1b.
func (w *porter) participle() {
	s := w.suffix(&participles)
	if s == nil {
		return
	}
	if s.ending == "eed" || s.ending == "eedly" {
		if w.inR1(s) {
			w.replace(s)
		}
		return
	}
	if !w.vowelBefore(w.n - len(s.ending)) {
		return
	}
	r1, r2 := w.r1, w.r2
	w.drop(len(s.ending))
	n := w.n
	switch end := w.suffix(&participleEnds); {
	case end == nil && w.r1 >= n && w.shortSyllable(n):
		w.add("e")
		w.r1, w.r2 = n+1, n+1
		return
	case end == nil:
	case end.with != "":
		w.add("e")
	default:
		w.drop(1)
	}
	w.r1, w.r2 = min(r1, w.n), min(r2, w.n)
}

// derivation is steps 2 and 3.
func (w *porter) derivation() {
	before := func(n int, letters string) bool {
		i := w.n - n - 1
		return i >= 0 && strings.ContainsRune(letters, w.letters[i])
	}
	if s := w.suffix(&derivations); s != nil && w.inR1(s) {
		switch {
		case s.ending == "li" && !before(2, "cdeghkmnrt"), s.ending == "ogi" && !before(3, "l"):
		default:
			w.replace(s)
		}
	}
	if s := w.suffix(&secondDerivations); s != nil && w.inR1(s) && (s.ending != "ative" || w.inR2(s)) {
		w.replace(s)
	}
}

// residue is step 4.
func (w *porter) residue() {
	s := w.suffix(&residues)
	if s == nil || !w.inR2(s) {
		return
	}
	if i := w.n - 4; s.ending == "ion" && (i < 0 || w.letters[i] != 's' && w.letters[i] != 't') {
		return
	}
	w.drop(len(s.ending))
}

// finalLetter is step 5.
func (w *porter) finalLetter() {
	last := w.n - 1
	if w.r1 > last {
		return
	}
	switch w.letters[last] {
	case 'e':
		if w.r2 <= last || !w.shortSyllable(last) {
			w.drop(1)
		}
	case 'l':
		if w.r2 <= last && last > 0 && w.letters[last-1] == 'l' {
			w.drop(1)
		}
	}
}

// suffix returns the first of a step's endings that the word has, nil for none.
func (w *porter) suffix(s *step) *ending {
	if w.n == 0 || s.finals&(1<<(w.letters[w.n-1]&31)) == 0 {
		return nil
	}
	for i := range s.endings {
		if at := w.n - len(s.endings[i].ending); at >= 0 && w.at(at, s.endings[i].ending) {
			return &s.endings[i]
		}
	}
	return nil
}

// at reports whether the ASCII letters s stand at index i.
func (w *porter) at(i int, s string) bool {
	for j := len(s) - 1; j >= 0; j-- {
		if w.letters[i+j] != rune(s[j]) {
			return false
		}
	}
	return true
}

// equals reports whether the word is the bytes of s.
func (w *porter) equals(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return w.at(0, s)
}

func (w *porter) inR1(s *ending) bool { return len(s.ending) <= w.n-w.r1 }
func (w *porter) inR2(s *ending) bool { return len(s.ending) <= w.n-w.r2 }

// add appends letters.
func (w *porter) add(s string) {
	for _, r := range s {
		w.letters[w.n] = r
		w.n++
	}
}

// drop removes the last n letters.
func (w *porter) drop(n int) {
	w.n -= n
	w.r1, w.r2 = min(w.r1, w.n), min(w.r2, w.n)
}

// replace puts what an ending becomes in its place.
func (w *porter) replace(s *ending) {
	w.n -= len(s.ending)
	w.add(s.with)
	w.r1, w.r2 = min(w.r1, w.n), min(w.r2, w.n)
}

// vowelBefore reports a vowel among the first n letters.
func (w *porter) vowelBefore(n int) bool {
	for i := 0; i < n; i++ {
		if isVowel(w.letters[i]) {
			return true
		}
	}
	return false
}

// shortSyllable reports whether the first n letters end in a short syllable: consonant, vowel and a consonant other than
// w, x and Y, or a word of a vowel and a consonant.
func (w *porter) shortSyllable(n int) bool {
	switch {
	case n == 2:
		return isVowel(w.letters[0]) && !isVowel(w.letters[1])
	case n > 2:
		last := w.letters[n-1]
		return !isVowel(last) && last != 'w' && last != 'x' && last != 'Y' && isVowel(w.letters[n-2]) && !isVowel(w.letters[n-3])
	}
	return false
}

func isVowel(r rune) bool {
	switch r {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}
