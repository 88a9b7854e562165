package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

const (
	maxAnswer   = 100 // bytes of an answer that is read with its question
	maxQuestion = 200 // bytes of such a question
)

// question returns the question with which the message before ends, by somebody else; "" for none.
func (t *drafter) question(before *memory.Message) string {
	if before == nil || nameOf(*before) == t.me || before.Time.After(t.message.Time) {
		return ""
	}
	list := text.Sentences(withoutPlatformMarks(memory.Truncate(before.Content, maxTalk)))
	for i := len(list) - 1; i >= 0 && i >= len(list)-2; i-- {
		q, ok := worded(list[i])
		if !ok || !worth.Asks(q) || len(q) > maxQuestion {
			continue
		}
		if i > 0 && wordsIn(q) <= shortest { // "March instead? 12th to 14th?"
			if first, ok := worded(list[i-1]); ok && worth.Asks(first) && len(first)+len(q) < maxQuestion {
				q = first + " " + q
			}
		}
		return q
	}
	return ""
}

// answer drafts a short message that answers the question right before it, with that question, for neither says anything
// without the other: "Ben: Where is the drill? Ana: In the cellar, red box." answers is false where the message is none, or
// says it all by itself.
func (t *drafter) answer(list []sentence, question string, before *memory.Message) (drafts []extract.Draft, answers bool) {
	if question == "" || len(list) > 2 || !t.byUser() { // what an assistant explains is no fact
		return nil, false
	}
	var words []string
	for _, s := range list {
		words = append(words, s.text)
	}
	said := strings.Join(words, " ")
	if said == "" && hasDigit(t.message.Content) { // a bare number
		said = strings.Join(strings.Fields(t.message.Content), " ")
	}
	if said == "" || len(said) > maxAnswer || worth.Asks(said) || !t.fragment(said) {
		return nil, false
	}
	v := worth.Judge(worth.Sentence{Text: strings.TrimRight(question, " ?？؟") + ", " + said, Count: 1, Dated: len(t.dates(said)) > 0})
	deserves := v.Worth+v.Goes >= least && v.Best != worth.SmallTalk
	for _, s := range list {
		deserves = deserves || s.Worth >= least
	}
	if !deserves {
		return nil, false
	}
	asked, dates := question, t.dates(said)
	if len(dates) == 0 {
		dates = t.dates(question)
	}
	if text.IsEnglish(question+" "+said, t.habit) {
		asked, said = date.Annotate(asked, t.dates(asked)), date.Annotate(said, t.dates(said))
	}
	whole := capitalise(nameOf(*before)) + ": " + asked + " " + capitalise(t.me) + ": " + said
	return []extract.Draft{{
		Text: whole, Type: memory.TypeFact, Kind: t.kind(memory.TypeFact, false), Speaker: t.message.Speaker, Confidence: 1, Occurred: occurred(dates),
		Sources: []memory.MessageID{t.message.ID}, Question: before.ID, Entities: t.entities(whole),
	}}, true
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
		if w := firstWord(ps); dangling.Has(w) || w == "me" || yesOrNo(s) {
			return true
		}
		h := personsOf(ps)
		return !h.I && !h.we && completeFragment(ps, phrase(ps)) == "" && !(selfContained(s) && len(strings.Fields(s)) > 3)
	}
	return len(s) <= maxAnswer/2 || yesOrNo(s)
}

// yesOrNo reports whether a text begins with a word that answers a question of yes or no.
func yesOrNo(s string) bool {
	if affirmations.Has(firstWord(split(straighten(s)))) {
		return true
	}
	for _, w := range []string{"はい", "いいえ", "うん", "是", "不", "对", "네", "아니"} {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

var affirmations = text.NewWordSet(`yes yeah yep yup no nope nah never always ja jo jep nein nie doch sí si nunca siempre oui ouais non jamais toujours sì mai sempre sim não
	nee nej nei kyllä joo ei tak ano ne igen nem evet hayır da nu ya iya tidak да нет так ні ναι όχι نعم لا כן לא हाँ नहीं có không`)

// ownAnswers begin a sentence that needs the question before it: "Mine is raclette."
var ownAnswers = text.NewWordSet("mine ours")

func hasDigit(s string) bool {
	return strings.ContainsAny(s, "0123456789０１２３４５６７８９")
}
