package date

import "strings"

// following completes a time by the one before it in the sentence. It reports false for one that cannot be known without.
func (p *parser) following(m, before match) (match, bool) {
	m, ok := p.beside(m, before)
	if !ok || before.next == 0 {
		return m, ok
	}
	return p.inOrder(p.laterDay(p.inMonth(p.inYear(m, before), before), before), before), true
}

// inMonth returns a day of the month in the month that is named before it: "in December, on the 17th", "on January 14, the
// freeze on the 7th".
func (p *parser) inMonth(m, before match) match {
	if !p.dayOfMonth(m) || !p.names(before, kMonth) || before.days() > 31 || !before.rel {
		return m
	}
	_, _, d := civil(m.from)
	y, month, _ := civil(before.from)
	if day := dayNumber(y, month, d); valid(y, month, d) && (before.from < p.today && before.days() == 1 || day >= p.today || before.days() > 1) {
		m.from, m.to = day, day
	}
	return m
}

// laterDay returns a day of the month in the next one where it would lie before the day ahead that it is joined to:
// "arrives on the 23rd and leaves on the 3rd".
func (p *parser) laterDay(m, before match) match {
	if !p.dayOfMonth(m) || before.days() != 1 || m.from < p.today || before.from <= m.from || before.from > p.today+62 {
		return m
	}
	joined := false
	for j := before.next; j < m.first; j++ {
		if strings.Contains(".!?;", p.t[j].low) {
			return m
		}
		joined = joined || p.has(j, kAnd) || p.is(j, ",")
	}
	y, month, d := civil(m.from)
	for joined && m.from <= before.from {
		if month++; month > 12 {
			y, month = y+1, 1
		}
		if valid(y, month, d) {
			m.from = dayNumber(y, month, d)
		}
	}
	m.to = m.from
	return m
}

// dayOfMonth reports whether the number of a day is all that a match says.
func (p *parser) dayOfMonth(m match) bool {
	return m.rel && m.days() == 1 && p.t[m.first].digits > 0 && (m.next == m.first+1 || m.next == m.first+2 && p.t[m.first+1].mark)
}

// inOrder returns a bare weekday weeks later where it would lie before the day ahead that it is joined to, or that it ends
// what begins on: "arrives on Saturday and leaves on Tuesday", "flies next Wednesday and is back on Friday", "comes on
// Friday to stay till Tuesday", 下周三去，周五回来.
func (p *parser) inOrder(m, before match) match {
	if !p.bare(m) || !p.has(m.first, kWeekday) || m.from < p.today || before.from <= m.from || before.from > p.today+14 {
		return m
	}
	bare := p.bare(before) && p.has(before.first, kWeekday)
	if !bare && (before.days() != 1 && !p.has(before.first, kWeekday) || !p.names(before, kWeekday, kDay)) {
		return m
	}
	staying := p.before(m.first-1, kArticle)
	joined := p.tab.cjk && !strings.ContainsAny(p.s[p.t[before.next-1].end:p.t[m.first].start], "。！？!?;；我你您他她它僕私彼")
	parted := false // by a mark or a conjunction
	for j := before.next; j < m.first; j++ {
		if !bare && joined && p.matches(p.tab.subject, p.t[j].low) || strings.Contains(".!?;", p.t[j].low) {
			return m
		}
		joined = joined || p.has(j, kAnd)
		parted = parted || p.t[j].mark || p.matches(p.tab.breaks, p.t[j].low)
	}
	if !joined && (parted || !p.has(staying, kUntil) || !p.has(staying, kTo)) {
		return m
	}
	weeks := (before.from - m.from + 6) / 7
	m.from, m.to = m.from+7*weeks, m.to+7*weeks
	return m
}

