package secret

import "strings"

// grams is the set of three bytes in a row of a text, by classes of bytes: one pass over a long text rules out most
// words, each of which would otherwise be searched for in all of it.
type grams [classes * classes * classes / 64]uint64

const classes = 32

// class returns the class of a byte: a small letter's own, or one that several bytes share.
func class(b byte) uint {
	switch {
	case b >= 'a' && b <= 'z':
		return uint(b - 'a' + 1)
	case b >= '0' && b <= '9':
		return 27
	case b >= 0x80:
		return 28
	case b == ' ':
		return 29
	}
	return 0
}

func gramsOf(lower string) *grams {
	g := new(grams)
	at := uint(0)
	for i := range len(lower) {
		at = (at*classes + class(lower[i])) % (classes * classes * classes)
		if i >= 2 {
			g[at/64] |= 1 << (at % 64)
		}
	}
	return g
}

// mayHold reports whether the text can hold a word; false is certain.
func (g *grams) mayHold(word string) bool {
	at := uint(0)
	for i := range len(word) {
		at = (at*classes + class(word[i])) % (classes * classes * classes)
		if i >= 2 && g[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

// held returns those of the words that a text holds.
func (g *grams) held(lower string, words []string) []string {
	var out []string
	for _, w := range words {
		if g.mayHold(w) && strings.Contains(lower, w) {
			out = append(out, w)
		}
	}
	return out
}
