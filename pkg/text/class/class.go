// Package class tells what things are of a class: asked about pets, people speak of a cat. In English the things are the
// hyponyms of WordNet, and the countries and languages of CLDR. For the classes that questions ask for most, classes.txt says
// which words ask for them and adds things of its own. Any other noun that a question asks for, as in "which cheeses",
// stands for its hyponyms. In German, Spanish, French, Italian, Portuguese, Dutch, Swedish, Polish, Russian, Chinese and
// Japanese the classes are those of languages.txt.
package class

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

//go:generate go run ./generate

// The texts are generated: things.txt has a line a class, the words that ask for it, the things that classes.txt names,
// and its hyponyms, with colons between them; nouns.txt is the tree of nouns.
var (
	//go:embed things.txt
	generated string
	//go:embed nouns.txt
	tree string
)

// lexicon maps what questions ask for to things.
type lexicon struct {
	asked map[word][]asks // the classes that a folded word asks for
	lists []things        // of each class
}

// asks is a class that a word asks for.
type asks struct {
	class  int
	others []string // words that the question must have, too: the other pairs of a word of a language without spaces
}

// things are the things of a class, folded.
type things struct {
	language text.Language // whose nouns they are
	nouns    []string      // in their dictionary form
	verbs    []string      // in the infinitive
	given    []string      // as they are
	named    []string      // hyponyms, the most common ones first
}

// word is a word of a question in a language; English is read in every one.
type word struct {
	language text.Language
	folded   string
}

// classes is read once, where it is needed first.
var classes = sync.OnceValue(func() lexicon {
	l := lexicon{asked: map[word][]asks{}}
	for line := range strings.Lines(generated) {
		asked, rest, _ := strings.Cut(line, ":")
		given, named, _ := strings.Cut(rest, ":")
		language, words, other := strings.Cut(asked, "/")
		if !other {
			language, words = string(text.English), asked
		}
		for w := range strings.FieldsSeq(words) {
			l.ask(word{text.Language(language), w}, asks{class: len(l.lists)})
		}
		l.lists = append(l.lists, things{given: strings.Fields(given), named: strings.Fields(named)})
	}
	l.addLanguages()
	return l
})

// ask notes that a word asks for a class.
func (l *lexicon) ask(w word, a asks) { l.asked[w] = append(l.asked[w], a) }

// lines maps each noun that has hyponyms to the line of nouns.txt that has it in its first sense.
var lines = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	var upper string // the line before
	start := 0       // where it starts
	for line := range strings.Lines(tree) {
		if upper != "" && line[0] > upper[0] {
			for w := range strings.FieldsSeq(upper[1:]) {
				if w = strings.TrimSuffix(w, "~"); !strings.HasSuffix(w, "-") {
					m[w] = start
				}
			}
		}
		start += len(upper)
		upper = line
	}
	return m
})

// Things returns the words for things of the classes that the folded words of a question ask for, in lower case, each once
// and the most common ones of every class first; nil if it asks for none. Most nouns of English are in the singular alone,
// those of other languages in all forms, and words of Chinese and Japanese may have any number of characters. A hyponym
// that stands in the question is left out: who asks of Basel does not ask which city. Words of English ask in a question
// of any language, and words of every language where it cannot be told ("") or, as one may be taken for another like it,
// where its own ask for nothing.
func Things(question []string, l text.Language) []string {
	lexicon := classes()
	asked := lexicon.askedBy(question, l)
	if l != text.English && !slices.Contains(asked, true) {
		asked = lexicon.askedBy(question, "")
	}
	var lists [][]string
	for c, is := range asked {
		if is {
			lists = append(lists, append(lexicon.lists[c].told(), without(lexicon.lists[c].named, question)...))
		}
	}
	for _, noun := range askedNouns(question) {
		if len(lexicon.asked[word{text.English, noun}]) == 0 {
			lists = append(lists, without(hyponyms(noun), question))
		}
	}
	out := inTurns(lists)
	if l != text.English { // "hat" and "son" are things of English, and words of grammar in German and French
		out = slices.DeleteFunc(out, func(w string) bool { return text.IsFunctionWordIn(w, l) })
	}
	return out
}

