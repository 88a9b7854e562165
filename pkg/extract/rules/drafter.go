package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

// least is the probability from which a sentence deserves a fact, and from which one that goes on with another joins it.
const least = .27

// leastDated is the probability from which small talk of a user that names a time deserves a fact: "See you on Friday" may be a
// plan.
const leastDated = .1

// drafter turns the sentences of one message into drafts, in order.
type drafter struct {
	cast      cast
	message   memory.Message
	said      memory.Instant // when it was said, by the speaker's clock
	me        string
	you       string        // "" where several or none are spoken to
	habit     text.Language // what the speaker writes else, "" where that is unknown
	asked     string        // the sentence before, where it was a question that is no fact
	talk      *date.Span    // the days that were named last; nil = not looked up
	answering bool          // the message before, by somebody else, ends with a question

	drafts  []candidate
	met     []string // those who were named as somebody's sister, boss, …
	about   string   // whom "he" or "she" means: the one person named last, "" for none or several
	follows bool     // the sentence before resulted in the last draft
}

// candidate is a draft with how surely it deserves a fact.
type candidate struct {
	extract.Draft
	worth  float32
	words  int // of the first sentence
	joined int // sentences that were joined to it
}

// sentence drafts a sentence that deserves a fact, joins one that goes on with it to the one before, and leaves out any other.
func (t *drafter) sentence(s sentence) {
	follows := t.follows
	t.follows = false
	english := text.IsEnglish(s.text, t.habit)
	if follows && s.Worth+s.Goes >= least && t.goesOn(s, english) && t.join(s, english) {
		t.follows = true
		return
	}
	if !t.deserves(s) {
		if english {
			t.remember(straighten(s.text))
		}
		if t.asked = ""; s.asks && len(s.text) <= maxQuestion {
			t.asked = s.text
		}
		return
	}
	if q := t.asked; q != "" && (s.Goes > s.Worth || english && (pointing.MatchString(s.text) || ownAnswers.Has(firstWord(split(s.text))))) { // "Who has my jacket? I lent it to somebody."
		t.asked = ""
		t.add(s, capitalise(t.me)+": "+q+" "+s.text, nil, 0, persons{})
		return
	}
	t.asked = ""
	if english {
		t.english(s)
		return
	}
	t.about = ""
	t.add(s, capitalise(t.me)+": "+s.text, nil, marks(0), persons{})
}

// goesOn reports whether a sentence that follows a draft belongs to it: it does not stand by itself, or one of the two is very
// short. Sentences about two days are two facts.
func (t *drafter) goesOn(s sentence, english bool) bool {
	last := t.drafts[len(t.drafts)-1]
	switch {
	case s.asks:
		return false
	case s.Goes > s.Worth, english && (dangling.Has(firstWord(split(straighten(s.text)))) || pointing.MatchString(s.text) && !selfContained(s.text)):
		return true
	case len(s.dates) > 0 && !last.Occurred.IsZero(), s.Worth >= .5 && last.worth >= .5:
		return false
	}
	return wordsIn(s.said) <= shortest || last.words <= shortest
}

// shortest is how many words a sentence has at most that is joined to the one beside it.
const shortest = 4

// pointing finds what only the sentence before explains, as an object.
var pointing = pattern.New(`(?i)[a-z] (?:it|them|that one|this one)(?:$|[^\pL'])`)

// deserves reports whether a sentence deserves a fact: by the classifier, or because somebody names a time, and so speaks of a
// plan or a deed.
func (t *drafter) deserves(s sentence) bool {
	switch {
	case s.worked:
		return false
	case len(s.dates) > 0 && t.byUser():
		return s.Worth >= leastDated || s.Best != worth.SmallTalk && s.Best != worth.Worked
	}
	return s.Worth >= least && (!s.asks || s.Class == worth.Instruction || s.Worth > s.Goes+.4)
}

// english drafts a sentence of English in the third person, where its grammar lets it be told so.
func (t *drafter) english(s sentence) {
	said := t.withoutName(t.strip(spelled(straighten(s.text))))
	ps := split(said)
	low := phrase(ps)
	if strings.TrimSpace(low) == "" {
		return
	}
	found := all.in(low)
	if whole := completeFragment(ps, low); whole != "" {
		said, ps = whole, split(whole)
	}
	if about := t.about; about != "" {
		if whole := pronounAs(ps, about); whole != "" {
			said, ps = whole, split(whole)
		}
	}
	t.remember(said)
	h := personsOf(ps)
	t.talk = s.talk
	if len(s.dates) > 0 {
		s.dates = t.dates(said)
	}
	dated := date.Annotate(said, s.dates)
	told := ""
	switch {
	case s.Class == worth.Instruction && s.Sure >= sure:
		told = t.quote("asked", dated, h)
	case s.asks:
		told = t.quote("asked", dated, persons{})
	case h.we && !together(ps), ownAnswers.Has(firstWord(ps)):
		told = t.quote("said", dated, h)
	case h.I, h.we && !h.open && !h.you:
		told = voice{t.me, t.you}.rewrite(split(dated), h)
		if !strings.Contains(told, t.me) {
			told = t.quote("said", dated, h)
		}
	case h.open:
		told = t.quote("told", dated, h)
	case !t.byUser(), hasName(t.me) && !selfContained(said):
		told = t.quote("said", dated, h)
	default:
		told = dated
	}
	told = punctuate(told)
	stated := told
	if h.we && !h.open {
		stated = punctuate(voice{t.me, t.you}.rewrite(singular(split(dated)), persons{I: true}))
	}
	t.add(s, told, &stated, found, h)
}

