package memory

import (
	"strings"
	"unicode"
)

// PersonName returns a person's name without what people put around it: pictures and other symbols, the @ of a handle,
// and, where two words or more remain, titles before it. A lone word keeps its title, for "Mr. Smith" and "Mrs. Smith"
// are two. The spelling is kept otherwise, spaces aside; a name of nothing else is returned as it is.
func PersonName(name string) string {
	words := strings.Fields(withoutPictures(name))
	if len(words) == 0 {
		return name
	}
	if handle := strings.TrimLeft(words[0], "@"); handle != "" {
		words[0] = handle
	}
	for len(words) > 2 && IsTitle(words[0]) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// withoutPictures puts a space in place of each picture, with what joins and colours pictures; a text without any is
// returned as it is.
func withoutPictures(s string) string {
	if !strings.ContainsFunc(s, isPicture) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isPicture(r) || r == '\u200D' || r == '\u20E3' || unicode.Is(unicode.Variation_Selector, r) {
			return ' '
		}
		return r
	}, s)
}

func isPicture(r rune) bool { return r > unicode.MaxLatin1 && unicode.In(r, unicode.So, unicode.Sk) }

// IsTitle reports whether a word, in any case and with or without a full stop, is a title or an address that stands
// before a person's name.
func IsTitle(word string) bool { return personTitles[strings.TrimSuffix(strings.ToLower(word), ".")] }

var personTitles = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`mr mrs ms miss mx dr doctor prof professor sir dame madam rev reverend hon capt captain sgt lt col gen
		herr frau fräulein dipl.-ing ing mag señor señora señorita sr sra srta don doña monsieur madame mademoiselle mme mlle
		signor signora signorina sig dott dottor dottoressa ing avv meneer mevrouw dhr mevr senhor senhora pan pani hr fru
		bay bayan г-н г-жа`) {
		m[w] = true
	}
	return m
}()
