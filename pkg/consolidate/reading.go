package consolidate

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// word is a content word of a text, in the order of the text.
type word struct {
	stem, text   string
	name, number bool
}

// reading is a text as comparisons see it.
type reading struct {
	words   []word   // content words, names and numbers included
	names   []string // words of names, lower case, unique, by first mention
	numbers []string
	dates   []string // time expressions, lower case
	hinges  []string // small words that turn a statement, unique, sorted
	negated bool
	plain   string          // all terms in lower case, with a space before and behind each
	shared  map[string]bool // stems of words that are neither name nor number
}

// hinges are stop words that change what is said: two statements that differ
// in one of them are not the same. Forms of "to be" stand for their tense.
var hinges = map[string]string{
	"before": "before", "after": "after", "until": "until", "till": "until", "since": "since", "during": "during",
	"above": "above", "below": "below", "over": "over", "under": "under", "up": "up", "down": "down",
	"on": "on", "off": "off", "in": "in", "inside": "in", "out": "out", "outside": "out",
	"from": "from", "to": "to", "into": "into", "with": "with", "without": "without", "for": "for", "against": "against",
	"more": "more", "most": "most", "less": "less", "least": "less", "fewer": "less", "few": "few", "many": "many",
	"always": "always", "never": "never", "often": "often", "only": "only", "both": "both", "all": "all", "every": "all",
	"none": "none", "some": "some", "any": "any", "either": "either", "neither": "neither", "or": "or", "except": "except",
	"can": "can", "could": "can", "may": "may", "might": "may", "must": "must", "should": "should", "if": "if", "unless": "unless",
	"he": "he", "his": "he", "him": "he", "she": "she", "her": "she", "hers": "she", "their": "they", "they": "they", "them": "they",
	"my": "i", "me": "i", "i": "i", "your": "you", "you": "you", "our": "we", "we": "we",
	"was": "was", "were": "was", "had": "was", "did": "was", "been": "was", "will": "will", "would": "will",
	"again": "again", "almost": "almost", "because": "because", "although": "although",
}

// nameTypes are the entity types whose names are proper names.
var nameTypes = map[memory.EntityType]bool{
	memory.EntityPerson: true, memory.EntityPlace: true, memory.EntityOrganization: true,
}

// readAnew analyses a text; the names among its entities count as names wherever they stand.
func readAnew(text string, entities []memory.EntityID) reading {
	r := reading{plain: " ", negated: analysis.Negated(text), numbers: analysis.Numbers(text),
		shared: map[string]bool{}}
	named := map[string]bool{}
	for _, n := range analysis.Names(text) {
		for _, t := range analysis.Terms(n) {
			named[t.Text] = true
		}
	}
	for _, e := range entities {
		if typ, name := e.Split(); nameTypes[typ] {
			for _, t := range analysis.Terms(name) {
				named[t.Text] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range analysis.Terms(text) {
		r.plain += t.Text + " "
		if h, ok := hinges[t.Text]; ok {
			if !slices.Contains(r.hinges, h) {
				r.hinges = append(r.hinges, h)
			}
			continue
		}
		if t.Stop {
			continue
		}
		w := word{stem: t.Stem, text: t.Text, number: t.Number, name: t.Name || named[t.Text]}
		r.words = append(r.words, w)
		switch {
		case w.name && !seen[w.text]:
			seen[w.text] = true
			r.names = append(r.names, w.text)
		case !w.name && !w.number:
			r.shared[w.stem] = true
		}
	}
	slices.Sort(r.hinges)
	for _, d := range analysis.Dates(text, memory.Instant{}) {
		r.dates = append(r.dates, strings.ToLower(d.Text))
	}
	return r
}

// terms gives the distinct content words of the text, for looking up candidates.
func (r reading) terms() []string {
	var out []string
	for _, w := range r.words {
		if !slices.Contains(out, w.text) {
			out = append(out, w.text)
		}
	}
	return out
}

// sharesWord reports whether the two have a content word in common that is no
// name and no number.
func (r reading) sharesWord(o reading) bool {
	for s := range r.shared {
		if o.shared[s] {
			return true
		}
	}
	return false
}
