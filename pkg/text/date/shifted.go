package date

import "slices"

// shiftedUnit reads a period of the calendar that is named by its distance: "last week", "la semana pasada", 来年.
func (p *parser) shiftedUnit(i int) (interval, int, bool) {
	if i >= len(p.t) || !p.known {
		return interval{}, i, false
	}
	if v, ok := p.value(i, kRel); ok {
		s, ok := whole(p.today, unit(v/16), v%16-8)
		return s, i + 1, ok
	}
	dir, flavour, j, ok := p.shiftAt(i)
	if ok && !p.tab.trailing {
		if dir == 0 { // "this past week"
			if d, f, k, again := p.shiftAt(j); again && f == kNear {
				dir, flavour, j = d, f, k
			}
		}
		if u, isUnit := p.unitAt(j); isUnit {
			return p.unitNear(u, dir, flavour, j+1)
		}
		return interval{}, i, false
	}
	if u, isUnit := p.unitAt(i); isUnit && (p.tab.postposed) {
		if dir, flavour, j, ok := p.shiftAt(i + 1); ok && !p.has(j, kUnit) {
			return p.unitNear(u, dir, flavour, j)
		}
	}
	return interval{}, i, false
}

func (p *parser) unitNear(u unit, dir int, flavour kind, next int) (interval, int, bool) {
	if p.is(next, "'s") && p.possesses(next+1) {
		next++
	}
	if u == uHour || u == uWorkday || u == uDay || p.is(next, "'s") && u != uYear {
		return interval{}, next, false
	}
	if flavour == kNear && dir < 0 && (u == uWeek || u == uMonth || u == uYear || u == uDecade) {
		from, _ := shift(p.today, u, -1)
		return interval{from: from, to: p.today - 1, rel: true}, next, true
	}
	if u == uWeekend {
		switch wd := weekdayOf(p.today); {
		case flavour == kNear && dir > 0 && wd != 6 && wd != 0:
			dir = 0
		case flavour == kNear && dir < 0 && wd == 0:
			dir = 0
		}
	}
	s, ok := whole(p.today, u, dir)
	return s, next, ok
}

// shiftAt reads a word that says which of several: last, this, next.
func (p *parser) shiftAt(i int) (n int, flavour kind, next int, ok bool) {
	if n, ok = p.value(i, kDir); ok {
		return n, kDir, i + 1, true
	}
	n, ok = p.value(i, kNear)
	return n, kNear, i + 1, ok
}

// shifted reads "last Friday", "next month", "the past two weeks", "the 3 next weeks", "this summer" and 来週の金曜日.
func (p *parser) shifted(i int, _ bool) (point, int, bool) {
	if !p.known {
		return point{}, i, false
	}
	if s, next, ok := p.shiftedUnit(i); ok {
		return p.within(i, s, next)
	}
	if pt, next, ok := p.stretch(i); ok {
		return pt, next, true
	}
	dir, flavour, j, ok := p.shiftAt(i)
	if !ok || p.tab.trailing {
		return point{}, i, false
	}
	if dir == 0 {
		if d, _, k, again := p.shiftAt(j); again {
			dir, flavour, j = d, kNear, k
		}
	}
	if j >= len(p.t) || p.t[j].mark {
		return point{}, i, false
	}
	if wd, is := p.value(j, kWeekday); is && (!p.is(j+1, "'s") || p.possesses(j+2)) {
		pt, next, ok := p.shiftedWeekday(i, wd, dir, flavour, j+1)
		if p.is(next, "'s") {
			next++
		}
		return pt, next, ok
	}
	if m, is := p.value(j, kMonth); is && !p.ofPeriod(j+1) && !(j+1 < len(p.t) && p.t[j+1].digits > 0) {
		return p.fix(i, p.shiftedMonth(m, dir)), j + 1, true
	}
	if m, is := p.value(j, kSeason); is {
		return p.fix(i, p.shiftedSeason(m, dir)), j + 1, true
	}
	if h, is := p.value(j, kHoliday); is {
		s, ok := p.nearHoliday(p.tab.holidays[h], dir, true)
		return p.fix(i, s), j + 1, ok
	}
	if pt, next, ok := p.dayMonth(j, false); ok && pt.y == 0 {
		pt.at, pt.near = i, dir
		if dir == 0 {
			pt.y, pt.rel = p.y, true
		}
		return pt, next, true
	}
	if pt, next, ok := p.numeric(j, true); ok && pt.y == 0 && pt.d != 0 {
		pt.at, pt.near = i, dir
		if dir == 0 {
			pt.y, pt.rel = p.y, true
		}
		return pt, next, true
	}
	return point{}, i, false
}

