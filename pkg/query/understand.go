package query

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// maxTerms bounds the terms of a question that are looked up; a longer text is
// looked up by its first ones.
const maxTerms = 64

// question is a query understood by rules.
type question struct {
	rank.Question
	terms    []Term // what to look up, beside Question.Terms
	words    bool   // it has a word at all
	entities []memory.EntityID
	from, to time.Time // the time it speaks of, both inclusive; zero if none
	overview bool      // asks for much rather than for one thing
}

// dated reports whether the question, or the request's filter, speaks of a time.
func (q question) dated() bool { return !q.from.IsZero() }

// understand reads the query of a.
func understand(a ask, s Searcher) (question, error) {
	speakers, err := s.Speakers(1000)
	if err != nil {
		return question{}, err
	}
	asked, much := withoutPreamble(a.query)
	q := question{Question: rank.ParseQuestion(asked, a.now, speakers)}
	if len(q.Terms) > maxTerms {
		q.Terms = q.Terms[:maxTerms]
		pairs := q.Pairs[:0]
		for _, p := range q.Pairs {
			if p[0] < maxTerms && p[1] < maxTerms {
				pairs = append(pairs, p)
			}
		}
		q.Pairs = pairs
	}
	for _, t := range q.Terms {
		q.terms = append(q.terms, Term{Forms: t.Forms(), Prefix: t.Prefix(), Grams: t.CJK})
	}
	words := analysis.Terms(a.query)
	q.words = len(words) > 0
	q.overview = much || asksForMuch(words)
	if !q.When.IsZero() {
		q.from, q.to = q.When.From, q.When.To.Add(-time.Microsecond)
	}
	q.entities, err = s.EntitiesNamed(namesIn(a.query, words))
	return q, err
}

// namesIn gives every run of one to four words that may be a name: not one
// stop word alone, spelled as the query has it, at most 400 of them.
func namesIn(query string, words []analysis.Term) []string {
	var out []string
	for i := range words {
		for j := i; j < len(words) && j < i+4 && len(out) < 400; j++ {
			if i == j && words[i].Stop && !words[i].Name {
				continue
			}
			span := query[words[i].Start:words[j].End]
			out = append(out, span)
			if bare := strings.TrimSuffix(strings.TrimSuffix(span, "'s"), "’s"); bare != span {
				out = append(out, bare)
			}
		}
	}
	return out
}

// preamble is how a question begins that asks for all there is about something:
// its words are no words to look for.
var preamble = regexp.MustCompile(`(?i)^\s*(?:please,?\s+)?(?:(?:what|anything)\s+(?:(?:else\s+)?(?:do|can|did)\s+)?you\s+(?:know|remember|recall|tell\s+me|have|learn)|` +
	`(?:can\s+you\s+)?tell\s+me(?:\s+(?:all|more|everything|something|anything)(?:\s+you\s+know)?)?|what\s+is\s+known|give\s+me\s+an?\s+(?:overview|summary))\s+(?:about|of|on)\s+`)

// withoutPreamble takes the preamble off a query and reports whether it had one.
func withoutPreamble(query string) (string, bool) {
	at := preamble.FindStringIndex(query)
	if at == nil || strings.TrimSpace(query[at[1]:]) == "" {
		return query, false
	}
	return query[at[1]:], true
}

// muchWords are the words by which a question asks for an overview.
var muchWords = map[string]bool{"overview": true, "summary": true, "summarize": true, "summarise": true, "everything": true, "profile": true, "overall": true}

func asksForMuch(words []analysis.Term) bool {
	for _, w := range words {
		if muchWords[w.Text] {
			return true
		}
	}
	return false
}

// idf is the weight of a term that df of n rows have: never negative.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5))
}
