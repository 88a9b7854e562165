package statement

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// subject returns the subject of the text: its words before the first copula, or else its first word.
func (r Reading) subject() string {
	if r.answers == nil {
		return subjectOf(r.body)
	}
	if s := r.answers.subject.Load(); s != nil {
		return *s
	}
	s := subjectOf(r.body)
	r.answers.subject.Store(&s)
	return s
}

func subjectOf(body string) string {
	if at := verbs.FindStringIndex(body); at != nil {
		body = body[:at[0]]
	} else {
		body, _, _ = strings.Cut(body, " ")
	}
	stems := slices.DeleteFunc(text.ContentStems(body), func(s string) bool { return newsStems[s] })
	return strings.Join(stems, " ")
}

var verbs = pattern.New(`(?i) (?:is|are|was|were|has|have|will|went|goes|rose|rises|dropped|fell|grew|grows|shrank|shrunk|climbed|jumped|increased|decreased|changed|moved|weighs|costs|starts|started|begins|began|takes place|got)\b`)

// isPast reports whether the text states a single past event, which no later statement ends. What somebody began or
// acquired is not past: it continues.
func (r Reading) isPast() bool { return r.is(pastEvent) }

var (
	pastForms    = NewPhrases("was", "were", "used to")
	presentForms = NewPhrases("is", "are", "has", "have")
	pastEvent    = newQuestion(tellsPastEvent)
)

func tellsPastEvent(r Reading) bool {
	if r.HasPhrase(pastForms) {
		return true
	}
	fields := strings.Fields(strings.ToLower(r.body))
	for i, w := range fields {
		w = strings.Trim(w, ".,;:!?")
		if i == 0 || begun[w] || i > 3 || slices.Contains([]string{"has", "have"}, fields[i-1]) {
			continue
		}
		if text.IsPastForm(w) || len(w) > 4 && strings.HasSuffix(w, "ed") && !r.HasPhrase(presentForms) {
			return true
		}
	}
	return false
}

// begun are past forms of verbs whose result continues.
var begun = setOf(strings.Fields(`started joined adopted moved signed subscribed enrolled registered bought got took began became booked planned decided ordered hired
	rented married installed switched engaged named called based allergic made opened retired learned scheduled`))
