package date

import (
	"sort"
	"strconv"
	"strings"
)

// season reads "summer of 2022", "spring 2023" and "in the summer". Seasons are those of the northern hemisphere.
func (p *parser) season(i int, loose bool) (point, int, bool) {
	m, ok := p.value(i, kSeason)
	if !ok || p.is(i+1, "'s") {
		return point{}, i, false
	}
	if y, next, rel, ok := p.yearBehind(i+1, false); ok {
		return p.fix(i, seasonOf(y, m, rel)), next, true
	}
	if dir, _, next, ok := p.shiftAt(i + 1); ok && p.tab.postposed && !p.has(next, kUnit) && p.known {
		return p.fix(i, p.shiftedSeason(m, dir)), next, true
	}
	if !p.known || !p.endsAt(i+1) && !p.tab.joined {
		return point{}, i, false
	}
	dir := p.direction(i)
	if !loose && !p.timeBefore(i) && (dir == 0 || !p.matches(p.tab.inflected, p.t[i].low)) {
		return point{}, i, false
	}
	y := p.y
	s := seasonOf(y, m, true)
	if dir == 0 && !loose && p.is(i-1, "in") && p.tab.progressive != nil && !p.inProgress(i) { // "I ski in winter"
		return point{}, i, false
	}
	if dir >= 0 && s.to < p.today {
		y++
	} else if dir < 0 && s.from > p.today {
		y--
	}
	return p.fix(i, seasonOf(y, m, true)), i + 1, true
}

// holiday reads "at Christmas", "New Year's Eve 2022" and "easter 2018". Without a year, a word before must make it a time.
func (p *parser) holiday(i int, loose bool) (point, int, bool) {
	h, ok := p.value(i, kHoliday)
	if !ok {
		return point{}, i, false
	}
	rule := p.tab.holidays[h]
	if y, next, rel, ok := p.yearBehind(i+1, false); ok {
		s, ok := holidayIn(rule, y, rel)
		return p.fix(i, s), next, ok
	}
	if u, is := p.unitAt(i + 1); is && u == uWeekend && p.known { // "over the Easter weekend"
		s, ok := p.nearHoliday(rule, p.direction(i), false)
		back := 0
		if wd := weekdayOf(s.from); wd >= 1 && wd <= 3 {
			back = -1
		}
		w, _ := whole(s.from, uWeekend, back)
		return p.fix(i, interval{from: min(s.from, w.from), to: max(s.to, w.to), rel: true}), i + 2, ok
	}
	if !p.known || !loose && !p.opensHoliday(i) || !p.closesHoliday(i) {
		return point{}, i, false
	}
	s, ok := p.nearHoliday(rule, p.direction(i), false)
	return p.fix(i, s), i + 1, ok
}

// atHoliday are the prepositions that say when in languages whose first noun of a compound is the main one. What stands
// behind "de" or "di" is none: "el mercado de Navidad".
var atHoliday = map[string]bool{"en": true, "à": true, "a": true, "na": true, "no": true, "em": true, "para": true, "pour": true, "per": true, "por": true}

// ofHoliday are those that make it the second part of a compound.
var ofHoliday = map[string]bool{"de": true, "di": true, "do": true, "del": true, "d": true}

// opensHoliday reports whether what stands before the holiday at word i makes it a time.
func (p *parser) opensHoliday(i int) bool {
	switch {
	case p.tab.postposed && i > 0 && ofHoliday[p.t[i-1].low] && !p.has(i-2, kDayPart, kUnit, kPart):
		return false
	case p.tab.cjk, p.timeBefore(i), p.has(i-1, kOn, kUntil, kArticle), p.is(i-1, "à"), p.matches(p.tab.inflected, p.t[i].low):
		return true
	}
	return p.tab.nouns && (i == 0 || p.is(i-1, "zu")) // Heiligabend sind wir daheim
}

// closesHoliday reports whether what stands behind the holiday at word i leaves it one: a Christmas market has no date.
// Where compounds are one word, or their first noun stands last, it may be anything.
func (p *parser) closesHoliday(i int) bool {
	switch {
	case p.tab.cjk:
		return true
	case p.tab.joined:
		return true
	case p.has(i+1, kUnit):
		return false
	case p.tab.nouns, i > 0 && p.tab.postposed && atHoliday[p.t[i-1].low]:
		return true
	}
	return p.endsAt(i + 1)
}

// nearHoliday returns the last or next time of a holiday. strict leaves out the present day.
func (p *parser) nearHoliday(rule string, dir int, strict bool) (interval, bool) {
	for k := range 3 {
		y := p.y - 1 + k
		if dir < 0 {
			y = p.y + 1 - k
		}
		s, ok := holidayIn(rule, y, true)
		if !ok {
			return s, false
		}
		edge := 0
		if strict && dir != 0 {
			edge = 1
		}
		if dir < 0 && s.from <= p.today-edge && (edge == 0 || s.to < p.today) || dir >= 0 && s.to >= p.today+edge {
			return s, true
		}
	}
	return interval{}, false
}

