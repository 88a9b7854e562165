package recall

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/spelling"
	"github.com/eunoe-memory/eunoe/pkg/text/thesaurus"
)

// question is a query understood by rules.
type question struct {
	rank.Question
	lookups  []Term // what to look up for each of Question.Terms, in their order
	words    bool   // it has a word at all
	entities []memory.EntityID
	person   *person   // the one person it is about; nil for none
	past     bool      // it asks for what was
	from, to time.Time // the time it speaks of, both inclusive; zero if none
	moved    bool      // it asks what was put off: the time it speaks of is the one that was planned
	overview bool      // it asks for much rather than for one thing
	now      time.Time // from which its times are counted
}

// maxSpeakers bounds the speakers whose names a question is searched for.
const maxSpeakers = 1000

// understand reads the query of a request to a bank in which these speak.
func understand(req Request, s Searcher, speakers []string) (q question, err error) {
	said := wordingOf(req.Query)
	asked, overview := withoutPreamble(req.Query)
	q = question{
		Question: rank.ParseQuestion(withoutForm(asked), req.today(), speakers), now: req.Now, words: len(said.words) > 0,
		past:     slices.ContainsFunc(said.words, func(w word) bool { return pastVerbs.Has(w.Text) }),
		overview: overview || slices.ContainsFunc(said.words, func(w word) bool { return overviewWords.Has(w.Text) }),
		moved:    moved.MatchString(req.Query),
	}
	q.lookups = lookupsOf(q.Terms)
	if !q.When.IsZero() {
		q.from, q.to = q.When.From, q.When.To.Add(-time.Microsecond)
	}
	names := slices.Clip(said.names)
	for _, p := range q.Speakers {
		names = append(names, p, memory.PersonName(p))
	}
	var longer []NamedPerson
	err = together(s, func(s Searcher) (err error) {
		q.entities, err = s.EntitiesNamed(names)
		return err
	}, func(s Searcher) (err error) {
		longer, err = s.PeopleBeginning(said.beginnings, maxLonger)
		return err
	})
	if err != nil {
		return q, err
	}
	q.entities = peopleNamed(said, q.entities, longer)
	q.person = personAsked(q.Question, said.words, q.entities)
	found, unknown := true, make([]bool, len(q.Terms))
	err = together(s, func(s Searcher) error {
		if q.person == nil {
			return nil
		}
		return q.person.addNames(s)
	}, func(s Searcher) (err error) {
		if len(q.Named) > 0 && !q.namesSome(speakers) {
			found, err = anyMatches(s, q.lookups)
		}
		return err
	}, func(s Searcher) error { return q.findUnknown(s, unknown) })
	if err == nil {
		err = q.correct(s, unknown)
	}
	if err == nil && (q.namesSome(speakers) || !found) { // or the names are all there is to look up
		q.addTerms(q.Named)
	}
	return q, err
}

// wording is the words of a query, and which of them may be names.
type wording struct {
	query      string
	words      []word
	names      []string        // as the query spells them; at most about maxNames
	normal     map[string]bool // the NormalText of each name
	beginnings []string        // the NormalText of the first maxBeginnings words that may begin a longer name, each once
}

// word is a word of a query, and its NormalText, by which names are compared.
type word struct {
	text.Term
	normal string
}

const (
	maxNames      = 400 // runs of words of a question that may be names
	longestName   = 4   // words of such a run
	maxBeginnings = 16  // words of a question that may begin a longer name
)

// wordingOf reads a query word by word. Every short run of its words may be a name, but for a stop word alone.
func wordingOf(query string) wording {
	out := wording{query: query, normal: map[string]bool{}}
	words := text.Terms(query)
	for i, w := range words {
		normal := memory.NormalText(w.Text)
		out.words = append(out.words, word{w, normal})
		if !w.Stop && utf8.RuneCountInString(normal) >= 3 && len(out.beginnings) < maxBeginnings && !slices.Contains(out.beginnings, normal) {
			out.beginnings = append(out.beginnings, normal)
		}
		for j := i; j < len(words) && j < i+longestName && len(out.names) < maxNames; j++ {
			if i == j && w.Stop && !w.Name {
				continue
			}
			name := query[w.Start:words[j].End]
			out.names = append(out.names, name)
			if bare := strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "’s"); bare != name {
				out.names = append(out.names, bare)
			}
		}
	}
	for _, name := range out.names {
		out.normal[memory.NormalText(name)] = true
	}
	return out
}

// namesSome reports whether a question names some of many speakers: which talk it was is told by their names.
func (q *question) namesSome(speakers []string) bool { return len(q.Speakers) > 1 && len(speakers) > 2 }

