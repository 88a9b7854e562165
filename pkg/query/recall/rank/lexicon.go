package rank

import (
	"strings"

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

// termOf returns the term of a word: the stem of its dictionary form, or its characters where the script has no spaces.
func termOf(w text.IndexWord) string {
	if w.CJK {
		return string(w.Folded)
	}
	return text.BaseStem(string(w.Folded))
}

const (
	familyLetters = 5 // a shared beginning of as many letters puts two stems into one family
	familyBeyond  = 5 // the longer of the two has at most as many letters more
)

// sameFamily reports whether two different stems are of one family, as "mentor" and "mentorship", "allerg" and "allergi", "danc" and
// "dancer" are: the shorter begins the longer, with five letters or more and at most five beyond, or with four and an ending
// that names a doer or a state.
func sameFamily(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < familyLetters-1 || !strings.HasPrefix(b, a) {
		return false
	}
	rest := b[len(a):]
	if len(a) >= familyLetters {
		return len(rest) <= familyBeyond
	}
	return rest == "er" || rest == "or" || rest == "ist" || rest == "ship"
}

// familyEndings are what kinPrefix takes off, the longest first.
var familyEndings = []string{"ship", "ness", "ment", "ist", "ion", "er", "or", "ic", "al", "it", "iv", "i"}

// Prefix returns the beginning that the words of the term's family share, for a prefix look-up in an index of stems; "" if it is too short or
// no English word, and has no family that an index can find.
func (t Term) Prefix() string {
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
