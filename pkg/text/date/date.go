// Package date is the date grammar: it finds the time expressions of a text and says which days they name.
//
// Find reads what somebody says. It is strict about what is a date ("I may march on" has none) and resolves relative
// expressions against the time of the message and the tense of the sentence. What the words of a language mean stands in
// a table (languages/README.md); the grammar is one for all. Main says which of several times a sentence is about, and
// Annotate writes what was found back into the sentence.
//
// Asked reads a question. Whoever asks about "August" means the latest one, whatever the tense, and names one time at
// most, so it takes the first expression and needs no sentence around it. It knows English; AskedIn knows the
// languages of Find.
package date

import (
	"regexp"
	"slices"
	"time"
)

// Span is a time expression of a text with the closed range of time it names.
type Span struct {
	From, To   time.Time // To is the last microsecond of the last day
	Text       string    // the expression as it stands in the text
	Start, End int       // byte offsets of Text
	Relative   bool      // the range depends on when the text was said
	shown      time.Time // the last microsecond of the last day that String names
	Aside      bool      // the sentence is about another of its times: "moved from Monday", "not on Friday but"
}

// Find returns the time expressions of s in order, without overlaps. Days are those of the zone of ref. language is the
// BCP 47 code of the text's language ("de"); for "" it is guessed from the words. A language without a table has no
// expressions but ISO dates.
//
// Relative expressions ("yesterday", "last Friday", "in May", "two years ago") are resolved against ref, never against a
// clock. With a zero ref only expressions that name a year are returned. Weeks begin on Monday, seasons are those of the
// northern hemisphere, and the order of 5/7/2023 is the habit of the language where the numbers do not tell. A day or
// month without a year is the last one if its sentence looks back, else the next one. An amount of time ("two years
// ago", "in three weeks") is counted from the day of ref. Repetitions ("every Friday") and clock times are no dates.
// Years are 1 to 9999, in the zone of ref and in UTC.
func Find(s string, ref time.Time, language string) []Span {
	return FindAbout(s, ref, time.Time{}, language)
}

// FindAbout is Find in a talk about a time: a day of the month without its month ("the 20th") is the one nearest to about.
func FindAbout(s string, ref, about time.Time, language string) []Span {
	raw := scan(s)
	may := mayHoldDate(raw)
	if may == 0 {
		return nil
	}
	p := parser{s: s, zone: ref.Location(), known: !ref.IsZero(), now: ref}
	if p.known {
		y, m, d := ref.Date()
		p.today = dayNumber(y, int(m), d)
		p.y, p.m, p.d = y, int(m), d
	}
	if !about.IsZero() {
		y, m, d := about.Date()
		p.about = dayNumber(y, int(m), d)
	}
	switch t := tableOf(language); {
	case language == "":
		p.tab = guess(raw)
		if may&(1<<slices.Index(tables(), p.tab)) == 0 {
			return nil
		}
	case t != nil:
		p.tab = t
	default:
		p.tab = &table{code: language}
	}
	if p.t = p.tab.lex(raw); len(p.t) >= longFrom {
		p.matched = map[wordKind]bool{}
	}
	p.setOrder(language)
	var out []Span
	var before match
	for i := 0; i < len(p.t); {
		if p.t[i].senses == nil && p.t[i].digits == 0 {
			i++
			continue
		}
		m, ok := p.expression(i)
		if !ok {
			behind := m.next
			if m, ok = p.dayBeside(i, before); !ok {
				i = max(behind, i+1)
				continue
			}
		}
		if m, ok = p.following(m, before); !ok {
			i = max(m.next, i+1)
			continue
		}
		if first, ok := p.sameWeek(before, m); ok {
			if span, ok := p.span(first); ok {
				out[len(out)-1] = span
			}
		}
		if span, ok := p.span(m); ok {
			out, before = append(out, span), m
		}
		i = max(m.next, i+1)
	}
	if len(out) == 1 && p.movedAway(out[0]) {
		return nil
	}
	p.setAside(out)
	return out
}

// match is an expression that was read: words first to next-1.
type match struct {
	interval
	first, next int
}

