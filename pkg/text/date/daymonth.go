package date

import "strings"

// dayMonth reads "7 May 2023", "the 7th of May", "May 7, 2023" and "May the seventh", with a year or "last year" behind.
func (p *parser) dayMonth(i int, loose bool) (point, int, bool) {
	if j := p.skipDot(i + 1); p.tab.yearFirst && p.t[i].digits == 4 && p.has(j, kMonth) { // "2027. január 12."
		y, _, isYear := p.yearNumberAt(i)
		pt, next, ok := p.dayMonth(j, loose)
		if !ok {
			pt, next, ok = p.monthYear(j, true)
		}
		pt.at, pt.y, pt.rel = i, y, false
		return pt, next, ok && isYear
	}
	pt := p.empty(i)
	var next int
	if m, ok := p.value(i, kMonth); ok && !p.t[i].cjk {
		j := i + 1
		if p.is(j, ".") || p.is(j, ",") {
			j++
		}
		j = p.skip(j, kArticle)
		d, behind, ordinal, ok := p.dayNumberAt(j)
		if !ok || p.is(i+1, ",") && !ordinal {
			return point{}, i, false
		}
		if !ordinal && i > 0 && p.matches(p.tab.within, p.t[i-1].low) { // "wird im März 5"
			return point{}, i, false
		}
		if p.t[j].digits > 0 && behind < len(p.t) && p.is(behind, ":") && p.tight(behind) {
			return point{}, i, false
		}
		if _, isUnit := p.unitAt(behind); isUnit && !p.tab.cjk {
			return point{}, i, false
		}
		pt.m, pt.d, next = m, d, behind
	} else {
		d, j, ordinal, ok := p.dayNumberAt(i)
		if !ok || d == 1 && !ordinal && p.t[i].digits == 0 && !p.has(j, kOf) { // a May evening
			return point{}, i, false
		}
		if p.is(j, ".") && p.tight(j) {
			j++
		}
		j = p.skip(j, kMarkDay)
		if v, _ := p.value(j, kUnit); p.has(j, kUnit) && v == int(uDay) && ordinal {
			j++
		}
		k := p.skip(j, kOf, kArticle)
		if p.is(k, "-") && p.tight(k) && p.tight(k+1) {
			k++
		}
		m, ok := p.value(k, kMonth)
		if ok && k > j && !ordinal && p.matches(p.tab.within, p.t[j].low) {
			return point{}, i, false
		}
		if !ok { // 7. vierter
			if mm, behind, isNth := p.nthOf(k); isNth && ordinal && mm >= 1 && mm <= 12 && k == j && !p.has(behind, kUnit, kOf) && p.tab.dotted {
				m, ok, k = mm, true, behind-1
			}
		}
		if !ok && k > j && k+2 < len(p.t) && p.t[k].digits > 0 && p.t[k].n >= 1 && p.t[k].n <= 12 && p.has(k+1, kOf) && p.t[k+2].digits == 4 { // 9 de 8 de 1971
			m, ok = p.t[k].n, true
		}
		if ok {
			pt.m, pt.d, next = m, d, k+1
		} else { // the 15th of next month
			s, behind, isShifted := p.shiftedUnit(k)
			if !isShifted || k == j && !ordinal || s.days() < 28 || s.days() > 31 {
				return point{}, i, false
			}
			y, m, _ := civil(s.from)
			pt.y, pt.m, pt.d, pt.rel = y, m, d, true
			return pt, behind, valid(y, m, d)
		}
	}
	if y, behind, rel, ok := p.yearBehind(next, true); ok {
		pt.y, pt.rel, next = y, rel, behind
	} else if p.is(next, ".") && p.tight(next) && next+1 < len(p.t) && !p.t[next+1].upper && len(p.t[next-1].low) <= 6 && p.has(next-1, kMonth) {
		next++
		if y, behind, rel, ok := p.yearBehind(next, false); ok {
			pt.y, pt.rel, next = y, rel, behind
		}
	}
	return pt, next, true
}

// skipDot returns the index behind a full stop at i.
func (p *parser) skipDot(i int) int {
	if p.is(i, ".") {
		i++
	}
	return i
}

