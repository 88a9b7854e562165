package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// maxLonger bounds the longer names that are looked at; a beginning of more names nobody.
const maxLonger = 200

// peopleNamed returns whom and what a query names, by id: the entities with a name in it, and persons whom a single word
// of it names by a part of their name (called). longer are the persons whose names go on behind a word of it.
func peopleNamed(said wording, entities []memory.EntityID, longer []NamedPerson) []memory.EntityID {
	if len(longer) == maxLonger {
		return entities
	}
	whole := slices.DeleteFunc(slices.Clone(entities), func(e memory.EntityID) bool { // whose whole name the query has
		typ, name := e.Split()
		return typ != memory.EntityPerson || !said.normal[name]
	})
	capitals := strings.IndexFunc(said.query, unicode.IsUpper) >= 0
	for _, b := range said.beginnings {
		if slices.ContainsFunc(whole, func(e memory.EntityID) bool { _, name := e.Split(); return strings.HasPrefix(name, b+" ") }) {
			continue // "Lena Lund" is no other Lena
		}
		isName := slices.ContainsFunc(said.words, func(w word) bool { return w.Name && w.normal == b })
		if first, _ := utf8.DecodeRuneInString(b); capitals && !isName && unicode.IsLower(first) && strings.Contains(said.query, b) {
			continue // "the project" is no Project Manager
		}
		entities = append(entities, called(b, longer, isName)...)
	}
	slices.Sort(entities)
	return slices.Compact(entities)
}

