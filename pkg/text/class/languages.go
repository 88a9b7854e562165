package class

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// languages has the classes of other languages than English, by hand.
//
//go:embed languages.txt
var languages string

// addLanguages adds the classes of languages.txt.
func (l *lexicon) addLanguages() {
	for line := range strings.Lines(languages) {
		tag, rest, found := strings.Cut(line, ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		language := text.Language(tag)
		rest, asTheyAre, _ := strings.Cut(rest, "|")
		rest, verbs, _ := strings.Cut(rest, "+")
		askers, nouns, _ := strings.Cut(rest, ">")
		for _, w := range folded(askers, language) {
			first, others := w, []string(nil)
			if unspaced(language) {
				pairs := pairsOf(w)
				first, others = pairs[0], pairs[1:]
			}
			for _, form := range nounForms(first, language) {
				l.ask(word{language, form}, asks{class: len(l.lists), others: others})
			}
		}
		l.lists = append(l.lists, things{language: language, nouns: folded(nouns, language), verbs: folded(verbs, language), given: folded(asTheyAre, language)})
	}
}

// unspaced reports whether a language is written without spaces between words.
func unspaced(l text.Language) bool { return l == "zh" || l == "ja" }

// folded returns the words of s, folded as an index does, or of a language without spaces as they are. Of a word with a
// hyphen it is the last part: "t-shirt" is found as "shirt".
func folded(s string, l text.Language) []string {
	words := strings.Fields(s)
	if !unspaced(l) {
		for i, w := range words {
			text.EachIndexWord(w, func(w text.IndexWord) { words[i] = string(w.Folded) })
		}
	}
	return words
}

// pairsOf returns a word of a language without spaces as an index has it: its pairs of neighbours, or its one character.
func pairsOf(s string) []string {
	var out []string
	text.EachIndexWord(s, func(w text.IndexWord) { out = append(out, string(w.Folded)) })
	return out
}

// told returns the things that languages.txt or classes.txt names, in every form.
func (t things) told() []string {
	var out []string
	for _, n := range t.nouns {
		if utf8.RuneCountInString(n) < fewestLetters {
			out = append(out, n)
			continue
		}
		out = append(out, nounForms(n, t.language)...)
	}
	for _, v := range t.verbs {
		out = append(out, verbForms(v, t.language)...)
	}
	return append(out, t.given...)
}

// fewestLetters are those of a noun that is inflected: the forms of a shorter one are other words.
const fewestLetters = 3