// add adds a draft. stated is what it states in English, nil in another language.
func (t *drafter) add(s sentence, told string, stated *string, found marks, h persons) {
	low := phrase(split(straighten(s.text)))
	typ := typeOf(s.Verdict, found)
	if s.asks && typ != memory.TypeInstruction {
		typ = memory.TypeQuestion
	}
	d := extract.Draft{
		Text: told, Type: typ, Kind: t.kind(typ, h.I), Speaker: t.message.Speaker, Tags: tagsOf(low, s.text, typ), Sources: []memory.MessageID{t.message.ID},
		Confidence: confidence(typ, found.has(markHedge)), Entities: t.entities(told),
	}
	if s.Sure < .5 || s.Class != worth.Liking { // what somebody likes has no day
		d.Occurred = occurred(s.dates)
	}
	if stated != nil {
		if d.State = t.state(*stated, low, found, d.Occurred); d.State != nil {
			d.Entities = withPerson(d.Entities, d.State.Subject)
		}
	}
	t.drafts = append(t.drafts, candidate{Draft: d, worth: s.Worth, words: wordsIn(s.said)})
	t.follows = true
}

// quote returns a sentence as it was said, with who said it.
func (t *drafter) quote(verb, s string, h persons) string {
	who := t.me
	if verb == "told" {
		if t.you == "" {
			verb = "said"
		} else {
			verb += " " + t.you
		}
	}
	if verb == "asked" && h.I { // "call me Al": me is the one who asks
		s = voice{t.me, ""}.rewrite(split(s), persons{I: true})
	}
	return who + " " + verb + ": " + s
}

// selfContained reports whether the subject of a sentence is named. A relative without a name is the speaker's: "Wife's
// expecting".
func selfContained(s string) bool {
	names := text.Names(s)
	return len(names) > 0 && !relatives.Has(strings.TrimSuffix(strings.ToLower(names[0]), "'s")) && (strings.HasPrefix(s, names[0]) || strings.HasPrefix(s, "The "+names[0]))
}

// join adds a sentence that goes on with what was said to the last draft, and reports whether it did.
func (t *drafter) join(s sentence, english bool) bool {
	if len(t.drafts) == 0 {
		return false
	}
	d := &t.drafts[len(t.drafts)-1]
	if d.joined >= 2 || len(d.Text)+len(s.text) > maxJoined {
		return false
	}
	add := s.text
	if english {
		add = spelled(straighten(add))
		t.remember(add)
		add = date.Annotate(add, t.dates(add))
		if h := personsOf(split(add)); (h.I || h.you) && !h.we {
			add = voice{t.me, t.you}.rewrite(split(add), h)
		}
		add = punctuate(add)
	}
	d.Text = punctuate(d.Text) + " " + add
	d.joined++
	if d.Occurred.IsZero() && d.State == nil && s.Worth >= least {
		d.Occurred = occurred(s.dates)
	}
	for _, e := range t.entities(add) {
		if !slices.Contains(d.Entities, e) {
			d.Entities = append(d.Entities, e)
		}
	}
	slices.Sort(d.Entities)
	return true
}

// remember notes the one person that a sentence names, for a pronoun in the next.
func (t *drafter) remember(s string) {
	found := ""
	for _, p := range namedPeople(s, t.me) {
		if p == t.you || p == t.me {
			continue
		}
		if found != "" && found != p {
			t.about = ""
			return
		}
		found = p
		if !strings.Contains(p, " ") && !slices.Contains(t.met, p) {
			t.met = append(t.met, p)
		}
	}
	if found != "" {
		t.about = found
	}
}

// best returns the drafts, at most as many as the message may have: those that most surely deserve a fact, in the order in
// which they were said.
func (t *drafter) best() []extract.Draft {
	limit := maxFacts
	if n := len(t.message.Content); n > longMessage {
		limit = min(maxLongFacts, limit+(n-longMessage)/longStep)
	}
	order := make([]int, len(t.drafts))
	for i := range order {
		order[i] = i
	}
	if len(order) > limit {
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case t.drafts[a].worth > t.drafts[b].worth:
				return -1
			case t.drafts[a].worth < t.drafts[b].worth:
				return 1
			}
			return 0
		})
		order = order[:limit]
		slices.Sort(order)
	}
	out := make([]extract.Draft, 0, len(order))
	for _, i := range order {
		out = append(out, t.drafts[i].Draft)
	}
	return out
}

// firstWord returns the first word in lower case, up to an apostrophe; "" without words.
func firstWord(ps []piece) string {
	if i := next(ps, 0); i < len(ps) {
		base, _, _ := strings.Cut(ps[i].low, "'")
		return base
	}
	return ""
}

// punctuate sets a first letter in upper case and adds the full stop that is missing.
func punctuate(s string) string {
	s = capitalise(strings.TrimSpace(s))
	s = strings.TrimRight(s, " ,;:-–—")
	end := strings.TrimRightFunc(s, func(r rune) bool { return r > 0x2190 && !unicode.IsLetter(r) || r == ' ' })
	if r, _ := utf8.DecodeLastRuneInString(end); end == "" || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return s
	}
	if !strings.ContainsAny(end[len(end)-1:], ".!?\")") && !strings.HasSuffix(end, "…") && !strings.HasSuffix(end, "。") && !strings.HasSuffix(end, "！") {
		return end + "." + s[len(end):]
	}
	if strings.HasSuffix(end, ")") {
		return end + "." + s[len(end):]
	}
	return s
}

// byUser reports whether a person, and not an assistant or a tool, said the message.
func (t *drafter) byUser() bool { return t.message.Role == memory.RoleUser || t.message.Role == "" }
