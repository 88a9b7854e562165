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
)

// drafter turns the sentences of one message into drafts, in order.
type drafter struct {
	cast    cast
	message memory.Message
	me      string
	you     string        // "" where several or none are spoken to
	habit   text.Language // what the speaker writes else, "" where that is unknown

	drafts  []candidate
	met     []string // those who were named as somebody's sister, boss, …
	about   string   // whom "he" or "she" means: the one person named last, "" for none or several
	follows bool     // the sentence before gave the last draft
}

// candidate is a draft with how much it says.
type candidate struct {
	extract.Draft
	weight int
	joined int // sentences that were joined to it
}

// sentence reads one sentence: one that is not English as it stands. Of an English one it strips what only opens or
// calls, completes a fragment, resolves a pronoun, and then drops, joins or drafts it.
func (t *drafter) sentence(s string) {
	if onlySmallTalk(s) {
		return
	}
	if !text.IsEnglish(s, t.habit) {
		t.foreign(s)
		return
	}
	s = t.withoutName(t.strip(spelled(straighten(s))))
	ps := split(s)
	low := phrase(ps)
	follows := t.follows
	t.follows = false
	if strings.TrimSpace(low) == "" {
		return
	}
	if asks(s) {
		asked := false
		if s, ps, low, asked = untag(s, ps, low); asked && !commands(ps) {
			t.question(s, ps)
			return
		}
	}
	if t.isRequest(low) && !commands(ps) {
		t.request(s)
		return
	}
	content := t.content(s)
	found := all.in(low)
	if t.empty(s, ps, found, content) {
		t.remember(s)
		return
	}
	if whole := completeFragment(ps, low); whole != "" {
		s = whole
		ps = split(s)
		low = phrase(ps)
	}
	resolved := false
	if about := t.about; about != "" {
		if whole := pronounAs(ps, about); whole != "" {
			s, ps, resolved = whole, split(whole), true
			low = phrase(ps)
		}
	}
	h := personsOf(ps)
	goesOn := follows && dangling.Has(firstWord(ps))
	if !h.I && !h.we && !resolved && content < 2 && !commands(ps) && !strings.ContainsAny(s, "0123456789") && !callsOff(s) && !(goesOn && ofPerson.MatchString(s)) {
		t.remember(s)
		return
	}
	if goesOn && t.append(s, h) {
		t.follows = true
		t.remember(s)
		return
	}
	t.remember(s)
	t.draft(s, ps, low, h, content)
}

// empty reports whether a sentence is talk that states nothing. An encouragement with a number or a time states it.
func (t *drafter) empty(s string, ps []piece, found marks, content int) bool {
	h := personsOf(ps)
	switch {
	case commands(ps):
		return false
	case content == 0:
		return true
	case found.has(markChatter):
		return content < 2 && !seesSomething.MatchString(s) || content < 4 && !h.I && !relatives.Has(firstWord(ps))
	}
	return encouragements.Has(firstWord(ps)) && content < 4 && !h.I && !hasDigit(s) &&
		len(date.Find(s, t.message.Time, string(text.English))) == 0
}

// seesSomething finds statements that begin like chatter: "I see a therapist", "I understand Polish".
var seesSomething = pattern.New(`^I (?:see|understand) (?:(?:an?|my|some) \p{L}|\p{Lu})`)

