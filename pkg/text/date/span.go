package date

import "strings"

// between reads ranges: "from 3 to 9 August", "between 2014 and 2018", "Monday to Thursday", 10月1日から5日まで.
func (p *parser) between(i int) (match, bool) {
	open := p.has(i, kFrom, kBetween)
	j := i
	if open {
		j = p.skip(i+1, kArticle, kOn)
	} else if p.t[i].mark {
		return match{}, false
	}
	a, next, ok := p.end(j)
	if !ok {
		return match{}, false
	}
	next = p.skipDayPart(a, next)
	k, sep := p.joint(next, p.has(i, kBetween) || p.tab.cjk)
	if sep == "" {
		return match{}, false
	}
	b, behind, ok := p.end(p.skip(k, kArticle, kOn))
	if !ok || !open && a.fixed && a.days() >= 365 && p.has(behind-1, kHoliday) { // l'anno scorso a Pasqua
		return match{}, false
	}
	if p.tab.cjk && (p.has(behind, kInPost, kAgoPost) || p.has(behind-1, kInPost, kAgoPost)) { // 今日から2日後
		return match{}, false
	}
	if !open && p.has(j, kSeason) && p.has(behind-1, kSeason) && !p.timeBefore(j) { // "I prefer autumn to spring"
		return match{}, false
	}
	behind = p.skipDayPart(b, behind)
	closed, days := p.has(behind, kToPost), p.ordinals(j, k, behind)
	if !open && !closed && !sure(a, b, sep) && !days && !p.daysOfWeek(a, b) || a.bareDay() && b.bareDay() && (!p.countsDays(i, behind) || !days && p.ranks(behind)) {
		return match{}, false
	}
	if p.amounts(i, behind, a, b) {
		return match{next: behind}, false
	}
	if a, b, ok = p.share(a, b, open); !ok {
		return match{}, false
	}
	s, ok := p.stretched(a, b)
	if !ok || s.from > s.to {
		return match{}, false
	}
	if m, ok := p.movedTo(i, j, k, behind, b, open); ok {
		return m, true
	}
	if p.has(behind, kEvery) && p.has(behind+1, kUnit) || p.workWeek(i, a, b) {
		return match{next: behind}, false
	}
	return match{s, j, behind}, true
}

// skipDayPart returns the index behind the part of the day that an end of a range may name: "Thursday night".
func (p *parser) skipDayPart(pt point, next int) int {
	if (pt.wd >= 0 || pt.d != 0 || pt.fixed && pt.days() == 1) && p.has(next, kDayPart) && !p.t[next].mark {
		next++
	}
	return next
}

// end reads one end of a range.
func (p *parser) end(i int) (point, int, bool) {
	if i >= len(p.t) {
		return point{}, i, false
	}
	if p.has(i, kNow) && p.known {
		return p.fix(i, oneDay(p.today, true)), i + 1, true
	}
	pt, next, ok := p.point(i, true)
	if ok && pt.d == 0 && pt.y != 0 && pt.m == 0 && !pt.fixed && p.has(next, kMarkYear) {
		next++
	}
	return pt, next, ok
}

// joint reads what joins the ends of a range. It returns the index behind it, and "" for none.
func (p *parser) joint(i int, and bool) (next int, sep string) {
	if i >= len(p.t) {
		return i, ""
	}
	switch {
	case p.has(i, kTo), p.has(i, kUntil) && !p.has(i, kBefore, kOn), and && p.has(i, kAnd):
		j := i + 1
		for p.has(j, kTo, kUntil, kAnd) {
			j++
		}
		return j, "to"
	case p.t[i].mark && strings.Contains("-–—~～〜", p.t[i].low):
		return i + 1, "-"
	}
	return i, ""
}

// sure reports whether two ends without a word that opens a range are one.
func sure(a, b point, sep string) bool {
	switch {
	case a.part >= 0 || b.part >= 0:
		return true
	case a.fixed || b.fixed:
		return sep == "to" && (a.m != 0 || b.m != 0 || a.fixed && b.fixed)
	case a.m != 0 && b.m != 0, a.wd >= 0 && b.wd >= 0:
		return true
	case a.d != 0 && a.m == 0:
		return b.m != 0 && b.d != 0
	case a.m != 0 && a.d != 0:
		return b.d != 0
	case a.m != 0:
		return b.m != 0 || b.y != 0
	}
	return a.y != 0 && b.y != 0 && a.y < b.y && a.y >= 1800 && b.y < 2100
}

// share completes each end of a range from the other: "from 3 to 9 August", "Nov 18 to Dec 19, 2015". It fails for ends
// that do not go together.
func (p *parser) share(a, b point, open bool) (point, point, bool) {
	if a.fixed || b.fixed {
		return a, b, open || a.rel || b.rel || a.fixed && b.fixed
	}
	if a.d != 0 && a.m == 0 && b.m != 0 {
		if b.d == 0 {
			return a, b, false
		}
		b.shared = true
		a.m, a.rel = b.m, b.rel
		if b.y != 0 && a.y == 0 {
			a.y = b.y
		}
		if a.d > b.d { // from the 27th to the 3rd of April
			a.m--
			if a.m == 0 {
				a.m = 12
			}
		}
	}
	if b.d != 0 && b.m == 0 && a.m != 0 {
		if a.d == 0 || b.y != 0 {
			return a, b, false
		}
		b.m, b.y, b.rel, b.shared = a.m, a.y, a.rel, true
		if b.d < a.d {
			b.y = 0
			if b.m++; b.m > 12 {
				b.m = 1
			}
			if a.y != 0 {
				b.y = a.y
				if b.m == 1 {
					b.y++
				}
			}
		}
	}
	if a.y == 0 && b.y != 0 && a.m != 0 {
		a.y, a.rel = b.y, b.rel
		if b.m != 0 && (a.m > b.m || a.m == b.m && a.d > b.d && b.d != 0) {
			a.y--
		}
	}
	if a.y != 0 && b.y == 0 && b.m != 0 && a.m != 0 {
		b.y = a.y
		if b.m < a.m {
			b.y++
		}
		b.rel = a.rel
	}
	if a.y != 0 && b.y == 0 && b.m == 0 && b.d != 0 && a.m == 0 {
		return a, b, false
	}
	return a, b, true
}

