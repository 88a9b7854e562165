package analysis

import "hash/maphash"

// StemIsKept reports whether a word is kept with its stem.
func StemIsKept(w string) bool {
	s := stems[maphash.String(stemSeed, w)%stemsKept].Load()
	return s != nil && s.word == w
}
