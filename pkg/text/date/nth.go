package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// nth reads "the first week of May", "the last Monday of April", "the third month of 2021", "week 27 of last year" and
// "the last 4 months of 2021".
func (p *parser) nth(i int, _ bool) (point, int, bool) {
	n, j, ok := p.nthOf(i)
	if !ok {
		if n, ok = p.value(i, kDir); ok && n == -1 {
			j = i + 1
		} else if u, is := p.unitAt(i); (is && u == uWeek || p.has(i, kNumbered)) && i+1 < len(p.t) && p.t[i+1].digits > 0 && p.t[i+1].digits <= 2 {
			return p.weekNumber(i)
		} else {
			return point{}, i, false
		}
	}
	count := 1
	_, most, k, many := p.count(j)
	if many && p.has(k, kUnit) {
		count, j = most, k
	} else {
		many = false
	}
	j = p.skip(j, kMarkDay)
	wd, isDay := p.value(j, kWeekday)
	u, isUnit := p.unitAt(j)
	if !isDay && !isUnit {
		return point{}, i, false
	}
	k = p.skip(j+1, kOf, kIn, kArticle)
	if k == j+1 && !p.tab.cjk && !p.has(k, kDir, kRel) {
		return point{}, i, false
	}
	if u, is := p.unitAt(k); is && u == uMonth && p.has(k-1, kArticle) { // of which month is not said
		return p.fix(i, interval{to: -1}), k + 1, true
	}
	base, next, ok := p.periodAt(k)
	if !ok || base.days() < 28 {
		return point{}, i, false
	}
	s, ok := nthIn(base, n, count, u, wd, isDay, many)
	if !ok {
		return point{}, i, false
	}
	if k := next; s.days() == 7 { // first week of October on Friday
		if p.is(k, ".") {
			k++
		}
		if w, ok := p.value(p.skip(k, kOn, kArticle), kWeekday); ok {
			return p.fix(i, oneDay(s.from+(w+6)%7, s.rel)), p.skip(k, kOn, kArticle) + 1, true
		}
	}
	return p.fix(i, s), next, true
}

// inside reads what stands behind a period and names a part of it: 今週の後半, 2021年的第二周, 2016年の最後の週, 明年春天.
func (p *parser) inside(base interval, next int) (interval, int, bool) {
	k := p.skip(next, kOf)
	if w, ok := p.value(k, kPart); ok {
		s, ok := part(base, w, p.today)
		return s, k + 1, ok
	}
	if m, ok := p.value(k, kSeason); ok && p.tab.cjk && base.days() > 364 && !p.beginsName(k) {
		y, _, _ := civil(base.from)
		return seasonOf(y, m, base.rel), k + 1, true
	}
	n, j, ok := p.nthOf(k)
	if !ok || base.days() < 28 || !p.tab.cjk {
		return base, next, false
	}
	_, count, behind, many := p.count(j)
	if many = many && p.has(behind, kUnit); many {
		j = behind
	} else {
		count = 1
	}
	wd, isDay := p.value(j, kWeekday)
	u, isUnit := p.unitAt(j)
	if !isDay && !isUnit {
		return base, next, false
	}
	s, ok := nthIn(base, n, count, u, wd, isDay, many)
	return s, j + 1, ok
}

// beginsName reports whether the single character at i goes on as another word, mostly a name: 秋葉原, 夏子さん, and not 夏休み.
func (p *parser) beginsName(i int) bool {
	behind, _ := utf8.DecodeRuneInString(p.s[p.t[i].end:])
	return utf8.RuneCountInString(p.t[i].low) == 1 && unicode.Is(unicode.Han, behind) && behind != '休' && behind != '頃'
}

// nthIn returns the n-th unit or weekday of a period, or its first or last count units.
func nthIn(base interval, n, count int, u unit, wd int, isDay, many bool) (interval, bool) {
	s := interval{rel: base.rel}
	switch {
	case isDay && n > 0:
		s.from = base.from + (wd-weekdayOf(base.from)+7)%7 + 7*(n-1)
		s.to = s.from
	case isDay:
		s.from = base.to - (weekdayOf(base.to)-wd+7)%7
		s.to = s.from
	case u == uWeek && !many:
		return weekOf(base, n)
	case u == uWeek && n < 0:
		last, ok := weekOf(base, -1)
		return interval{from: last.from - 7*(count-1), to: last.to, rel: base.rel}, ok
	case u == uWeekend && !many:
		saturday, ok := nthIn(base, n, 1, uDay, 6, true, false)
		return interval{from: saturday.from, to: saturday.from + 1, rel: base.rel}, ok
	case u == uDay || u == uMonth || u == uWeek:
		if n < 0 {
			behind := base.to + 1
			from, ok := shift(behind, u, -count)
			s.from, s.to = from, base.to
			return s, ok && s.from >= base.from
		}
		if many {
			n = 1
		}
		a, ok1 := shift(base.from, u, n-1)
		b, ok2 := shift(base.from, u, n-1+count)
		s.from, s.to = a, b-1
		return s, ok1 && ok2 && s.from <= base.to
	default:
		return s, false
	}
	return s, s.from >= base.from && s.to <= base.to
}

