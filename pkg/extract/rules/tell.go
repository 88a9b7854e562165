package rules

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// teller turns the sentences of one message into drafts, in order.
type teller struct {
	cast    cast
	message memory.Message
	me      string
	you     string // "" where several or none are spoken to

	drafts  []told
	met     []string // those who were named as somebody's sister, boss, …
	about   string   // whom "he" or "she" means: the one person named last, "" for none or several
	follows bool     // the sentence before gave the last draft
}

// told is a draft and how much it says.
type told struct {
	extract.Draft
	weight int
	joined int // sentences that were joined to it
}

// sentence reads one sentence.
func (t *teller) sentence(s string) {
	s = t.strip(s)
	ps := split(s)
	low := phrase(ps)
	follows := t.follows
	t.follows = false
	if strings.TrimSpace(low) == "" {
		return
	}
	asks := strings.HasSuffix(strings.TrimRight(s, " !.)\"'"), "?") || strings.HasSuffix(s, "？")
	if asks {
		if s, ps, low, asks = untag(s, ps, low); asks {
			t.question(s, ps)
			return
		}
	}
	content := t.content(s)
	found := all.in(low)
	if t.empty(ps, found, content) {
		t.remember(s)
		return
	}
	if whole := fragment(ps, low); whole != "" {
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
	h := listen(ps)
	if !h.I && !h.we && !resolved && content < 2 && !strings.ContainsAny(s, "0123456789") {
		t.remember(s)
		return
	}
	if follows && dangling[first(ps)] && t.append(s, h) {
		t.follows = true
		t.remember(s)
		return
	}
	t.remember(s)
	t.tell(s, ps, low, h, content)
}

// empty reports a sentence of talk that states nothing.
func (t *teller) empty(ps []piece, found marks, content int) bool {
	h := listen(ps)
	switch {
	case content == 0:
		return true
	case found.has(markChatter):
		return content < 2 || content < 4 && !h.I
	}
	return cheers[first(ps)] && content < 4 && !h.I && !commands(ps)
}

// tell drafts the fact of a sentence that states something.
func (t *teller) tell(s string, ps []piece, low string, h heard, content int) {
	dates := analysis.Dates(s, t.message.Time)
	found := all.in(low)
	typ := typeOf(ps, low, found, dates)
	text := ""
	dated := split(withDates(s, dates))
	switch {
	case typ == memory.TypeInstruction && commands(ps):
		text = t.quote("asked", withDates(s, dates), h)
	case h.I, h.we && !h.open && !h.you:
		text = voice{t.me, t.you}.rewrite(dated, h)
		if !strings.Contains(text, t.me) {
			text = t.quote("said", withDates(s, dates), h)
		}
	case h.open:
		if content < 3 && typ == memory.TypeFact {
			return
		}
		text = t.quote("told", withDates(s, dates), h)
	case dangling[first(ps)] || h.we:
		if content < 3 && len(dates) == 0 {
			return
		}
		text = t.quote("said", withDates(s, dates), h)
	case named(t.me) && !selfContained(s):
		text = t.quote("said", withDates(s, dates), h)
	default:
		text = join(dated)
	}
	text = finish(text)
	d := extract.Draft{Text: text, Type: typ, Kind: t.kind(typ, h.I), Speaker: t.message.Speaker, Tags: tagsOf(low, s, typ),
		Sources: []memory.MessageID{t.message.ID}, Occurred: occurred(dates), Confidence: confidence(typ, found.has(markHedge)), Entities: t.entities(text)}
	if d.State = t.state(text, low, found, d.Occurred); d.State != nil {
		d.Entities = withPerson(d.Entities, d.State.Subject)
	}
	t.drafts = append(t.drafts, told{Draft: d, weight: weight(d, h, content, len(dates))})
	t.follows = true
}

// quote is a sentence as it was said, with who said it.
func (t *teller) quote(verb, s string, h heard) string {
	who := t.me
	if verb == "told" {
		if t.you == "" {
			verb = "said"
		} else {
			verb += " " + t.you
		}
	}
	if verb == "asked" && h.I { // "call me Al": me is the one who asks
		s = voice{t.me, ""}.rewrite(split(s), heard{I: true})
	}
	return who + " " + verb + ": " + s
}

// selfContained reports a sentence whose subject is named.
func selfContained(s string) bool {
	names := analysis.Names(s)
	return len(names) > 0 && (strings.HasPrefix(s, names[0]) || strings.HasPrefix(s, "The "+names[0]))
}

// append joins a sentence about "it" or "they" to the draft it follows.
func (t *teller) append(s string, h heard) bool {
	if len(t.drafts) == 0 {
		return false
	}
	d := &t.drafts[len(t.drafts)-1]
	dates := analysis.Dates(s, t.message.Time)
	if d.joined >= 2 || len(d.Text)+len(s) > maxJoined || h.open {
		return false
	}
	add := withDates(s, dates)
	if h.I || h.we || h.you {
		add = voice{t.me, t.you}.rewrite(split(add), h)
	}
	d.Text = finish(d.Text) + " " + finish(add)
	d.joined++
	d.weight++
	if d.Occurred.IsZero() {
		d.Occurred = occurred(dates)
	}
	d.Entities = t.entities(d.Text)
	return true
}

// question keeps a question that tells something of who asks it.
func (t *teller) question(s string, ps []piece) {
	h := listen(ps)
	dates := analysis.Dates(s, t.message.Time)
	if !h.I || len(dates) == 0 && len(analysis.Names(s)) == 0 || t.content(s) < 3 || len(s) > 300 {
		return
	}
	text := capitalise(t.me) + " asked: " + withDates(s, dates)
	d := extract.Draft{Text: text, Type: memory.TypeQuestion, Kind: t.kind(memory.TypeQuestion, false), Speaker: t.message.Speaker,
		Sources: []memory.MessageID{t.message.ID}, Occurred: occurred(dates), Confidence: 1, Entities: t.entities(text), Tags: tagsOf(phrase(ps), s, memory.TypeQuestion)}
	t.drafts = append(t.drafts, told{Draft: d, weight: 1})
}

// remember keeps the one person a sentence names, for a pronoun in the next.
func (t *teller) remember(s string) {
	found := ""
	for _, p := range persons(s, t.me) {
		if p == t.you || p == t.me {
			continue
		}
		if found != "" && found != p {
			t.about = ""
			return
		}
		found = p
		if !strings.Contains(p, " ") && !contains(t.met, p) {
			t.met = append(t.met, p)
		}
	}
	if found != "" {
		t.about = found
	}
}

// best gives the drafts, at most as many as the message may have: those that
// say most, in the order they were said.
func (t *teller) best() []extract.Draft {
	limit := maxFacts
	if n := len(t.message.Content); n > longMessage {
		limit = min(maxLongFacts, limit+(n-longMessage)/longStep)
	}
	order := make([]int, len(t.drafts))
	for i := range order {
		order[i] = i
	}
	if len(order) > limit {
		sort.SliceStable(order, func(a, b int) bool { return t.drafts[order[a]].weight > t.drafts[order[b]].weight })
		order = order[:limit]
		sort.Ints(order)
	}
	out := make([]extract.Draft, 0, len(order))
	for _, i := range order {
		out = append(out, t.drafts[i].Draft)
	}
	return out
}

func weight(d extract.Draft, h heard, content, dates int) int {
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

func first(ps []piece) string {
	if i := next(ps, 0); i < len(ps) {
		base, _, _ := strings.Cut(ps[i].low, "'")
		return base
	}
	return ""
}

// finish gives a text its capital and its full stop.
func finish(s string) string {
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
