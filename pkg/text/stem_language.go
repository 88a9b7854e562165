package text

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers are Snowball's algorithms by language. English is Stem, which takes a fraction of the time.
var stemmers = map[Language]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem, "hu": hungarian.Stem,
	"it": italian.Stem, "nb": norwegian.Stem, "nl": dutch.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem,
	"sv": swedish.Stem, "tr": turkish.Stem,
}

// HasStems reports whether words of a language are stemmed by its own rules (StemIn), and not by those of English.
func HasStems(l Language) bool { return stemmers[l] != nil }

// StemIn returns the stem of a folded word (IndexWord) in a language: "lernt" and "lernen" give "lern" in German. In
// English, and in languages without an algorithm, it is BaseStem. The stem begins as the word does.
func StemIn(word string, l Language) string {
	stem := stemmers[l]
	if stem == nil {
		return BaseStem(word)
	}
	if len(word) < 3 || len(word) > maxStem {
		return word
	}
	env := snowballstem.NewEnv(word)
	stem(env)
	out := env.Current()
	if l == "de" || l == "nl" { // Snowball leaves the third person: "lernt" and "lerne", "werkt" and "werken"
		for strings.HasSuffix(out, "t") && len(out) > 4 {
			out = strings.TrimSuffix(strings.TrimSuffix(out, "t"), "e")
		}
	}
	if out == "" {
		return word
	}
	return out
}
