package date

import "strings"

// expression reads the longest time expression that begins at word i. Where it reports false, the next one begins at
// word next or later.
func (p *parser) expression(i int) (match, bool) {
	if p.compared(i) {
		return match{}, false
	}
	if p.repeats(i) || p.has(i-1, kNaming) && p.has(i, kWeekday, kMonth, kSeason, kHoliday) {
		return match{}, false
	}
	if m, ok := p.between(i); ok || m.next > i {
		return m, ok
	}
	if m, ok := p.anchored(i); ok {
		return p.outsideNames(p.agreed(p.withDayPart(m)))
	}
	pt, next, ok := p.point(i, false)
	if !ok {
		return match{}, false
	}
	s, ok := p.resolve(pt)
	if ok && p.modifies(i, s) {
		return match{}, false
	}
	if ok && p.tab.cjk {
		s, next = p.onward(s, next)
	}
	m := p.agreed(p.withDayPart(match{s, pt.at, next}))
	if ok && p.bare(m) && (p.habitual(i) || p.dayParts(m.next) || p.dayParts(m.next-1)) {
		return match{next: m.next}, false
	}
	if !ok || p.anyOne(m) || p.has(m.next, kEvery) && !p.has(m.next, kArticle) && p.has(m.next+1, kUnit) {
		return match{}, false
	}
	return p.outsideNames(m)
}

// dayParts reports whether the word at i is an English part of many days: "Monday evenings".
func (p *parser) dayParts(i int) bool {
	return p.has(i, kDayPart) && strings.HasSuffix(p.t[i].low, "s") && p.tab.progressive != nil
}

// compared reports whether a time at word i is one that the sentence only compares with: "like last year".
func (p *parser) compared(i int) bool {
	j := i - 1
	for p.has(j, kArticle, kOn, kIn) && !p.has(j, kLike) {
		j--
	}
	return p.has(j, kLike)
}

// bare reports whether a weekday, month or season is all that a match says.
func (p *parser) bare(m match) bool {
	return m.next-m.first <= 2 && p.has(m.first, kWeekday, kMonth, kSeason) && (m.next-m.first == 1 || p.has(m.next-1, kDayPart))
}

// modifies reports whether a whole month or year at word i only says of which one a day is that the grammar does not know:
// "independence day of this year", "de 20ste van de volgende maand".
func (p *parser) modifies(i int, s interval) bool {
	if !s.rel || s.days() < 7 || !p.has(i, kDir, kRel, kUnit, kArticle) {
		return false
	}
	j := i - 1
	for p.has(j, kArticle) && !p.has(j, kOf) {
		j--
	}
	if !p.has(j, kOf) {
		return false
	}
	for k := j - 1; k >= 0 && k >= j-4 && !p.t[k].mark; k-- {
		u, ok := p.unitAt(k)
		if ok && u == uDay || p.has(k, kSuffix) || strings.HasSuffix(p.t[k].low, "day") || strings.HasSuffix(p.t[k].low, "dag") {
			return true
		}
	}
	return false
}

// agreed drops a day that the weekday behind it contradicts: "in 3 days, on Friday" said on a Wednesday is not sure.
func (p *parser) agreed(m match) match {
	k := m.next
	if p.is(k, ",") {
		k++
	}
	on := p.skip(k, kOn)
	wd, ok := p.value(on, kWeekday)
	if !ok || m.days() != 1 || p.has(on, kWeak) || on == k && k == m.next && !p.has(m.first, kUnit, kNumber) || p.has(m.first, kWeekday) {
		return m
	}
	if p.dayParts(on + 1) { // "11 January, Tuesday evenings" says when it goes on
		return m
	}
	m.next = on + 1
	if _, _, u, _, ok := p.amountAt(p.skip(m.first, kAgoPre, kInPre)); ok && (u == uWeek || u == uFortnight) { // vor drei Wochen am Montag
		day := mondayOf(m.from) + (wd+6)%7
		if near := m.from - 3 + (wd-weekdayOf(m.from-3)+7)%7; near == day {
			m.from, m.to = day, day
			return m
		}
	}
	if weekdayOf(m.from) != wd {
		m.to = m.from - 1
	}
	return m
}