// within reads what may stand behind a period and names a day of it: "next week Wednesday", 来週の金曜日.
func (p *parser) within(i int, s interval, next int) (point, int, bool) {
	if s.days() == 7 {
		j := next
		if p.is(j, "-") || p.is(j, ",") {
			j++
		}
		j = p.skip(j, kOf, kOn, kArticle)
		if wd, ok := p.value(j, kWeekday); ok && (j > next || p.tab.cjk || !p.has(j+1, kOf)) && !p.is(next, ",") {
			return p.fix(i, oneDay(s.from+(wd+6)%7, true)), j + 1, true
		}
	}
	if s, next, ok := p.inside(s, next); ok && (p.tab.cjk || p.tab.postposed) {
		return p.fix(i, s), next, true
	}
	return p.fix(i, s), next, true
}

// shiftedWeekday resolves "last Friday" (of the week before), "next Friday" (of the week to come), "this Friday" and
// "the coming Friday". A date may follow: "this Friday, 15 June".
func (p *parser) shiftedWeekday(i, wd, dir int, flavour kind, next int) (point, int, bool) {
	if pt, behind, ok := p.dateBehind(next); ok {
		if pt.y == 0 && pt.m != 0 {
			pt.wd, pt.near = wd, dir
			if dir == 0 {
				pt.y, pt.rel = p.y, true
			}
		}
		pt.at = i
		return pt, behind, true
	}
	day := mondayOf(p.today) + 7*dir + (wd+6)%7
	switch {
	case flavour == kNear && dir < 0:
		day = p.today - 1 - (weekdayOf(p.today-1)-wd+7)%7
	case flavour == kNear:
		day = p.today + 1 + (wd-weekdayOf(p.today+1)+7)%7
	case dir == 0 && day < p.today && p.direction(i) >= 0:
		day += 7
	}
	return p.fix(i, oneDay(day, true)), next, true
}

func (p *parser) shiftedMonth(m, dir int) interval {
	y := p.y
	switch {
	case dir < 0 && m >= p.m:
		y += dir
	case dir < 0:
		y += dir + 1
	case dir > 0 && m <= p.m:
		y += dir
	case dir > 0:
		y += dir - 1
	}
	return monthOf(y, m, true)
}

func seasonOf(y, m int, rel bool) interval {
	return interval{from: dayNumber(y, m, 1), to: dayNumber(y, m+3, 1) - 1, rel: rel}
}

func (p *parser) shiftedSeason(m, dir int) interval {
	y := p.y
	if m == 12 && p.m <= 2 { // in winter: it began last year
		y--
	}
	s := seasonOf(y, m, true)
	if dir < 0 && s.to >= p.today {
		y--
	} else if dir > 0 && s.from <= p.today {
		y++
	}
	return seasonOf(y, m, true)
}

// unitAt returns the unit that the word at i names.
func (p *parser) unitAt(i int) (unit, bool) {
	u, ok := p.value(i, kUnit)
	return unit(u), ok
}

// near reads "today", "yesterday", "the day after tomorrow", "now" and "tonight".
func (p *parser) near(i int, loose bool) (point, int, bool) {
	n, ok := p.value(i, kDay)
	if !ok && loose && p.has(i, kNow) {
		ok = true
	}
	if !ok || !p.known || p.is(i+1, "'s") && !p.possesses(i+2) {
		return point{}, i, false
	}
	if n != 0 && slices.Contains(p.t[i].senses, sense{kDay, -n}) { // कल is yesterday and tomorrow
		if n = max(n, -n); p.direction(i) < 0 {
			n = -n
		}
	}
	if p.is(i+1, "'s") {
		return p.fix(i, oneDay(p.today+n, true)), i + 2, true
	}
	if _, count, u, next, ok := p.amountAt(i + 2); ok && p.has(i+1, kInPre) { // heute in zwei Wochen
		if day, ok := shift(p.today+n, u, count); ok {
			return p.fix(i, oneDay(day, true)), next, true
		}
	}
	if pt, next, ok := p.fromNear(i, n); ok {
		return pt, next, true
	}
	return p.fix(i, oneDay(p.today+n, true)), i + 1, true
}

// ofPeriod reports whether the word at i joins a month to the year that it is of: "the last May of 2021".
func (p *parser) ofPeriod(i int) bool {
	if !p.has(i, kOf) {
		return false
	}
	_, _, ok := p.periodAt(p.skip(i, kOf, kIn, kArticle))
	return ok
}
