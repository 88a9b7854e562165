package rank

import (
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// cue is what a word tells about a message besides being a term. Cues combine by OR.
type cue uint8

const (
	cueFirstPerson cue = 1 << iota // I, my, we: the speaker tells about themselves
	cueTime                        // says when: yesterday, week, friday, march, ago
	cueAdverb                      // stands between I and its verb: just, also, finally
)

// cues maps a folded word to its cues. Words of other languages are absent and carry none.
var cues = lexicon(map[cue]string{
	cueFirstPerson: "i im ive id ill my mine me myself we our ours us ourselves",
	cueTime: `yesterday today tonight tomorrow ago last next week weekend month year morning afternoon evening night
		day days weeks weekends months years recently since soon lately just monday tuesday wednesday thursday friday
		saturday sunday january february march april may june july august september october november december
		jan feb mar apr jun jul aug sept sep oct nov dec spring summer fall autumn winter christmas thanksgiving
		halloween easter birthday anniversary earlier later coming upcoming`,
	cueAdverb: "just also recently finally actually already even really had have ve then once",
})

func lexicon(lists map[cue]string) map[string]cue {
	all := make(map[string]cue, 256)
	for c, list := range lists {
		for _, w := range strings.Fields(list) {
			all[w] |= c
		}
	}
	return all
}

func set(list string) map[string]bool {
	s := make(map[string]bool, 256)
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// StemOf returns what a folded word of a language is compared by.
func StemOf(word string, l text.Language) string {
	return termOf(text.IndexWord{Folded: []byte(word)}, l).Stem
}

// termOf returns the term of a word in a language: the stem of its dictionary form, or its characters where the script has
// no spaces.
func termOf(w text.IndexWord, language text.Language) Term {
	t := Term{Word: string(w.Folded), CJK: w.CJK}
	switch {
	case w.CJK:
		t.Stem = t.Word
	case text.HasStems(language):
		t.Stem, t.Language = text.StemIn(t.Word, language), language
	default:
		t.Stem = text.BaseStem(t.Word)
	}
	return t
}

const (
	familyLetters = 5 // a shared beginning of as many letters puts two stems into one family
	familyBeyond  = 5 // the longer of the two has at most as many letters more
)

// sameFamily reports whether two different stems are of one family, as "mentor" and "mentorship", "allerg" and
// "allergi", "danc" and "dancer" are: the shorter begins the longer, with five letters or more and at most five beyond,
// or with four and an ending that names a doer or a state.
func sameFamily(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < familyLetters-1 || !strings.HasPrefix(b, a) {
		return false
	}
	letters, rest := utf8.RuneCountInString(a), b[len(a):]
	if letters >= familyLetters {
		return utf8.RuneCountInString(rest) <= familyBeyond
	}
	if letters < familyLetters-1 {
		return false
	}
	return rest == "er" || rest == "or" || rest == "ist" || rest == "ship"
}

// familyEndings are what kinPrefix takes off, the longest first.
var familyEndings = []string{"ship", "ness", "ment", "ist", "ion", "er", "or", "ic", "al", "it", "iv", "i"}

// Prefix returns the beginning that the words of the term's family share, for a prefix look-up in an index of stems; ""
// if it is too short or no English word, and has no family that an index can find.
func (t Term) Prefix() string {
	if t.Language != "" {
		return t.beginning()
	}
	stem := t.Stem
	for i := 0; i < len(stem); i++ {
		if stem[i] < 'a' || stem[i] > 'z' {
			return ""
		}
	}
	for _, e := range familyEndings {
		if base, ok := strings.CutSuffix(stem, e); ok && len(base) >= familyLetters {
			return base
		}
	}
	if len(stem) >= familyLetters {
		return stem
	}
	return ""
}

// beginning is Prefix of a term in another language than English, whose words end in many ways: the stem without its last
// two letters, but no less than five, and no more than the index leaves of the word, which it stems as English.
func (t Term) beginning() string {
	stem := []rune(t.Stem)
	if len(stem) < 3 {
		return ""
	}
	stem = stem[:min(len(stem), max(familyLetters, len(stem)-2))]
	indexed := []rune(text.Stem(t.Word))
	n := 0
	for n < len(stem) && n < len(indexed) && stem[n] == indexed[n] {
		n++
	}
	if n < 3 {
		return ""
	}
	return string(stem[:n])
}