// sameWeek returns a bare weekday in the week that is said behind the next one: "Tuesday or Wednesday next week".
func (p *parser) sameWeek(first, m match) (match, bool) {
	wd, ok := p.value(first.first, kWeekday)
	if first.next == 0 || !ok || !p.bare(first) || m.days() != 1 || p.bare(m) || !p.has(m.first, kWeekday) || !p.names(m, kUnit) {
		return first, false
	}
	for j := first.next; j < m.first; j++ {
		if !p.has(j, kOr, kAnd, kArticle, kOn) && !p.is(j, ",") {
			return first, false
		}
	}
	back := (weekdayOf(m.from)+6)%7 - (wd+6)%7
	first.from, first.to = m.from-back, m.from-back
	return first, back > 0
}

// inYear returns a month, season, holiday or day without a year in the year that stands right before it: "in 2019, at
// Christmas", "back in 2011, in August".
func (p *parser) inYear(m, before match) match {
	if !m.rel || m.days() > 100 || before.days() < 365 || before.days() > 366 || m.first > before.next+4 ||
		!p.names(m, kMonth, kSeason, kHoliday) || p.names(m, kDir, kRel, kNear, kDay, kUnit, kWeekday, kPart) {
		return m
	}
	for j := before.next; j < m.first; j++ {
		if strings.Contains(".!?;", p.t[j].low) || p.matches(p.tab.breaks, p.t[j].low) || p.matches(p.tab.subject, p.t[j].low) || p.isPast(j) {
			return m
		}
	}
	year, _, _ := civil(before.from)
	if h, ok := p.value(m.first, kHoliday); ok {
		if s, ok := holidayIn(p.tab.holidays[h], year, true); ok {
			m.interval = s
		}
		return m
	}
	y, month, d := civil(m.from)
	ty, tm, td := civil(m.to + 1)
	if valid(year, month, d) {
		m.from, m.to = dayNumber(year, month, d), dayNumber(year+ty-y, tm, td)-1
	}
	return m
}

// names reports whether a word of a match is of one of the kinds.
func (p *parser) names(m match, kinds ...kind) bool {
	for j := m.first; j < m.next; j++ {
		if p.has(j, kinds...) {
			return true
		}
	}
	return false
}

// beside returns a day that is counted from the time named before it: "the wedding is on 5 June, we leave the day after",
// "the Saturday after", "am nächsten Tag", "le lendemain". It reports false where no time was named from which to count.
func (p *parser) beside(m, before match) (match, bool) {
	if m.days() != 1 {
		return m, true
	}
	if dir, ok := p.value(m.next+1, kDir); ok && p.bare(m) && !p.has(m.next+2, kUnit, kMonth) {
		word := p.t[m.next].low
		if dir == 1 && p.matches(p.tab.afterwards, word) || dir == -1 && p.matches(p.tab.beforehand, word) {
			m.from, m.to, m.next = m.from+7*dir, m.to+7*dir, m.next+2 // "the Thursday after next", "the Sunday before last"
			return m, true
		}
	}
	how := p.besideOther(m)
	if how == 0 {
		return m, true
	}
	if before.next == 0 || before.days() > 31 {
		plan := p.names(m, kDay, kDir) && p.direction(m.first) >= 0 // "the next day" of a plan is tomorrow
		return m, plan || p.bare(m) && !p.has(m.first-1, kArticle)
	}
	day := before.from - 1
	if how > 0 {
		day = before.to + 1
	}
	if wd, ok := p.weekdayIn(m); ok {
		for weekdayOf(day) != wd {
			day += how
		}
	}
	m.interval = oneDay(day, true)
	return m, true
}

// besideOther tells whether a match is a day after (1) or before (-1) a time that was named, 0 for neither.
func (p *parser) besideOther(m match) int {
	_, weekday := p.weekdayIn(m)
	for j := m.first; j < m.next; j++ {
		switch {
		case p.matches(p.tab.thereafter, p.t[j].low):
			return 1
		case p.matches(p.tab.therebefore, p.t[j].low):
			return -1
		}
	}
	if u, ok := p.unitIn(m); ok && u == uDay && m.from == p.today+1 && p.names(m, kDir) {
		return 1
	}
	if !weekday || !p.bare(m) {
		return 0
	}
	return p.dangling(m.next)
}