// keep leaves the question the terms that are to be kept, in their order, and the pairs of them.
func (q *question) keep(terms []bool) {
	at, n := make([]int, len(q.Terms)), 0
	for i, kept := range terms {
		if kept {
			at[i], q.Terms[n], q.lookups[n] = n, q.Terms[i], q.lookups[i]
			n++
		}
	}
	q.Terms, q.lookups = q.Terms[:n], q.lookups[:n]
	pairs := q.Pairs[:0]
	for _, p := range q.Pairs {
		if terms[p[0]] && terms[p[1]] {
			pairs = append(pairs, [2]int{at[p[0]], at[p[1]]})
		}
	}
	q.Pairs = pairs
}

// ofLastLine returns the stems of the terms in the last line of the question that has any.
func (q *question) ofLastLine() map[string]bool {
	out := map[string]bool{}
	lines := strings.Split(q.Text, "\n")
	for i := len(lines) - 1; i >= 0 && len(out) == 0; i-- {
		for _, t := range rank.ParseQuestion(lines[i], q.now, nil).Terms {
			out[t.Stem] = true
		}
	}
	return out
}

// lookupsOf returns what to look up for terms, in their order.
func lookupsOf(terms []rank.Term) []Term {
	out := make([]Term, len(terms))
	for i, t := range terms {
		out[i] = Term{Forms: t.Forms(), Prefix: t.Prefix(), Grams: t.CJK}
	}
	return out
}

// addTerms makes terms of a question's names.
func (q *question) addTerms(names []rank.Term) {
	q.Terms, q.lookups = append(q.Terms, names...), append(q.lookups, lookupsOf(names)...)
}

// anyMatches reports whether a message or a fact has one of the terms.
func anyMatches(s Searcher, terms []Term) (found bool, err error) {
	var looks []func(Searcher) error
	for _, t := range terms {
		for _, r := range []memory.Record{memory.RecordMessage, memory.RecordFact} {
			looks = append(looks, func(s Searcher) error {
				if found {
					return nil
				}
				rows, _, err := s.Matching(r, t, 1)
				found = found || len(rows) > 0
				return err
			})
		}
	}
	err = together(s, looks...)
	return found, err
}

// mostToCorrect is the number of terms up to which a question is put right. A longer one is a talk so far, or is found by its
// other terms.
const mostToCorrect = 12

// findUnknown marks the terms that no message and no fact of the bank has and that may be misspelt. A word that only what the
// request excludes has is spelt as the bank spells it.
func (q *question) findUnknown(s Searcher, unknown []bool) error {
	if len(q.Terms) > mostToCorrect {
		return nil
	}
	var looks []func(Searcher) error
	for i, t := range q.Terms {
		if t.CJK || len(spelling.Corrections(t.Word, t.Language, t.Upper)) == 0 {
			continue
		}
		looks = append(looks, func(s Searcher) error {
			known, err := s.Known(q.lookups[i])
			unknown[i] = !known
			return err
		})
	}
	return together(s, looks...)
}

// meantAmong is how many messages, the latest, are read to see which words a misspelt one may have been meant to be.
const meantAmong = 10

// correct puts unknown terms right: by a word of the bank's messages, or else one that the thesaurus has. A word without
// content ("wehre") is a term no longer, unless nothing else is.
func (q *question) correct(s Searcher, unknown []bool) error {
	kept := make([]bool, len(q.Terms))
	for i, t := range q.Terms {
		kept[i] = true
		if !unknown[i] {
			continue
		}
		words := spelling.Corrections(t.Word, t.Language, t.Upper)
		if slices.ContainsFunc(words, func(w string) bool { return text.IsFunctionWordIn(w, q.Language) }) {
			kept[i] = false
			continue
		}
		meant, err := meantBy(s, words, t.Language)
		if err != nil {
			return err
		}
		if meant == "" {
			known := func(w string) bool { return thesaurus.StandIns(w, t.Language) != nil }
			if at := slices.IndexFunc(words, known); at >= 0 {
				meant = words[at]
			}
		}
		if meant != "" {
			q.Correct(i, meant)
			q.lookups[i] = lookupsOf(q.Terms[i : i+1])[0]
		}
	}
	if slices.Contains(kept, true) {
		q.keep(kept)
	}
	return nil
}

// meantBy returns the one of some words of a language that most of the latest messages with any of them have, the earlier
// one if as many do; "" if no message has one.
func meantBy(s Searcher, words []string, l text.Language) (string, error) {
	rows, _, err := s.Matching(memory.RecordMessage, Term{Forms: words}, meantAmong)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	messages, err := s.Messages(rows)
	if err != nil {
		return "", err
	}
	have := map[string]int{} // messages by the stems of their words
	for _, m := range messages {
		stems := map[string]bool{}
		text.EachIndexWord(m.Text+"\n"+m.Caption, func(w text.IndexWord) { stems[rank.StemOf(string(w.Folded), l)] = true })
		for stem := range stems {
			have[stem]++
		}
	}
	best, most := "", 0
	for _, w := range words {
		if n := have[rank.StemOf(w, l)]; n > most {
			best, most = w, n
		}
	}
	return best, nil
}