// span returns a match as a part of the text. It fails for a range outside the calendar and, with a zero ref, for one
// that depends on it.
func (p *parser) span(m match) (Span, bool) {
	if m.rel && !p.known {
		return Span{}, false
	}
	from, to, ok := timesOf(m.interval, p.zone)
	if !ok {
		return Span{}, false
	}
	shown := to
	start, end := p.t[m.first].start, p.t[m.next-1].end
	if m.shown != 0 {
		y, mm, d := civil(m.shown + 1)
		shown = time.Date(y, time.Month(mm), d, 0, 0, 0, 0, p.zone).Add(-time.Microsecond)
	}
	return Span{shown: shown, From: from, To: to, Text: p.s[start:end], Start: start, End: end, Relative: m.rel}, true
}

// mayHoldDate is a cheap check that spares most sentences the grammar. It returns the tables, a bit each, that know a
// word of the list as part of an expression of time: all of them if one is a number, 0 for none.
func mayHoldDate(list []token) uint32 {
	known, found := triggers(), uint32(0)
	for _, t := range list {
		if t.digits > 0 {
			return ^uint32(0)
		}
		found |= known[t.low]
	}
	return found
}

// parser reads the time expressions of one text.
type parser struct {
	s       string
	t       []token
	tab     *table
	zone    *time.Location
	known   bool // whether the day of saying is known
	today   int
	now     time.Time
	y, m, d int // of today
	about   int // the day that the talk is about, 0 where none is known

	saying                int  // whether the text has a verb of saying: 1 or -1, 0 before that was looked up
	monthFirst, unordered bool // how 5/7 is read; whether that is not known

	matched map[wordKind]bool // which words of a long text are of which kinds, as far as it was asked; nil for a short one
}

// wordKind asks whether a word is of a kind.
type wordKind struct {
	kind *regexp.Regexp
	word string
}

// longFrom is the number of words from which a text is long: its words are looked at for many times each.
const longFrom = 4 * reach

// matches reports whether a word is of a kind; no word is of the kind nil.
func (p *parser) matches(kind *regexp.Regexp, word string) bool {
	if kind == nil || p.matched == nil {
		return kind != nil && kind.MatchString(word)
	}
	k := wordKind{kind, word}
	is, known := p.matched[k]
	if !known {
		is = kind.MatchString(word)
		p.matched[k] = is
	}
	return is
}

// setOrder finds out how the text orders day and month: as its own numbers above 12 show, else as its language does. A
// text of numbers alone does not tell.
func (p *parser) setOrder(language string) {
	p.monthFirst = p.tab.monthFirst
	for i := range p.t {
		if p.t[i].digits == 0 || p.t[i].digits > 2 || i+2 >= len(p.t) || !p.is(i+1, "/") || !p.tight(i+1) || !p.tight(i+2) || p.t[i+2].digits == 0 || p.t[i+2].digits > 2 {
			continue
		}
		if a, b := p.t[i].n, p.t[i+2].n; a > 12 && a <= 31 && b <= 12 {
			p.monthFirst = false
			return
		} else if b > 12 && b <= 31 && a <= 12 {
			p.monthFirst = true
			return
		}
	}
	p.unordered = language == "" && !p.tab.cjk
	for _, t := range p.t {
		if p.tab.words[t.low] {
			p.unordered = false
		}
	}
}

// has reports whether the token at i has one of the kinds.
func (p *parser) has(i int, list ...kind) bool {
	if i < 0 || i >= len(p.t) {
		return false
	}
	for _, s := range p.t[i].senses {
		for _, k := range list {
			if s.kind == k {
				return true
			}
		}
	}
	return false
}

// value returns the value of the token at i as a kind.
func (p *parser) value(i int, k kind) (int, bool) {
	if i < 0 || i >= len(p.t) {
		return 0, false
	}
	return p.t[i].value(k)
}

// is reports whether the token at i is the mark or word.
func (p *parser) is(i int, low string) bool { return i >= 0 && i < len(p.t) && p.t[i].low == low }

// before returns the index before the tokens of a kind that end at i.
func (p *parser) before(i int, list ...kind) int {
	for p.has(i, list...) {
		i--
	}
	return i
}

// skip returns the index behind the tokens of a kind from i on.
func (p *parser) skip(i int, list ...kind) int {
	for p.has(i, list...) {
		i++
	}
	return i
}

// tight reports whether nothing separates the token at i from the one before it.
func (p *parser) tight(i int) bool { return i > 0 && i < len(p.t) && p.t[i].start == p.t[i-1].end }