// called returns the persons whom a word names, among persons whose names begin with it: everyone with that first name
// or handle; if there is none and the word is a name, the one person whose single name it abbreviates.
func called(word string, longer []NamedPerson, isName bool) []memory.EntityID {
	var whole, short []memory.EntityID
	for _, p := range longer {
		if p.Beginning != word {
			continue
		}
		rest := p.Name[len(word):]
		switch r, _ := utf8.DecodeRuneInString(rest); {
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’':
			whole = append(whole, p.ID)
		case isName && utf8.RuneCountInString(rest) >= 2 && !strings.ContainsAny(p.Name, " '’"):
			short = append(short, p.ID)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	slices.Sort(short)
	if short = slices.Compact(short); len(short) != 1 {
		return nil
	}
	return short
}

// person is the person whom a question is about: every entity that its one name may refer to, none if the bank does not
// know the name.
type person struct {
	entities []memory.EntityID
	words    []string // of the name, folded
}

// personAsked returns the one person that a question names; nil if it names none, or several. An unknown name is a
// person's if it follows a verb like "does" and the bank knows no other thing of that name.
func personAsked(q rank.Question, words []word, entities []memory.EntityID) *person {
	p := &person{}
	people := entities
	if !slices.ContainsFunc(people, func(e memory.EntityID) bool { typ, _ := e.Split(); return typ == memory.EntityPerson }) {
		people = nil // nothing is known of the participants but what they said
		for _, s := range q.Speakers {
			people = append(people, memory.NewEntityID(memory.EntityPerson, s))
		}
	}
	for _, e := range people {
		if typ, name := e.Split(); typ == memory.EntityPerson {
			p.entities, p.words = append(p.entities, e), append(p.words, strings.Fields(name)...)
		}
	}
	if len(p.entities) > 0 {
		shared := slices.ContainsFunc(words, func(w word) bool {
			return !slices.ContainsFunc(p.entities, func(e memory.EntityID) bool { _, name := e.Split(); return !hasWord(name, w.normal) })
		})
		if len(p.entities) > 1 && !shared {
			return nil
		}
		return p
	}
	if len(entities) > 0 || len(q.Speakers) > 0 {
		return nil
	}
	for i, w := range words {
		if !w.Name || i == 0 {
			continue
		}
		if len(p.words) > 0 || !text.KnownPerson(w.normal) && !beforePerson.Has(words[i-1].Text) {
			return nil
		}
		p.words = append(p.words, w.normal)
	}
	if len(p.words) == 0 {
		return nil
	}
	return p
}

// addNames adds the other names by which the bank knows the person.
func (p *person) addNames(s Searcher) error {
	names, err := s.Spellings(p.entities)
	for _, n := range names {
		e := memory.NewEntityID(memory.EntityPerson, n)
		if e == "" || slices.Contains(p.entities, e) {
			continue
		}
		_, name := e.Split()
		p.entities, p.words = append(p.entities, e), append(p.words, strings.Fields(name)...)
	}
	return err
}

// beforePerson are the verbs behind which questions name whom they are about.
var beforePerson = text.NewWordSet("is does has can will")

func hasWord(name, word string) bool { return slices.Contains(strings.Fields(name), word) }

// The bounds of a statement that matches the question exactly, but for the person.
const (
	maxAnswer    = 2  // content words beyond those of the question and its own names
	maxStatement = 10 // words
)

// withoutOthers removes statements that match the question about its one person but are about another: Anna's allergy
// does not answer "What is Jürgen allergic to?", and no answer is better. Past events and long statements stay, because
// people often ask about an event under the name of the wrong person. For a person whom no text names, items with none
// of the question's words are removed too. The list is modified.
func (g *gatherer) withoutOthers(entries []entry) []entry {
	p := g.question.person
	if p == nil || g.question.past || g.question.Kind == rank.KindWhy {
		return entries
	}
	asked, unknown := uint64(0), len(p.entities) == 0
	for i, t := range g.question.Terms {
		if !slices.ContainsFunc(p.words, func(of string) bool { return of == t.Word || text.Stem(of) == t.Stem }) { // Jürgen is jurgen
			if !text.IsStop(t.Word) {
				asked |= 1 << i
			}
			continue
		}
		for _, l := range g.lookups {
			unknown = unknown && l.df[t.Stem] == 0
		}
	}
	if asked == 0 {
		return entries
	}
	return slices.DeleteFunc(entries, func(e entry) bool {
		switch has := g.lookups[e.record].has[e.no] & asked; {
		case has == 0:
			return unknown && g.pool.of(e.record, memory.StrategySemantic)[e.no] == 0
		case has != asked:
			return false
		}
		switch e.record {
		case memory.RecordFact:
			f := g.facts[e.no]
			return ofAnother(f.Text, f.Speaker, f.Entities, p) && g.saysJust(f.Text, f.Entities)
		case memory.RecordMessage:
			m := g.messages[e.no]
			return m.Caption == "" && ofAnother(m.Text, m.Speaker, nil, p) && g.saysJust(m.Text, nil)
		}
		return false
	})
}

// ofAnother reports whether a text is said by or about somebody other than the person, and does not mention the person.
func ofAnother(s, speaker string, entities []memory.EntityID, p *person) bool {
	said := memory.NewEntityID(memory.EntityPerson, speaker)
	people := 0
	for _, e := range append(slices.Clone(entities), said) {
		if slices.Contains(p.entities, e) {
			return false
		}
		if typ, _ := e.Split(); typ == memory.EntityPerson {
			people++
		}
	}
	return people > 0 && !slices.ContainsFunc(text.Words(s), func(w text.Word) bool {
		name := memory.NormalText(w.Lower)
		return slices.ContainsFunc(p.words, func(of string) bool { return of == name || text.Stem(of) == text.Stem(name) }) // Zoe is Zoë
	})
}

// saysJust reports whether a text has few content words other than the question's and the names of entities.
func (g *gatherer) saysJust(s string, entities []memory.EntityID) bool {
	words, beyond := text.Terms(s), 0
	for _, w := range words {
		named := slices.ContainsFunc(entities, func(e memory.EntityID) bool {
			typ, name := e.Split()
			return typ == memory.EntityPerson && (hasWord(name, memory.NormalText(w.Text)) || !text.IsASCII(w.Text) && strings.Contains(name, w.Text))
		})
		if !w.Stop && !named && !slices.ContainsFunc(g.question.Terms, func(t rank.Term) bool { return t.Stem == w.Stem || t.Word == w.Text }) {
			beyond++
		}
	}
	return beyond <= maxAnswer && len(words) <= maxStatement
}