// askedBy reports of each class whether the words of a question in a language ask for it.
func (l *lexicon) askedBy(question []string, in text.Language) []bool {
	asked, words := make([]bool, len(l.lists)), setOf(question) // a long question repeats its words
	for w := range words {
		for _, language := range askedIn(in) {
			for _, a := range l.asked[word{language, w}] {
				asked[a.class] = asked[a.class] || containsAll(words, a.others)
			}
		}
	}
	return asked
}

// askedIn returns the languages whose words ask in a question of a language.
func askedIn(l text.Language) []text.Language {
	switch l {
	case text.English:
		return []text.Language{l}
	case "":
		return []text.Language{text.English, "de", "es", "fr", "it", "pt", "nl", "sv", "pl", "ru", "zh", "ja"}
	}
	return []text.Language{text.English, l}
}

func setOf(words []string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

func containsAll(words map[string]bool, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !words[s] })
}

// without returns the words of a list that are not in the other.
func without(list, other []string) []string {
	words := setOf(other)
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return words[s] })
}

// inTurns returns the words of lists, the first of each, then the second of each, each word once.
func inTurns(lists [][]string) []string {
	var out []string
	seen := map[string]bool{}
	for i, more := 0, true; more; i++ {
		more = false
		for _, list := range lists {
			if i >= len(list) {
				continue
			}
			more = true
			if w := list[i]; !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// Singulars calls fn with the forms in the singular that a word in lower case may be the regular plural of, until fn
// returns true: "berries" may be of "berry", "berrie" or "berri". It reports whether fn did.
func Singulars(word string, fn func(string) bool) bool {
	stem, plural := strings.CutSuffix(word, "s")
	if !plural || len(stem) < 3 || strings.HasSuffix(stem, "s") {
		return false
	}
	if fn(stem) {
		return true
	}
	stem, plural = strings.CutSuffix(stem, "e")
	if !plural {
		return false
	}
	if fn(stem) {
		return true
	}
	stem, plural = strings.CutSuffix(stem, "i")
	return plural && fn(stem+"y")
}

// Words that a noun which is asked for stands behind, and those that stand between.
var (
	askers  = []string{"what", "which", "whose", "any", "many", "kind", "kinds", "type", "types", "sort", "sorts", "of"}
	between = []string{"of", "the", "my", "our", "your", "his", "her", "their", "other", "different", "new", "favorite", "favourite"}
	enders  = []string{"is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should",
		"i", "you", "he", "she", "it", "we", "they", "in", "on", "at", "for", "from", "to", "with", "and", "or"}
)

// mostBetween are the words that may stand between an asker and what is asked for.
const mostBetween = 3

// askedNouns returns what the phrases behind askers ask for, their last plural or else their last word: "which old cheeses
// did" and "which cheeses taste good" ask for cheeses.
func askedNouns(question []string) []string {
	var out []string
	for i, w := range question {
		if !slices.Contains(askers, w) {
			continue
		}
		noun := ""
		for _, next := range question[i+1 : min(len(question), i+2+mostBetween)] {
			if slices.Contains(enders, next) || slices.Contains(askers, next) {
				break
			}
			plural := func(s string) bool { return Singulars(s, func(string) bool { return true }) }
			if !slices.Contains(between, next) && (plural(next) || !plural(noun)) {
				noun = next
			}
		}
		if noun != "" && !slices.Contains(out, noun) {
			out = append(out, noun)
		}
	}
	return out
}

// A noun with fewer hyponyms is no class, and one with more is none that answers hang on: "thing", "person".
const fewest, mostOfNoun = 3, 600

// hyponyms returns the words for the hyponyms of the first sense of a noun, the common ones first; nil if it is none or
// has too few or too many.
func hyponyms(noun string) []string {
	start, ok := lines()[noun]
	if !ok && !Singulars(noun, func(s string) bool { start, ok = lines()[s]; return ok }) {
		return nil
	}
	var common, rare []string
	first := true
	for line := range strings.Lines(tree[start:]) {
		if !first && line[0] <= tree[start] {
			break
		}
		for w := range strings.FieldsSeq(line[1:]) {
			thing := strings.TrimRight(w, "-~")
			switch {
			case first && thing == noun:
			case strings.HasSuffix(w, "~"):
				rare = append(rare, thing)
			default:
				common = append(common, thing)
			}
		}
		if first = false; len(common)+len(rare) > mostOfNoun {
			return nil
		}
	}
	if len(common)+len(rare) < fewest {
		return nil
	}
	return append(common, rare...)
}