// onward reads what stands behind a date where the language puts it last: 今日から2日後, 18日の週.
func (p *parser) onward(s interval, next int) (interval, int) {
	k := p.skip(next, kFrom, kOf)
	if k == next {
		return s, next
	}
	if u, ok := p.unitAt(k); ok && u == uWeek && s.days() == 1 {
		w, _ := whole(s.from, uWeek, 0)
		w.rel = s.rel
		return w, k + 1
	}
	_, n, u, behind, ok := p.amountAt(k)
	if !ok {
		return s, next
	}
	switch {
	case p.has(behind, kInPost):
	case p.has(behind, kAgoPost):
		n = -n
	default:
		return s, next
	}
	if day, ok := shift(s.from, u, n); ok {
		return oneDay(day, s.rel), behind + 1
	}
	return s, next
}

// listed returns the word of the weekday that the weekday at word i is joined to: "los lunes y miércoles"; else -1.
func (p *parser) listed(i int) int {
	j := i - 1
	for p.has(j, kArticle, kOn) && !p.has(j, kEvery) {
		j--
	}
	if !p.has(i, kWeekday) || !p.has(j, kAnd) && !p.is(j, ",") && !p.is(j, "、") && !p.is(j, "/") || !p.has(j-1, kWeekday, kWeekdays) {
		return -1
	}
	return j - 1
}

// repeats reports whether what begins at word i happens every time: "every Monday", "Mondays and".
func (p *parser) repeats(i int) bool {
	if j := p.listed(i); j >= 0 && (p.has(j, kWeekdays) || p.has(j, kWeekday) && p.repeats(j)) {
		return true
	}
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		if p.has(j, kEvery) && (!p.has(j, kArticle) || p.has(i, kWeekday) && !p.has(i+1, kDir, kNear)) {
			return true
		}
		if p.t[j].digits == 0 && !p.has(j, kArticle, kOrdinal, kNumber) {
			break
		}
	}
	return false
}

// withDayPart includes "morning" in "yesterday morning".
func (p *parser) withDayPart(m match) match {
	if p.has(m.next, kDayPart) && !p.t[m.next].mark && m.days() == 1 {
		m.next++
	}
	return m
}

// point is the part of a date that an expression states; the sentence completes it.
type point struct {
	at      int // index of its first word
	y, m, d int // 0 for what is not said
	wd      int // weekday, -1 for none
	fixed   bool
	interval
	part   int      // the part of a period that it names: kPart values, -1 for none
	base   interval // the period that part is of
	shared bool     // its month or year was said of the other end of a range
	near   int      // -1 or 1 where words say that it lies back or ahead
}

func (p *parser) empty(i int) point { return point{at: i, wd: -1, part: -1} }

func (p *parser) fix(i int, s interval) point {
	pt := p.empty(i)
	pt.fixed, pt.interval = true, s
	return pt
}

// point reads a date or period that begins at word i. With loose set, words count that alone would be none: a number as
// a day or year, a bare month.
func (p *parser) point(i int, loose bool) (point, int, bool) {
	if i >= len(p.t) || p.repeats(i) {
		return point{}, i, false
	}
	for _, rule := range []func(int, bool) (point, int, bool){p.nth, p.partOf, p.marked, p.near, p.shifted, p.numeric, p.dayMonth, p.weekday, p.hoursAgo, p.amount,
		p.weekend, p.quarter, p.season, p.holiday, p.decade, p.monthYear, p.year, p.dayAlone} {
		if pt, next, ok := rule(i, loose); ok {
			return pt, next, true
		}
	}
	return point{}, i, false
}

// resolve completes a point by the direction of its sentence.
func (p *parser) resolve(pt point) (interval, bool) {
	s, ok := p.settle(pt)
	if ok && pt.part >= 0 && !pt.fixed {
		s, ok = part(s, pt.part, p.today)
	}
	return s, ok
}

