package rank

import "strings"

const (
	kinLetters = 5 // a shared beginning of as many letters makes two stems kin
	kinBeyond  = 5 // the longer of the two has at most as many letters more
)

// kin reports whether two different stems are of one family, as "mentor" and "mentorship", "allerg" and "allergi", "danc" and
// "dancer" are: the shorter begins the longer, with five letters or more and at most five beyond, or with four and an ending
// that names a doer or a state.
func kin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < kinLetters-1 || !strings.HasPrefix(b, a) {
		return false
	}
	rest := b[len(a):]
	if len(a) >= kinLetters {
		return len(rest) <= kinBeyond
	}
	return rest == "er" || rest == "or" || rest == "ist" || rest == "ship"
}

// kinEndings are what kinPrefix takes off, the longest first.
var kinEndings = []string{"ship", "ness", "ment", "ist", "ion", "er", "or", "ic", "al", "it", "iv", "i"}

// Prefix returns the beginning that the term's kin share, for a prefix look-up in an index of stems; "" if it is too short or
// no English word, and has no kin that an index can find.
func (t Term) Prefix() string {
	stem := t.Stem
	for i := 0; i < len(stem); i++ {
		if stem[i] < 'a' || stem[i] > 'z' {
			return ""
		}
	}
	for _, e := range kinEndings {
		if base, ok := strings.CutSuffix(stem, e); ok && len(base) >= kinLetters {
			return base
		}
	}
	if len(stem) >= kinLetters {
		return stem
	}
	return ""
}