// dayAlone reads a day of the month without month: "on the 18th", "el día 21", "am 25.", 29日. With loose set any number
// that can be one counts.
func (p *parser) dayAlone(i int, loose bool) (point, int, bool) {
	d, next, ordinal, ok := p.dayNumberAt(i)
	if !ok || !p.known {
		return point{}, i, false
	}
	pt := p.empty(i)
	pt.d = d
	if p.has(i, kMarkDay) {
		return point{}, i, false
	}
	if loose {
		return pt, p.skip(next, kMarkDay), true
	}
	prev := i - 1
	for p.has(prev, kArticle) {
		prev--
	}
	if wd, ok := p.value(next, kWeekday); ok && !p.has(next, kUnit) && (p.has(i-1, kOn) || p.has(prev, kOn) && prev >= i-2) { // le 25 mardi
		pt.wd = wd
		return pt, next + 1, true
	}
	switch {
	case p.rowOf(next):
		return point{}, i, false
	case next < len(p.t) && (p.t[next].digits > 0 || p.has(next, kUnit, kOf) || !ordinal && p.has(next, kNumber)): // am 9. einen Termin
		return point{}, i, false
	case p.has(prev, kMarkDay) && !p.tab.cjk && (prev == i-1): // el día 21
	case ordinal && p.has(prev, kOn) && (prev < i-1 || p.t[i].digits > 0) && p.endsAt(next) && !p.has(next, kNow): // and not "on the first date"
	case ordinal && p.has(prev, kUntil) && prev < i-1 && p.endsAt(next):
	case !p.tab.cjk && p.has(next, kMarkDay): // 14 числа
		next++
	case ordinal && p.tab.nthDay && (p.endsAt(next) || p.matches(p.tab.behindDay, p.t[next].low)):
	case p.fromDay(i, prev, next, ordinal):
	case p.onTheDay(i, next, ordinal):
	case p.pair(i, next), p.another(i, next):
	case ordinal && p.t[i].digits > 0 && p.has(next, kNot) && p.tab.progressive != nil: // "the 21st instead of the 14th"
	case ordinal && p.tab.nthDay && p.t[i].first && p.t[i].digits > 0 && next < len(p.t) && !p.t[next].mark: // 14-го приезжает
	case ordinal && d > 3 && prev == i-2 && p.isTheDay(p.before(prev, kNow), next):
	case p.movedToDay(i, prev, ordinal) && (p.endsAt(next) || p.moves(next)):
	default:
		return point{}, i, false
	}
	return pt, next, true
}

// movedToDay reports whether the number at i is the day that something was moved to: "to the 9th", "au 9". prev is the word
// before its article.
func (p *parser) movedToDay(i, prev int, ordinal bool) bool {
	return p.has(prev, kTo, kMovedTo) && (ordinal && prev < i-1 || prev == i-1 && p.matches(p.tab.dayArticle, p.t[prev].low)) && p.anyMoved(i, true)
}

// fromDay reports whether the number at i, up to word next, is the day that something begins or ends with: "from the 5th",
// "bis zum 5.", "à partir du 5". prev is the word before its article.
func (p *parser) fromDay(i, prev, next int, ordinal bool) bool {
	if !p.has(prev, kFrom, kSince, kUntil) || p.tab.cjk || p.has(next, kTo, kUntil, kUnit, kNumber) {
		return false
	}
	if next < len(p.t) && p.t[next].mark && (!strings.Contains(",.;!?)", p.t[next].low) || next+1 < len(p.t) && p.t[next+1].digits > 0) {
		return false
	}
	verb := p.tab.inverted && next+1 < len(p.t) && p.matches(p.tab.subject, p.t[next+1].low) // "vanaf de 5e ben ik"
	if ordinal && !verb && !p.endsAt(next) {
		return false
	}
	words := strings.Fields(p.t[i-1].low)
	article := len(words) > 0 && p.matches(p.tab.dayArticle, words[len(words)-1])
	return article && (ordinal || prev == i-1)
}