// dayBeside reads "the day after" and "the day before", which are days only beside another.
func (p *parser) dayBeside(i int, before match) (match, bool) {
	u, ok := p.unitAt(i)
	if !ok || u != uDay || before.next == 0 || !p.has(i-1, kArticle, kOn) || before.days() > 31 {
		return match{}, false
	}
	switch p.dangling(i + 1) {
	case 1:
		return match{oneDay(before.to+1, true), i, i + 2}, true
	case -1:
		return match{oneDay(before.from-1, true), i, i + 2}, true
	}
	return match{}, false
}

// dangling tells whether the word at i says "after" (1) or "before" (-1) of nothing that follows, 0 for neither.
func (p *parser) dangling(i int) int {
	if i >= len(p.t) {
		return 0
	}
	ends := i+1 >= len(p.t) || p.t[i+1].mark || p.matches(p.tab.breaks, p.t[i+1].low) || p.is(i+1, "that") || p.has(i+1, kAnd, kIn)
	switch {
	case p.matches(p.tab.afterwards, p.t[i].low) && (ends || !p.has(i, kAfter)):
		return 1
	case p.matches(p.tab.beforehand, p.t[i].low) && (ends || !p.has(i, kBefore)):
		return -1
	}
	return 0
}

func (p *parser) weekdayIn(m match) (int, bool) {
	for j := m.first; j < m.next; j++ {
		if wd, ok := p.value(j, kWeekday); ok {
			return wd, true
		}
	}
	return 0, false
}

func (p *parser) unitIn(m match) (unit, bool) {
	for j := m.first; j < m.next; j++ {
		if u, ok := p.unitAt(j); ok {
			return u, true
		}
	}
	return 0, false
}

// corrected reports whether the words between two bytes, behind one time and before another, say that the first was a mistake:
// "Friday, no wait, Saturday".
func (p *parser) corrected(from, to int) bool {
	found := false
	for j := p.wordAt(from); j < len(p.t) && p.t[j].start < to; j++ {
		switch {
		case p.matches(p.tab.correcting, p.t[j].low):
			found = true
		case !p.t[j].mark && !p.has(j, kArticle, kOn) && !p.matches(p.tab.filling, p.t[j].low):
			return false
		}
	}
	return found
}

// another reports whether the number of a day at word i is said beside one before it: "the 2nd or the 5th", "on the 5th, I mean
// the 6th". next is the word behind it.
func (p *parser) another(i, next int) bool {
	if !p.t[i].ordinal || !p.endsAt(next) {
		return false
	}
	j, joined := p.before(i-1, kArticle, kOn), false
	for ; j > 0 && p.t[j].digits == 0; j-- {
		switch {
		case p.has(j, kOr, kAnd) || p.matches(p.tab.correcting, p.t[j].low):
			joined = true
		case !p.t[j].mark && !p.matches(p.tab.filling, p.t[j].low):
			return false
		}
	}
	return joined && j > 0 && p.t[j].ordinal && p.t[j].n <= 31 && p.has(j-1, kArticle)
}

// pair reports whether the number of a day at word i is the first of two, of which one at least is none that counts the things of
// a short row: "the 27th and 28th". next is the word behind it.
func (p *parser) pair(i, next int) bool {
	if !p.has(next, kAnd, kOr) || !p.t[i].ordinal || !p.has(i-1, kArticle) {
		return false
	}
	j := p.skip(next+1, kArticle)
	return j < len(p.t) && p.t[j].ordinal && p.t[j].n <= 31 && p.t[j].n > 3 && p.endsAt(j+1)
}

// rowOf reports whether word i joins a number in a row to another before the noun of both: "the 5th and 6th floors".
func (p *parser) rowOf(i int) bool {
	j := p.skip(i+1, kArticle)
	return p.has(i, kAnd, kOr) && j < len(p.t) && p.t[j].ordinal && !p.endsAt(j+1) && !p.tab.nouns && p.tab.progressive != nil
}