// weekNumber reads "week 27 of last year" and "KW 27". Without a year the weeks of a plan, a course or a pregnancy are
// numbered too: where a language has a word for a week of the calendar, it is that word; elsewhere nothing may follow
// that the number is of.
func (p *parser) weekNumber(i int) (point, int, bool) {
	n := p.t[i+1].n
	next := i + 2
	if n < 1 || n > 53 {
		return point{}, i, false
	}
	y, rel := p.y, true
	if yy, behind, r, ok := p.yearBehind(next, false); ok {
		y, next, rel = yy, behind, r
	} else if !p.known || !p.has(i, kNumbered) && (p.tab.numbered || p.has(next, kOf) || p.is(next, ":") || p.is(next, "-") || p.is(next, "–")) {
		return point{}, i, false
	}
	s, ok := weekOf(yearOf(y, rel), n)
	return p.fix(i, s), next, ok
}

// periodAt reads a month or year, also a bare one.
func (p *parser) periodAt(i int) (interval, int, bool) {
	if i >= len(p.t) {
		return interval{}, i, false
	}
	if s, next, ok := p.shiftedUnit(i); ok {
		return s, next, ok
	}
	if p.has(i, kOrdinal, kPart) {
		return interval{}, i, false
	}
	for _, rule := range []func(int, bool) (point, int, bool){p.marked, p.shifted, p.monthYear, p.year} {
		if pt, next, ok := rule(i, true); ok && pt.d == 0 && pt.part < 0 {
			s, ok := p.resolve(pt)
			return s, next, ok
		}
	}
	return interval{}, i, false
}

// partOf reads "early May", "the end of last year", "later this week", "mid-2022" and 2017年の前半.
func (p *parser) partOf(i int, _ bool) (point, int, bool) {
	w, ok := p.value(i, kPart)
	if !ok {
		if !p.tab.cjk {
			return point{}, i, false
		}
		s, next, ok := p.periodAt(i)
		if !ok {
			return point{}, i, false
		}
		k := p.skip(next, kOf)
		w, ok := p.value(k, kPart)
		if !ok {
			return point{}, i, false
		}
		pt := p.fix(i, s)
		pt.interval, ok = part(s, w, p.today)
		pt.part, pt.base = w, s
		return pt, k + 1, ok
	}
	j := i + 1
	if p.is(j, "-") {
		j++
	}
	j = p.skip(j, kOf, kIn, kArticle)
	bare := (j > i+1 || strings.Contains(p.t[i].low, " ")) && !p.is(j-1, "-")
	if s, next, ok := p.periodAt(j); ok {
		pt := p.fix(i, s)
		pt.interval, ok = part(s, w, p.today)
		pt.part, pt.base = w, s
		return pt, next, ok && s.days() > 5
	}
	if u, ok := p.unitAt(j); ok && p.known && bare && (u == uWeek || u == uMonth || u == uYear) && !p.has(j+1, kOf) { // the end of the month
		s, _ := whole(p.today, u, 0)
		pt := p.fix(i, s)
		pt.interval, ok = part(s, w, p.today)
		pt.part, pt.base = w, s
		return pt, j + 1, ok
	}
	if m, ok := p.value(j, kSeason); ok && p.known {
		pt, next, ok := p.season(j, true)
		if !ok {
			return point{}, i, false
		}
		s, ok := p.resolve(pt)
		_ = m
		if !ok {
			return point{}, i, false
		}
		pt.fixed = true
		pt.interval, ok = part(s, w, p.today)
		pt.at = i
		return pt, next, ok
	}
	return point{}, i, false
}

// part narrows a period to one of its parts.
func part(s interval, which, today int) (interval, bool) {
	n := s.days()
	if n < 5 {
		return s, which < 5 || which == 8
	}
	y, m, _ := civil(s.from)
	year, month := n >= 365 && n <= 366, n >= 28 && n <= 31
	half := s.from + n/2
	switch {
	case year:
		half = dayNumber(y, 7, 1)
	case month:
		half = dayNumber(y, m, 16)
	case n == 7:
		half = s.from + 3
	}
	out := s
	out.core = 0
	if which == 8 && month { // the end of a month is its last days
		out.from = s.to - 6
		return out, true
	}
	switch which {
	case 0, 3, 6:
		out.to = half - 1
		if year && which == 0 && !s.rel {
			out.to = dayNumber(y, 5, 1) - 1
		}
		if which == 6 && s.from < today && today <= s.to {
			out.to = min(out.to, today-1)
		}
	case 1:
		switch {
		case year:
			out.from, out.to = dayNumber(y, 5, 1), dayNumber(y, 9, 1)-1
		case month:
			out.from, out.to = dayNumber(y, m, 10), dayNumber(y, m, 20)
		default:
			out.from, out.to = s.from+n/3, s.to-n/3
		}
	case 2, 4, 7, 8:
		out.from = half
		if year && (which == 2 || which == 8) && !s.rel {
			out.from = dayNumber(y, 9, 1)
		}
		if which == 7 && s.from <= today && today <= s.to {
			out.from = max(out.from, today)
		}
	case 5:
		if today < s.from || today > s.to {
			return s, false
		}
		out.from = today
	}
	return out, out.from <= out.to
}