// onTheDay reports whether the number at i, up to word next, is a day by its article alone: "tengo cita el 14", "le 9 j'ai
// piscine", "ik heb de 14e een afspraak". Where the article stands before other nouns too, the number has the ending of a
// place in a row.
func (p *parser) onTheDay(i, next int, ordinal bool) bool {
	articles := p.tab.onDay
	if ordinal {
		articles = p.tab.onNth
	}
	if i < 1 || p.t[i].digits == 0 || !p.matches(articles, p.t[i-1].low) || p.tab.progressive != nil && p.t[i].n <= 3 {
		return false
	}
	if next < len(p.t) {
		mark, low := p.t[next].mark, p.t[next].low
		switch {
		case mark && !strings.Contains(",.;!?)", low), !mark && !p.t[next].space, !p.endsAt(next) && !p.matches(p.tab.behindDay, low): // 5G, 4x4
			return false
		case p.matches(p.tab.inside, low) && next+1 < len(p.t) && p.t[next+1].digits > 0: // el 3 a 1, le 2 sur 10
			return false
		}
	}
	start, end := p.clauseStart(i), p.clauseEnd(next-1)
	if i-2 >= start && p.matches(p.tab.inside, p.t[i-2].low) {
		return false
	}
	for j := start; j < end; j++ {
		if p.matches(p.tab.labels, p.t[j].low) {
			return false
		}
	}
	for j := start - 1; j >= max(0, start-reach) && !strings.Contains(".!?;", p.t[j].low); j-- {
		if p.has(j, kMonth) && !p.has(j, kWeak) { // "serviced every October, last on the 14th" is of that one
			return false
		}
	}
	return true
}

// isTheDay reports whether a day of the month ends a clause that says which one it is, behind its article: "my birthday is
// the 19th". What somebody is the 19th of is a place in a row.
func (p *parser) isTheDay(is, next int) bool {
	end := next >= len(p.t) || strings.Contains(",.;!?", p.t[next].low) || p.has(next, kNot)
	if !end || p.tab.cjk || is < 1 || !p.is(is, "'s") && !p.matches(p.tab.being, p.t[is].low) {
		return false
	}
	who := p.t[is-1].low
	return !p.t[is-1].mark && (!p.matches(p.tab.subject, who) || who == "it" || who == "es" || who == "het")
}

// endsAt reports whether no noun follows: "on the 4th" and not "on the 4th floor".
func (p *parser) endsAt(i int) bool {
	if i >= len(p.t) || p.t[i].mark {
		return true
	}
	return !p.has(i, kOccasion, kTitled) && (p.tab.words[p.t[i].low] || p.t[i].senses != nil || p.tab.nouns && !p.t[i].upper)
}

// bareDay reports whether a point is a number alone.
func (pt point) bareDay() bool { return !pt.fixed && pt.d != 0 && pt.m == 0 && pt.y == 0 && pt.wd < 0 }

// countsDays reports whether words of a range of numbers say that they are days of a month, and not hours or a count:
// "the 9th", "du 9 au 12", "día 9", с 9 по 12.
func (p *parser) countsDays(from, to int) bool {
	first := true
	for j := from; j < to; j++ {
		if p.has(j, kMarkDay) || p.matches(p.tab.dayArticle, p.t[j].low) {
			return true
		}
		if number := p.t[j].digits > 0 || p.has(j, kNumber, kOrdinal); number && first {
			if p.t[j].ordinal || p.has(j, kOrdinal) {
				return true
			}
			first = false // the dot of the second may end the sentence
		}
	}
	return false
}

// daysOfMonths returns a range of which the numbers of the days are all that was said: "from the 24th to the 2nd". Both ends
// belong to it, and the second is the first such day behind the first.
func (p *parser) daysOfMonths(a, b point) (interval, bool) {
	first, ok := p.resolve(a)
	if !ok {
		return interval{}, false
	}
	y, m, _ := civil(first.from)
	if b.d <= a.d {
		m++
	}
	last := dayNumber(y, m, b.d)
	if m > 12 {
		y, m = y+1, 1
	}
	return interval{from: first.from, to: last, rel: true}, valid(y, m, b.d)
}
