package text

import "strings"

// WordSet is a set of words.
type WordSet map[string]struct{}

// NewWordSet returns the words of the lists, which white space separates.
func NewWordSet(lists ...string) WordSet {
	s := make(WordSet)
	for _, list := range lists {
		for w := range strings.FieldsSeq(list) {
			s[w] = struct{}{}
		}
	}
	return s
}

// Has reports whether word is in the set.
func (s WordSet) Has(word string) bool {
	_, ok := s[word]
	return ok
}