// draft drafts the fact of a sentence that states something.
func (t *drafter) draft(s string, ps []piece, low string, h persons, content int) {
	dates := date.Find(s, t.message.Time, string(text.English))
	found := all.in(low)
	typ := typeOf(ps, low, found, dates)
	text := ""
	dated := split(date.Annotate(s, dates))
	switch {
	case typ == memory.TypeInstruction && commands(ps):
		text = t.quote("asked", date.Annotate(s, dates), h)
	case h.we && !together(ps), ownAnswers.Has(firstWord(ps)):
		text = t.quote("said", date.Annotate(s, dates), h)
	case h.I, h.we && !h.open && !h.you:
		text = voice{t.me, t.you}.rewrite(dated, h)
		if !strings.Contains(text, t.me) {
			text = t.quote("said", date.Annotate(s, dates), h)
		}
	case h.open:
		if content < 3 && typ == memory.TypeFact && !hasDigit(s) {
			return
		}
		text = t.quote("told", date.Annotate(s, dates), h)
	case dangling.Has(firstWord(ps)) || h.we:
		if content < 3 && len(dates) == 0 && !hasDigit(s) && !corrects.MatchString(low) {
			return
		}
		text = t.quote("said", date.Annotate(s, dates), h)
	case t.message.Role != memory.RoleUser, named(t.me) && !selfContained(s):
		text = t.quote("said", date.Annotate(s, dates), h)
	default:
		text = join(dated)
	}
	text = punctuate(text)
	d := extract.Draft{Text: text, Type: typ, Kind: t.kind(typ, h.I), Speaker: t.message.Speaker, Tags: tagsOf(low, s, typ),
		Sources: []memory.MessageID{t.message.ID}, Occurred: occurred(dates), Confidence: confidence(typ, found.has(markHedge)), Entities: t.entities(text)}
	stated := text
	if h.we && !h.open {
		stated = punctuate(voice{t.me, t.you}.rewrite(singular(dated), persons{I: true}))
	}
	if d.State = t.state(stated, low, found, d.Occurred); d.State != nil {
		d.Entities = withPerson(d.Entities, d.State.Subject)
	}
	t.drafts = append(t.drafts, candidate{Draft: d, weight: weight(d, h, content, len(dates)) + numberWeight(s)})
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

// append joins a sentence about "it" or "they" to the draft that it follows, and reports whether it did.
func (t *drafter) append(s string, h persons) bool {
	if len(t.drafts) == 0 {
		return false
	}
	d := &t.drafts[len(t.drafts)-1]
	dates := date.Find(s, t.message.Time, string(text.English))
	if d.joined >= 2 || len(d.Text)+len(s) > maxJoined || h.open || h.we {
		return false
	}
	add := date.Annotate(s, dates)
	if h.I || h.you {
		add = voice{t.me, t.you}.rewrite(split(add), h)
	}
	d.Text = punctuate(d.Text) + " " + punctuate(add)
	d.joined++
	d.weight++
	if d.Occurred.IsZero() {
		d.Occurred = occurred(dates)
	}
	d.Entities = t.entities(d.Text)
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

// best returns the drafts, at most as many as the message may have and all that hold numbers: those that say most, in
// the order in which they were said.
func (t *drafter) best() []extract.Draft {
	limit := maxFacts
	if n := len(t.message.Content); n > longMessage {
		limit = min(maxLongFacts, limit+(n-longMessage)/longStep)
	}
	numbered := 0
	for _, d := range t.drafts {
		if hasDigit(d.Text) {
			numbered++
		}
	}
	limit = min(max(limit, numbered), maxLongFacts)
	order := make([]int, len(t.drafts))
	for i := range order {
		order[i] = i
	}
	if len(order) > limit {
		slices.SortStableFunc(order, func(a, b int) int { return t.drafts[b].weight - t.drafts[a].weight })
		order = order[:limit]
		slices.Sort(order)
	}
	out := make([]extract.Draft, 0, len(order))
	for _, i := range order {
		out = append(out, t.drafts[i].Draft)
	}
	return out
}

// weight estimates how much a draft says: content words, a date, entities, a type of its own, a state, the speaker.
func weight(d extract.Draft, h persons, content, dates int) int {
	w := min(content, 6) + 2*min(dates, 1) + len(d.Entities)
	if d.Type != memory.TypeFact && d.Type != memory.TypeBelief {
		w += 2
	}
	if d.State != nil {
		w += 6
	}
	if h.I {
		w++
	}
	return w
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