// holidayIn returns a holiday of a year by its rule:
//
//	12-25        a day
//	12-24..26    the days of a feast, named by its second
//	easter-2     days from Easter Sunday
//	orthodox1    days from Easter Sunday of the churches that reckon it by the Julian calendar
//	11-thu-4     the fourth Thursday of November; -1 is the last one
func holidayIn(rule string, y int, rel bool) (interval, bool) {
	if y < 1 || y > 9999 {
		return interval{}, false
	}
	if rest, ok := strings.CutPrefix(rule, "easter"); ok {
		n := 0
		if rest != "" {
			n, _ = strconv.Atoi(rest)
		}
		return oneDay(easter(y)+n, rel), true
	}
	if rest, ok := strings.CutPrefix(rule, "orthodox"); ok {
		n := 0
		if rest != "" {
			n, _ = strconv.Atoi(rest)
		}
		return oneDay(orthodoxEaster(y)+n, rel), true
	}
	f := strings.Split(rule, "-")
	m, _ := strconv.Atoi(f[0])
	if len(f) >= 3 {
		wd := strings.Index("sunmontuewedthufrisat", f[1]) / 3
		n, _ := strconv.Atoi(strings.Join(f[2:], "-"))
		if n == 0 { // "5-mon--1" is the last one
			n = -1
		}
		first := dayNumber(y, m, 1)
		if n < 0 {
			last := dayNumber(y, m+1, 1) - 1
			return oneDay(last-(weekdayOf(last)-wd+7)%7, rel), true
		}
		return oneDay(first+(wd-weekdayOf(first)+7)%7+7*(n-1), rel), true
	}
	from, to, more := strings.Cut(f[1], "..")
	d, _ := strconv.Atoi(from)
	s := oneDay(dayNumber(y, m, d), rel)
	if more {
		d, _ := strconv.Atoi(to)
		s.to = dayNumber(y, m, d)
		s.core = s.from + 1
	}
	return s, true
}

// setAside marks the times that the sentence is not about: the day that something was moved from, and what is denied.
func (p *parser) setAside(spans []Span) {
	moved, aim := false, false // a time behind the one at k is the aim of a move
	for k := len(spans) - 1; k >= 0 && len(spans) > 1; k-- {
		at := p.wordAt(spans[k].Start)
		i, from := p.opening(at)
		if aim || p.has(i, kNot) || k+1 < len(spans) && p.corrected(spans[k].End, spans[k+1].Start) || from && p.anyMoved(at, moved) || k+1 < len(spans) && (p.purpose(at, spans[k+1].Start) || p.refused(at, spans[k+1].Start)) {
			spans[k].Aside = true
		}
		if p.movedUntil(at) {
			moved, aim = true, aim || p.anyMoved(at, true)
		}
	}
}

// opening returns the word before the article and preposition of a time at word i, and whether one of those is "from".
func (p *parser) opening(at int) (i int, from bool) {
	i = at - 1
	from = p.has(i, kFrom)
	for ; i >= 0 && p.has(i, kArticle, kOn, kIn); i-- {
		from = from || p.has(i-1, kFrom)
	}
	return i, from
}

// wordAt returns the first word that begins at or behind a byte.
func (p *parser) wordAt(start int) int {
	return sort.Search(len(p.t), func(at int) bool { return p.t[at].start >= start })
}

// movedAway reports whether a time is what something was moved from, to a time that is not read: "from Tuesday to the
// day of the match".
func (p *parser) movedAway(s Span) bool {
	at := p.wordAt(s.Start)
	i, from := p.opening(at)
	return from && p.anyMoved(at, false) || p.has(i, kNot) && !p.has(i+1, kArticle)
}

// anyMoved reports whether a verb before word i moves an appointment; with behind set, also one behind it.
func (p *parser) anyMoved(i int, behind bool) bool {
	end := i
	if behind {
		end = p.clauseEnd(i)
	}
	for j := p.clauseStart(i); j < end; j++ {
		if p.moves(j) {
			return true
		}
	}
	return false
}

// purpose reports whether the time at word i is what something is for: "school breaks up for summer on 22 July".
// next is the byte at which the next one begins, which is of the same clause.
func (p *parser) purpose(i, next int) bool {
	return p.has(i, kSeason, kHoliday) && p.has(i-1, kFor) && p.wordAt(next) < p.clauseEnd(i)
}

// refused reports whether the clause around word i denies its time, and words behind it propose the one at byte next:
// "I can't do Wednesday, let's say Friday".
func (p *parser) refused(i, next int) bool {
	end, proposes := p.clauseEnd(i), false
	for j := end; j < min(len(p.t), end+reach) && !proposes; j++ {
		if p.t[j].start >= next && (p.t[j].mark || p.matches(p.tab.breaks, p.t[j].low)) {
			return false
		}
		proposes = p.matches(p.tab.proposing, p.t[j].low)
	}
	if !proposes {
		return false
	}
	for j := p.clauseStart(i); j < end; j++ {
		if p.has(j, kNot) || p.matches(p.tab.denying, p.t[j].low) {
			return true
		}
	}
	return false
}
