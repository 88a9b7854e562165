package statement

import (
	"strings"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// A question is asked of one text alone, and its answer kept with the Reading: a new fact is compared with a hundred others,
// and each of them with every new fact.
type question struct {
	no  uint
	ask func(Reading) bool
}

// maxQuestions is how many answers a Reading has room for.
const maxQuestions = 128

var questions uint

func newQuestion(ask func(Reading) bool) *question {
	if questions == maxQuestions {
		panic("statement: more questions than a Reading has room for")
	}
	questions++
	return &question{questions - 1, ask}
}

// answers are what is known of a text. They are safe for concurrent use.
type answers struct {
	known, yes [maxQuestions / 64]atomic.Uint64
	subject    atomic.Pointer[string]
}

func (r Reading) is(q *question) bool {
	word, bit := q.no/64, uint64(1)<<(q.no%64)
	if r.answers == nil { // a Reading that Read did not make
		return q.ask(r)
	}
	if r.answers.known[word].Load()&bit == 0 {
		if q.ask(r) {
			r.answers.yes[word].Or(bit)
		}
		r.answers.known[word].Or(bit)
	}
	return r.answers.yes[word].Load()&bit != 0
}

// cue is a pattern that is looked for in one of the forms of a text.
type cue struct {
	*pattern.Pattern
	of    func(Reading) string
	found *question
}

func newCue(of func(Reading) string, expr string) *cue {
	p := pattern.New(expr)
	return &cue{p, of, newQuestion(func(r Reading) bool { return p.MatchString(of(r)) })}
}

// inBody returns a cue in Reading.body, inPlain one for Reading.Plain, and inText one for Reading.Text.
func inBody(expr string) *cue { return newCue(func(r Reading) string { return r.body }, expr) }
func inPlain(expr string) *cue {
	return newCue(func(r Reading) string { return r.Plain }, expr)
}
func inText(expr string) *cue { return newCue(func(r Reading) string { return r.Text }, expr) }

func (r Reading) matches(p *cue) bool { return r.is(p.found) }

// submatch returns the leftmost match and its groups, nil if there is none.
func (r Reading) submatch(p *cue) []string {
	if !r.is(p.found) {
		return nil
	}
	return p.FindStringSubmatch(p.of(r))
}

// Phrases are words and sequences of words that a text may have.
type Phrases struct{ found *question }

// NewPhrases returns phrases, which are in lower case. Packages make theirs once, as variables.
func NewPhrases(list ...string) Phrases {
	spaced := make([]string, len(list))
	for i, p := range list {
		spaced[i] = " " + p + " "
	}
	return Phrases{newQuestion(func(r Reading) bool {
		for _, p := range spaced {
			if strings.Contains(r.Plain, p) {
				return true
			}
		}
		return false
	})}
}

// HasPhrase reports whether the text contains one of the phrases.
func (r Reading) HasPhrase(p Phrases) bool { return r.is(p.found) }
