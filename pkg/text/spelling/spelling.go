// Package spelling tells what a misspelt word may have been meant to be: "weding" a wedding, "apointment" an appointment.
package spelling

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/thesaurus"
)

//go:generate go run ./generate

//go:embed stems.txt
var stems string

// common are the stems of common English words, ascending.
var common = sync.OnceValue(func() []string { return strings.Fields(stems) })

// A shorter word has too many others beside it, and nobody types a longer one.
const shortest, longest = 5, 20

// alphabets are the letters of folded words in the scripts whose words are put right.
var alphabets = []string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя"}

// Corrections returns the words that a folded word of a language may have been meant to be, the likeliest slips first: two
// letters swapped, one left out, one too many, another one. The first letter is right. A name has no other letter: Marla is
// not Maria. nil is returned for a word that is known, one of fewer than 5 or more than 20 letters,
// and one that is not of Latin or Cyrillic letters alone. A text whose language cannot be told ("") is read as English.
func Corrections(word string, l text.Language, name bool) []string {
	w := []rune(word)
	alphabet := alphabetOf(word)
	if len(w) < shortest || len(w) > longest || alphabet == "" || isKnown(word, l) {
		return nil
	}
	seen := map[string]bool{word: true}
	var out []string
	add := func(parts ...[]rune) {
		if s := string(slices.Concat(parts...)); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for i := 1; i+1 < len(w); i++ {
		add(w[:i], []rune{w[i+1], w[i]}, w[i+2:])
	}
	for i := 1; i <= len(w); i++ {
		for _, r := range alphabet {
			add(w[:i], []rune{r}, w[i:])
		}
	}
	for i := 1; i < len(w); i++ {
		add(w[:i], w[i+1:])
	}
	for i := 1; i < len(w) && !name; i++ {
		for _, r := range alphabet {
			add(w[:i], []rune{r}, w[i+1:])
		}
	}
	return out
}

// isKnown reports whether a word is known to be spelled as it is. Of other languages only what the thesaurus has is known.
func isKnown(word string, l text.Language) bool {
	if thesaurus.StandIns(word, l) != nil {
		return true
	}
	if l != "" && l != text.English {
		return false
	}
	_, found := slices.BinarySearch(common(), text.BaseStem(word))
	return found || text.KnownPerson(word) || text.KnownPlace(word)
}

// alphabetOf returns the alphabet that all letters of a word are of, "" for none.
func alphabetOf(word string) string {
	for _, a := range alphabets {
		if strings.Trim(word, a) == "" {
			return a
		}
	}
	return ""
}
