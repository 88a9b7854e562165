package date

// monthYear reads "May 2023", "May of last year", "this May" and, behind a word that makes it a time, "May".
func (p *parser) monthYear(i int, loose bool) (point, int, bool) {
	m, ok := p.value(i, kMonth)
	if !ok {
		return point{}, i, false
	}
	pt := p.empty(i)
	pt.m = m
	next := i + 1
	if p.is(next, ".") && len(p.t[i].low) <= 5 && next+1 < len(p.t) && p.t[next+1].digits > 0 {
		next++
	}
	if y, behind, rel, ok := p.yearBehind(next, true); ok {
		pt.y, pt.rel = y, rel
		return pt, behind, true
	}
	next = i + 1
	if (p.is(next, "'") || p.is(next, "’")) && next+1 < len(p.t) && p.t[next+1].digits == 2 {
		pt.y = p.century(p.t[next+1].n)
		return pt, next + 2, true
	}
	if !p.known || p.is(next, "'s") {
		return point{}, i, false
	}
	if !loose && !p.timeBefore(i) && !p.matches(p.tab.inflected, p.t[i].low) {
		return point{}, i, false
	}
	if p.has(i, kWeak) && !p.timeBefore(i) && !loose {
		return point{}, i, false
	}
	return pt, next, true
}

// timeBefore reports whether the word before i makes a bare month, season or year a time.
func (p *parser) timeBefore(i int) bool {
	if p.has(i-1, kFor) && !p.has(i, kWeak) {
		return true
	}
	if p.has(i-1, kArticle) {
		i--
	}
	if p.has(i-1, kTo) && !p.has(i-1, kIn, kUntil) { // moved to May, and not "I prefer autumn to spring"
		return p.anyMoved(i-1, false)
	}
	return p.has(i-1, kIn, kUntil, kSince, kFrom, kTo, kBetween, kBefore, kAfter, kPart) && !p.has(i-1, kEvery)
}

// year reads "in 2019", "the year 2008" and "(2019)".
func (p *parser) year(i int, loose bool) (point, int, bool) {
	pt := p.empty(i)
	if p.has(i, kYearWord) {
		if y, next, ok := p.yearNumberAt(p.skip(i+1, kYearWord)); ok {
			pt.y = y
			return pt, next, true
		}
		return point{}, i, false
	}
	if (p.is(i-1, "'") || p.is(i-1, "’")) && p.t[i].digits == 2 && p.tight(i) && p.endsAt(i+1) && p.has(i-2, kIn, kSince, kUntil, kBefore, kAfter, kFrom) { // in '84
		pt.y = p.century(p.t[i].n)
		return pt, i + 1, true
	}
	y, next, ok := p.yearNumberAt(i)
	if !ok || y < 1200 || !loose && (p.inRange(i, next) || p.is(i-1, "at")) {
		return point{}, i, false
	}
	brackets := i > 0 && p.is(i-1, "(") && p.is(next, ")")
	before := p.has(i-1, kIn, kSince, kUntil, kFrom, kBetween, kAfter, kBefore, kYearWord) || p.has(i-1, kOf) && i > 1
	before = before || p.yearFirst(i, next) || p.yearBetween(i, next)
	if p.has(next, kMarkYear) && (p.has(next, kIn) || p.has(i-1, kIn)) { // 2015-ben, "в 2015 году"
		pt.y = y
		return pt, next + 1, true
	}
	if !loose && !brackets && !before || p.tight(i) && p.t[i-1].mark && !brackets && !loose || p.has(next, kMarkYear) && !loose {
		return point{}, i, false
	}
	if _, isUnit := p.unitAt(next); isUnit || next < len(p.t) && (p.is(next, "%") || p.is(next, "€") || p.is(next, ".") && p.tight(next+1) && p.t[next+1].digits > 0) {
		return point{}, i, false
	}
	if p.t[i].digits == 0 && y < 1900 {
		return point{}, i, false
	}
	pt.y = y
	return pt, next, true
}

// yearFirst reports whether a bare year opens the sentence, which goes on with a verb and its subject: "2017 bin ich
// umgezogen".
func (p *parser) yearFirst(i, next int) bool {
	return p.tab.inverted && p.t[i].first && p.t[i].digits == 4 && next+1 < len(p.t) && !p.t[next].mark && p.t[next].senses == nil &&
		p.matches(p.tab.subject, p.t[next+1].low)
}

