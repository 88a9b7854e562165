package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxStem is the longest word that is stemmed, in bytes; a longer one is no
// word of a language (a hash, a URL) and is its own stem.
const maxStem = 40

// stem gives the English stem of a lower-case word, without diacritics.
func stem(w string) string {
	if len(w) > maxStem {
		return w
	}
	ascii := true
	for i := 0; i < len(w); i++ {
		if w[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if !ascii {
		if w = plain(w); w == "" {
			return w
		}
	}
	if len(w) < 3 {
		return w
	}
	return stemKept(w)
}

// plain drops diacritics: "café" gives "cafe".
func plain(w string) string {
	out := make([]rune, 0, len(w))
	for _, r := range norm.NFD.String(w) {
		if !unicode.Is(unicode.Mn, r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return w
	}
	return norm.NFC.String(string(out))
}
