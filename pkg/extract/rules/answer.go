package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

const (
	maxAnswer   = 80  // bytes of an answer that is read with its question
	maxQuestion = 200 // bytes of such a question
)

// answer drafts a short message that answers the question right before it, with that question, for neither says
// anything without the other: "Ben: Where is the drill? Ana: In the cellar, red box." answers is false where the message
// is none, or says it all by itself.
func (t *drafter) answer(sentences []string, before *memory.Message) (drafts []extract.Draft, answers bool) {
	said := strings.Join(sentences, " ")
	if said == "" && hasDigit(t.message.Content) { // a bare number
		said = strings.Join(strings.Fields(t.message.Content), " ")
	}
	if before == nil || said == "" || len(said) > maxAnswer || len(sentences) > 2 || nameOf(*before) == t.me || asks(said) || before.Time.After(t.message.Time) {
		return nil, false
	}
	asked := prose(*before)
	if len(asked) == 0 {
		return nil, false
	}
	question := asked[len(asked)-1]
	if !asks(question) || len(question) > maxQuestion {
		return nil, false
	}
	about := t.substance(question)
	switch {
	case about == 0, !t.fragment(said):
		return nil, false
	case t.substance(said) == 0 && !hasDigit(said) && (about < 2 || !yesOrNo(said)):
		return nil, false
	}
	dates := t.dates(said, t.message.Time)
	whole := capitalise(nameOf(*before)) + ": " + date.Annotate(question, t.dates(question, before.Time)) + " " + capitalise(t.me) + ": " + date.Annotate(said, dates)
	return []extract.Draft{{
		Text: whole, Type: memory.TypeFact, Kind: t.kind(memory.TypeFact, false), Speaker: t.message.Speaker, Confidence: 1, Occurred: occurred(dates),
		Sources: []memory.MessageID{t.message.ID}, Question: before.ID, Entities: t.entities(whole),
	}}, true
}

// substance counts the words of a text that say something, in any language.
func (t *drafter) substance(s string) int {
	if text.IsEnglish(s, t.habit) {
		return t.content(straighten(s))
	}
	n, _ := says(s, text.LanguageOf(s, t.habit))
	return n
}

// fragment reports whether a text does not stand by itself: English without a first person and a named subject, or a few
// words of another language.
func (t *drafter) fragment(s string) bool {
	if text.IsEnglish(s, t.habit) {
		s = t.strip(straighten(s))
		ps := split(s)
		if ownAnswers.Has(firstWord(ps)) {
			return true
		}
		h := personsOf(ps)
		return !h.I && !h.we && !commands(ps) && completeFragment(ps, phrase(ps)) == "" && !(selfContained(s) && len(strings.Fields(s)) > 3)
	}
	return len(s) <= maxAnswer/2
}

// ownAnswers begin a sentence that needs the question before it: "Mine is raclette."
var ownAnswers = text.NewWordSet("mine ours")

// ownAnswer drafts the answer that a speaker gives to the question they asked in the sentence before.
func (t *drafter) ownAnswer(question, said string) {
	asked := t.dates(question, t.message.Time)
	dates := t.dates(said, t.message.Time)
	whole := punctuate(capitalise(t.me) + ": " + date.Annotate(question, asked) + " " + date.Annotate(said, dates))
	t.drafts = append(t.drafts, candidate{Draft: extract.Draft{
		Text: whole, Type: memory.TypeFact, Kind: t.kind(memory.TypeFact, true), Speaker: t.message.Speaker, Confidence: 1, Occurred: occurred(dates),
		Sources: []memory.MessageID{t.message.ID}, Entities: t.entities(whole),
	}, weight: t.content(straighten(said)) + 1})
}

// yesOrNo reports whether a text begins with the word that answers a question of yes or no.
func yesOrNo(s string) bool {
	ps := split(straighten(s))
	w := firstWord(ps)
	return affirmations.Has(w) || strings.HasPrefix(s, "はい") || strings.HasPrefix(s, "いいえ") || strings.HasPrefix(s, "是") || strings.HasPrefix(s, "不") ||
		strings.HasPrefix(s, "对") || strings.HasPrefix(s, "네") || strings.HasPrefix(s, "아니")
}

var affirmations = text.NewWordSet(`yes yeah yep yup no nope nah never always sometimes both neither sure ja jo jep nein nie doch sí si no nunca siempre oui ouais non
	jamais toujours sì mai sempre sim não nee nej nei kyllä joo ei tak nie ano ne igen nem evet hayır da nu ya iya tidak да нет так ні ναι όχι نعم لا כן לא हाँ नहीं có không`)
