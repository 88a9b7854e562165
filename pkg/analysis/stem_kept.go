package analysis

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stemsKept is how many words are kept with their stems, some 100 bytes each.
const stemsKept = 1 << 15

// stemmed is a word with its stem.
type stemmed struct{ word, stem string }

// stems keeps words that were stemmed lately, each in the place that its hash
// gives it: stemming costs twenty times a look here. What is kept changes no
// result, so every caller of a process may use it.
var (
	stems    [stemsKept]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

// stemKept is the English stem of a lower-case word of ASCII.
func stemKept(w string) string {
	place := &stems[maphash.String(stemSeed, w)%stemsKept]
	if s := place.Load(); s != nil && s.word == w {
		return s.stem
	}
	s := &stemmed{word: strings.Clone(w)} // of a text that need not stay
	s.stem = strings.Clone(english.Stem(s.word, true))
	place.Store(s)
	return s.stem
}

// Forget lets go of the words that are kept in memory to be stemmed once: what
// is forgotten is not to stay there either.
func Forget() {
	for i := range stems {
		stems[i].Store(nil)
	}
}
