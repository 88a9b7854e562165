// Package statement compares what two texts say.
//
// Read analyses a text once: its content words, names, numbers, dates and qualifiers. Same and Relate
// then compare two readings by rules that are strict on purpose: the cosine of two vectors finds candidates, and a rule
// merges, supersedes or disputes only what plainly says the same or the opposite. A Reader keeps the readings of recent
// texts, because a fact is compared with the same neighbours write after write.
package statement

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// Word is a content word.
type Word struct {
	Stem, Text   string
	Name, Number bool
}

// Reading is a text as comparisons see it. It must not be changed: readings are shared.
type Reading struct {
	Text       string
	body       string          // without who said it, and with their name for "I" and "we" where it begins with those
	Change     *state.Change   // what the text states about an earlier state; nil = nothing
	Foreign    *state.Revision // what somebody said in another language than English; nil for English
	Words      []Word          // content words, names and numbers included, in the order of the text
	Names      []string        // words of names, lower case, unique, by first mention
	Numbers    []string
	Dates      []string        // time expressions, lower case
	Qualifiers []string        // function words that change what is said, unique, sorted
	Negated    bool            // the text denies something
	Plain      string          // all words in lower case, each with a space before and behind it
	Stems      map[string]bool // of the words that are neither name nor number

	answers *answers // what it was asked already
}

// qualifiers are stop words that change the meaning: two statements that differ in one of them are not the same. Forms
// of "to be" stand for their tense.
var qualifiers = map[string]string{
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

// properNames are the entity types whose names are proper names.
var properNames = map[memory.EntityType]bool{
	memory.EntityPerson: true, memory.EntityPlace: true, memory.EntityOrganization: true,
}

// Read analyses a text. The words of its entities' proper names count as names in every position.
func Read(s string, entities []memory.EntityID) Reading {
	r := Reading{Text: s, body: bodyOf(s), Plain: " ", Negated: text.Negated(s), Numbers: text.Numbers(s), Stems: map[string]bool{}, answers: &answers{}}
	named := nameWords(s, entities)
	seen := map[string]bool{}
	for _, t := range text.Terms(s) {
		r.Plain += t.Text + " "
		if q, ok := qualifiers[t.Text]; ok {
			if !slices.Contains(r.Qualifiers, q) {
				r.Qualifiers = append(r.Qualifiers, q)
			}
			continue
		}
		if t.Stop {
			continue
		}
		w := Word{Stem: t.Stem, Text: t.Text, Number: t.Number, Name: t.Name || named[t.Text]}
		r.Words = append(r.Words, w)
		switch {
		case w.Name && !seen[w.Text]:
			seen[w.Text] = true
			r.Names = append(r.Names, w.Text)
		case !w.Name && !w.Number:
			r.Stems[w.Stem] = true
		}
	}
	slices.Sort(r.Qualifiers)
	for _, d := range date.Find(s, memory.Instant{}, "") {
		r.Dates = append(r.Dates, strings.ToLower(d.Text))
	}
	if r.Foreign = foreignOf(s, ""); r.Foreign != nil {
		return r
	}
	if c, ok := state.ChangeOf(r.body); ok {
		r.Change = &c
	}
	return r
}

// nameWords returns the words of the names in a text and of the proper names among entities.
func nameWords(s string, entities []memory.EntityID) map[string]bool {
	names := text.Names(s)
	for _, e := range entities {
		if typ, name := e.Split(); properNames[typ] {
			names = append(names, name)
		}
	}
	out := map[string]bool{}
	for _, n := range names {
		for _, t := range text.Terms(n) {
			out[t.Text] = true
		}
	}
	return out
}

// Terms returns the distinct content words of the text, by which candidates are looked up.
func (r Reading) Terms() []string {
	var out []string
	for _, w := range r.Words {
		if !slices.Contains(out, w.Text) {
			out = append(out, w.Text)
		}
	}
	return out
}

// SharesWord reports whether two texts have a content word in common that is neither name nor number.
func (r Reading) SharesWord(o Reading) bool {
	for s := range r.Stems {
		if o.Stems[s] {
			return true
		}
	}
	return false
}

// hasStem reports whether one of the words has a stem of the set.
func (r Reading) hasStem(stems map[string]bool) bool {
	return slices.ContainsFunc(r.Words, func(w Word) bool { return stems[w.Stem] })
}