func (p *parser) settle(pt point) (interval, bool) {
	switch {
	case pt.fixed:
		return pt.interval, true
	case pt.y != 0 && pt.m != 0 && pt.d != 0:
		return oneDay(dayNumber(pt.y, pt.m, pt.d), pt.rel), valid(pt.y, pt.m, pt.d)
	case pt.y != 0 && pt.m != 0:
		return monthOf(pt.y, pt.m, pt.rel), pt.m <= 12
	case pt.y != 0:
		return yearOf(pt.y, pt.rel), true
	}
	if !p.known {
		return interval{rel: true}, false
	}
	dir := pt.near
	if dir == 0 {
		dir = p.direction(pt.at)
	}
	switch {
	case pt.m != 0 && pt.d != 0:
		if s, ok := p.nearDay(pt.m, pt.d, 1); ok && dir < 0 && s.from <= p.today+45 && p.takesEffect(pt.at) {
			return s, true
		}
		if pt.near == 0 {
			dir = p.nearer(pt.at, pt.m, pt.d, dir)
		}
		return p.nearDay(pt.m, pt.d, dir)
	case pt.m != 0:
		y := p.y
		if dir < 0 && pt.m > p.m {
			y--
		} else if dir >= 0 && pt.m < p.m {
			y++
		}
		return monthOf(y, pt.m, true), true
	case pt.d != 0:
		return p.nearDayOfMonth(pt.d, pt.wd, dir)
	case pt.wd >= 0:
		if dir < 0 {
			return oneDay(p.today-1-(weekdayOf(p.today-1)-pt.wd+7)%7, true), true
		}
		return oneDay(p.today+(pt.wd-weekdayOf(p.today)+7)%7, true), true
	}
	return interval{}, false
}

// How many days a date without a year lies ahead at most where it is taken against a past form in another clause, and how many
// the one before lies back at least: "signed the lease, moving in on 8 January" on the 6th hardly means the last one.
const soon, longAgo, justNow = 60, 290, 20

// nearer returns the direction in which a day of a month without a year lies: that of the sentence, unless its own clause does not
// look back, the last such day was about a year ago, and the next one is close.
func (p *parser) nearer(at, m, d, dir int) int {
	back, ok1 := p.nearDay(m, d, -1)
	ahead, ok2 := p.nearDay(m, d, 1)
	if dir == 0 && ok1 && ok2 && p.today-back.from <= justNow && ahead.from-p.today > longAgo {
		return -1
	}
	if dir >= 0 || !ok1 || !ok2 || p.today-back.from < longAgo || ahead.from-p.today > soon {
		return dir
	}
	for j, end := p.clauseStart(at), p.clauseEnd(at); j < end; j++ {
		if p.cue(j, at) < 0 {
			return dir
		}
	}
	return 1
}

// nearDay returns the day of a month without a year: the last one if dir is negative, else the next one.
func (p *parser) nearDay(m, d, dir int) (interval, bool) {
	y, step := p.y, 1
	if dir < 0 {
		step = -1
	}
	for range 9 { // 29 February
		if valid(y, m, d) {
			if day := dayNumber(y, m, d); dir < 0 && day <= p.today || dir >= 0 && day >= p.today {
				return oneDay(day, true), true
			}
		}
		y += step
	}
	return interval{}, false
}

// nearAbout returns the day of the month that is nearest to the day that the talk is about.
func (p *parser) nearAbout(d int) (day int, ok bool) {
	if p.about == 0 {
		return 0, false
	}
	y, m, _ := civil(p.about)
	for k := -1; k <= 1; k++ {
		yy, mm, _ := civil(dayNumber(y, m+k, 1))
		if !valid(yy, mm, d) {
			continue
		}
		if other := dayNumber(yy, mm, d); !ok || max(other-p.about, p.about-other) < max(day-p.about, p.about-day) {
			day, ok = other, true
		}
	}
	return day, ok
}

// nearDayOfMonth returns a day without a month, of the weekday wd if that is not -1.
func (p *parser) nearDayOfMonth(d, wd, dir int) (interval, bool) {
	step := 1
	if dir < 0 {
		step = -1
	}
	if day := dayNumber(p.y, p.m, d); wd >= 0 && valid(p.y, p.m, d) && weekdayOf(day) == wd && day < p.today+7 && day > p.today-7 {
		return oneDay(day, true), true // a weekday and a day that agree say more than the tense
	}
	if day, ok := p.nearAbout(d); ok && wd < 0 && (dir < 0 && day <= p.today || dir >= 0 && day >= p.today) {
		return oneDay(day, true), true
	}
	for k := range 24 {
		y, m, _ := civil(dayNumber(p.y, p.m+step*k, 1))
		if !valid(y, m, d) {
			continue
		}
		day := dayNumber(y, m, d)
		if (dir < 0 && day <= p.today || dir >= 0 && day >= p.today) && (wd < 0 || weekdayOf(day) == wd) {
			return oneDay(day, true), true
		}
	}
	return interval{}, false
}