// yearBetween reports whether a bare year stands in the middle of a clause about its past: "Wir haben 2019 in Lübeck
// geheiratet". Behind a number of something stands a noun or its adjective.
func (p *parser) yearBetween(i, next int) bool {
	if !p.tab.inverted || i == 0 || !p.known || p.t[i].digits != 4 || p.t[i].n < 1900 || p.t[i].n > p.y || p.t[i-1].mark || p.t[i-1].digits > 0 {
		return false
	}
	if next < len(p.t) && !p.t[next].mark && (p.t[next].upper || !p.tab.words[p.t[next].low] && p.t[next].senses == nil && !p.isPast(next)) {
		return false
	}
	before := p.t[i-1]
	return (before.senses == nil && p.tab.words[before.low] || p.matches(p.tab.subject, before.low) || p.isPast(i-1)) && p.direction(i) < 0
}

// decade reads "the 1990s", "the 90s" and "the 15th century".
func (p *parser) decade(i int, _ bool) (point, int, bool) {
	t := p.t[i]
	if n, next, ok := p.number(i); ok && t.digits == 0 && n >= 20 && n < 100 {
		t.n, t.digits = n, 2
		_ = next
	}
	if n, next, ok := p.nthOf(i); ok && n > 0 && n < 30 {
		if u, is := p.value(next, kUnit); is && unit(u) == uCentury {
			if p.describes(i, next+1) {
				return point{}, i, false
			}
			return p.fix(i, interval{from: dayNumber(n*100-100, 1, 1), to: dayNumber(n*100, 1, 1) - 1}), next + 1, true
		}
	}
	if t.digits == 0 || t.n%10 != 0 {
		return point{}, i, false
	}
	behind := p.has(i+1, kDecade) && p.tight(i+1)
	if !behind && (i < 1 || !p.has(i-1, kDecade)) && !(p.has(i-1, kOf) && p.has(i-2, kDecade)) {
		return point{}, i, false
	}
	y := t.n
	if t.digits == 2 {
		if y < 20 {
			return point{}, i, false
		}
		y += 1900
	} else if t.digits != 4 || y < 1000 || y > 2100 {
		return point{}, i, false
	}
	next := i + 1
	if behind {
		next++
	}
	if p.describes(i, next) {
		return point{}, i, false
	}
	return p.fix(i, interval{from: dayNumber(y, 1, 1), to: dayNumber(y+10, 1, 1) - 1}), next, true
}

// describes reports whether the decade, century or quarter from i to next says of which kind something is: "17th century maps",
// but "in the 1990s people".
func (p *parser) describes(i, next int) bool {
	if next >= len(p.t) || p.t[next].mark || p.t[next].senses != nil || p.t[next].upper || p.tab.words[p.t[next].low] || p.isPast(next) {
		return false
	}
	for k := i - 1; k >= 0 && k >= i-3 && !p.t[k].mark; k-- {
		if p.has(k, kIn, kSince, kUntil, kFrom, kTo, kAfter, kBefore, kBetween, kOf) {
			return false
		}
	}
	return true
}

// quarter reads "Q1 2019", "2019 H2" and "the first quarter of 2018".
func (p *parser) quarter(i int, _ bool) (point, int, bool) {
	y, j, rel := 0, i, false
	if i < len(p.t) && p.t[i].digits == 4 && p.t[i].n >= 1900 && p.t[i].n < 2100 {
		y, j = p.t[i].n, i+1
		if p.is(j, "-") {
			j++
		}
	}
	q, next, ok := 0, j, false
	if v, is := p.value(j, kQuarter); is {
		q, next, ok = v, j+1, true
	} else if n, behind, is := p.nthOf(j); is && n >= 1 && n <= 4 {
		if u, isUnit := p.value(behind, kUnit); isUnit && unit(u) == uQuarter {
			q, next, ok = n, behind+1, true
		}
	}
	if !ok || p.tight(next) && !p.t[next].mark { // H2O
		return point{}, i, false
	}
	if y == 0 {
		k := next
		if p.is(k, "-") {
			k++
		}
		if yy, behind, r, is := p.yearBehind(k, false); is {
			y, next, rel = yy, behind, r
		} else if !p.known || p.direction(i) < 0 {
			return point{}, i, false
		} else {
			rel = true
		}
		if rel && y == 0 && p.describes(i, next) {
			return point{}, i, false
		}
	}
	from, months := q*3-2, 3
	if q > 4 { // halves
		from, months = (q-5)*6+1, 6
	}
	if rel && y == 0 {
		if y = p.y; (p.direction(i) > 0 || p.has(i-1, kUntil, kFrom)) && dayNumber(y, from+months, 1) <= p.today {
			y++
		}
	}
	return p.fix(i, interval{from: dayNumber(y, from, 1), to: dayNumber(y, from+months, 1) - 1, rel: rel}), next, true
}
