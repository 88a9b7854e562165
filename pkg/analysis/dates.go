package analysis

import (
	"sort"
	"time"
)

// DateSpan is a time expression of a text and what it stands for: the closed
// range from From to To, the last microsecond of its last day.
type DateSpan struct {
	From, To time.Time
	Text     string // the expression as it stands in the text
	Start    int    // byte offsets of Text
	End      int
	Relative bool // what it stands for depends on when it was said
}

// Dates gives the time expressions of text in order, without overlaps, days in
// the zone of ref. Relative expressions ("yesterday", "last Friday", "in May", "two years ago") are
// resolved against ref, never against a clock; with a zero ref only those that
// name a year are given. Weeks start on Monday, seasons are the northern
// hemisphere's, an ambiguous 5/7/2023 is month first. A bare "on Friday" or "in
// May" is the last one before ref, unless its sentence looks ahead ("will",
// "going to", "next"), then the next one. Repetitions ("every Friday") and clock
// times are no dates.
func Dates(text string, ref time.Time) []DateSpan {
	words := scan(text)
	if !mayHoldDate(text, words) {
		return nil
	}
	p := dateParser{text: text, words: words, ref: ref}
	var out []DateSpan
	for i := 0; i < len(words); {
		s, next, ok := p.expression(i)
		if !ok {
			i++
			continue
		}
		out = append(out, p.found(s, i, next))
		i = next
	}
	out = p.joinRanges(out)
	if foreign := foreignDates(text, ref); len(foreign) > 0 {
		out = addDates(out, foreign)
	}
	return out
}

// addDates adds the spans of more that overlap none of have.
func addDates(have, more []DateSpan) []DateSpan {
	out := have
	for _, m := range more {
		free := true
		for _, h := range have {
			if m.Start < h.End && h.Start < m.End {
				free = false
				break
			}
		}
		if free {
			out = append(out, m)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Start < out[j].Start })
	return out
}

// mayHoldDate is the cheap check before the grammar: a digit, a word that time
// expressions are made of, or CJK characters of the calendar.
func mayHoldDate(text string, words []word) bool {
	for _, w := range words {
		if w.digit {
			return true
		}
		if w.cjk {
			if _, ok := cjkDateRunes[w.lower]; ok {
				return true
			}
			continue
		}
		if _, ok := dateWords[w.lower]; ok {
			return true
		}
	}
	return false
}

// dateParser reads the time expressions of one text.
type dateParser struct {
	text  string
	words []word
	ref   time.Time // zero = unknown
}

// span is a resolved expression.
type span struct {
	from, to time.Time
	rel      bool
}

func (p dateParser) found(s span, i, next int) DateSpan {
	start, end := p.words[i].start, p.words[next-1].end
	return DateSpan{From: s.from, To: s.to, Text: p.text[start:end], Start: start, End: end, Relative: s.rel}
}

// low gives the word at i in lower case, "" outside the text.
func (p dateParser) low(i int) string {
	if i < 0 || i >= len(p.words) {
		return ""
	}
	return p.words[i].lower
}

// joinRanges makes one span of "between A and B" and "from A to B", "A - B" too.
func (p dateParser) joinRanges(in []DateSpan) []DateSpan {
	if len(in) < 2 {
		return in
	}
	out := in[:1]
	for _, s := range in[1:] {
		last := &out[len(out)-1]
		between := trimSpace(p.text[last.End:s.Start])
		before := p.wordBefore(last.Start)
		joined := false
		switch between {
		case "and", "& ", "&":
			joined = before == "between"
		case "to", "until", "till", "through", "-", "–", "—":
			joined = between != "-" || !last.Relative
		}
		if joined && !s.To.Before(last.From) {
			last.To, last.End, last.Relative = s.To, s.End, last.Relative || s.Relative
			last.Text = p.text[last.Start:last.End]
			continue
		}
		out = append(out, s)
	}
	return out
}

// wordBefore gives the word that ends right before byte offset at.
func (p dateParser) wordBefore(at int) string {
	i := sort.Search(len(p.words), func(i int) bool { return p.words[i].start >= at })
	return p.low(i - 1)
}

// sentence gives the words of the sentence of word i, as a range.
func (p dateParser) sentence(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && !p.words[from].first {
		from--
	}
	for to < len(p.words) && !p.words[to].first {
		to++
	}
	return from, to
}

// back reports whether the sentence of word i says that it looks into the past.
func (p dateParser) back(i int) bool {
	from, to := p.sentence(i)
	for j := from; j < to; j++ {
		w := p.words[j].lower
		if _, ok := pastCues[w]; ok || len(w) > 4 && w[len(w)-2:] == "ed" {
			if _, plan := futureCues[w]; !plan {
				return true
			}
		}
	}
	return false
}

// ahead reports whether the sentence of word i looks into the future.
func (p dateParser) ahead(i int) bool {
	if p.back(i) {
		return false
	}
	from, to := p.sentence(i)
	weak := false
	for j := from; j < to; j++ {
		w := p.words[j].lower
		if _, ok := futureCues[w]; ok || len(w) > 3 && w[len(w)-3:] == "'ll" {
			return true
		}
		if _, be := presentBe[w]; be && j+1 < to {
			n := p.low(j + 1)
			if _, adverb := betweenBe[n]; adverb {
				n = p.low(j + 2)
			}
			weak = weak || len(n) > 4 && n[len(n)-3:] == "ing"
		}
	}
	return weak
}

func trimSpace(s string) string {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}