// stretched returns the range from the beginning of a to the end of b.
func (p *parser) stretched(a, b point) (interval, bool) {
	switch {
	case a.wd >= 0 && b.wd >= 0 && a.d+a.m+a.y+b.d+b.m+b.y == 0 && !a.fixed && !b.fixed:
		b.shared = true
		first, ok := p.resolve(a)
		if !ok {
			return interval{}, false
		}
		to := first.from + (b.wd-a.wd+7)%7
		if p.direction(a.at) < 0 && to >= p.today {
			first.from, to = first.from-7, to-7
		}
		return p.ends(interval{from: first.from, to: first.to, rel: true}, oneDay(to, true), b), to > first.from
	case a.wd >= 0 && !a.fixed && a.d+a.m+a.y == 0 && b.fixed && b.days() == 1: // "Wednesday to Friday next week"
		from := b.from - (weekdayOf(b.from)-a.wd+7)%7
		return p.ends(interval{from: from, to: from, rel: true}, b.interval, b), from < b.from
	}
	if !a.fixed && !b.fixed && a.y == 0 && b.y == 0 && a.m != 0 && b.m != 0 && p.known {
		return p.yearless(a, b)
	}
	if a.bareDay() && b.bareDay() && !p.tab.cjk {
		return p.daysOfMonths(a, b)
	}
	last, ok := p.resolve(b)
	if !ok {
		if !a.fixed {
			return interval{}, false
		}
	}
	if a.fixed && !b.fixed && b.y == 0 { // the first one behind the beginning
		from := a.from
		if !p.known {
			return interval{}, false
		}
		q := *p
		q.today = from
		q.y, q.m, q.d = civil(from)
		nb := b
		nb.near = 1
		if last, ok = q.resolve(nb); !ok {
			return interval{}, false
		}
		if last.from == from && b.wd >= 0 {
			last.from, last.to = last.from+7, last.to+7
		}
	}
	if b.fixed && !a.fixed && a.y == 0 && b.rel {
		a.near = -1
		if b.from > p.today {
			a.near = 0
		}
	}
	first, ok := p.resolve(a)
	if !ok || a.wd >= 0 && a.d == 0 && a.m == 0 && !a.fixed && b.y != 0 {
		return interval{}, false
	}
	switch a.part { // as the beginning of a range, a part is a moment
	case 2, 8:
		first.from = a.base.to + 1
	case 1:
		first.from = a.base.from + a.base.days()/2
	}
	return p.ends(first, last, b), first.from <= last.to
}

// yearless resolves a range of which neither end has a year: the last one that began, or the first one that has not
// ended.
func (p *parser) yearless(a, b point) (interval, bool) {
	dir := a.near
	if dir == 0 {
		dir = p.nearer(a.at, a.m, max(a.d, 1), p.direction(a.at))
	}
	wrap := 0
	if b.m < a.m || b.m == a.m && b.d != 0 && b.d < a.d {
		wrap = 1
	}
	for k := range 3 {
		y := p.y - 1 + k
		if dir < 0 {
			y = p.y + 1 - k
		}
		x, z := a, b
		x.y, z.y = y, y+wrap
		first, ok1 := p.resolve(x)
		last, ok2 := p.resolve(z)
		if !ok1 || !ok2 {
			continue
		}
		if dir < 0 && first.from <= p.today || dir >= 0 && last.to >= p.today {
			s := p.ends(first, last, b)
			s.rel = true
			return s, true
		}
	}
	return interval{}, false
}

// ends joins two intervals. A stretch of days, "from 3 to 9 August" or "Monday to Friday", counts both ends. Whether what
// is named in full as the end is part of a range is not said, "between 2014 and 2018": the range ends where it begins, and
// the words show it.
func (p *parser) ends(first, last interval, b point) interval {
	s := interval{from: first.from, to: last.to, rel: first.rel || last.rel}
	switch {
	case b.part == 1:
		s.to = b.base.from + b.base.days()/2 - 1
	case b.part < 0 && !b.shared && last.from > first.from:
		s.to, s.shown = last.from-1, last.to
	}
	return s
}

// movedTo reads "moved from Monday to Thursday": the day that counts is the second.
func (p *parser) movedTo(i, j, k, behind int, b point, open bool) (match, bool) {
	if !open || p.tab.moved == nil || p.tab.cjk {
		return match{}, false
	}
	for x := i - 1; x >= p.clauseStart(i); x-- {
		if p.moves(x) {
			s, ok := p.resolve(b)
			return match{s, k, behind}, ok
		}
	}
	return match{}, false
}
