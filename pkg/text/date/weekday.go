package date

import "strings"

// dateBehind reads the date that may follow a weekday at word i: "Friday, 5 May 2023", "Friday 7/6", "Sunday the 31st".
func (p *parser) dateBehind(i int) (point, int, bool) {
	j := i
	if p.is(j, ".") && j+1 < len(p.t) && p.t[j+1].digits > 0 || p.is(j, ",") || p.is(j, "-") || p.is(j, "(") || p.is(j, "（") {
		j++
	}
	for p.has(j, kArticle, kOn) && !p.has(j, kTo, kUntil, kFrom) {
		j++
	}
	if !p.tab.cjk {
		j = p.skip(j, kMarkDay)
	}
	if j >= len(p.t) {
		return point{}, i, false
	}
	for _, rule := range []func(int, bool) (point, int, bool){p.numeric, p.marked, p.dayMonth} {
		if pt, next, ok := rule(j, true); ok && pt.d != 0 {
			if p.is(i, "(") || p.is(i, "（") {
				if !p.is(next, ")") && !p.is(next, "）") {
					return point{}, i, false
				}
				next++
			}
			return pt, next, true
		}
	}
	return point{}, i, false
}

// weekday reads "on Friday", "Friday, 5 May 2023", "Friday 13th", "Monday of next week" and "Monday last week".
func (p *parser) weekday(i int, loose bool) (point, int, bool) {
	wd, ok := p.value(i, kWeekday)
	if !ok || p.is(i+1, "'s") && !p.possesses(i+2) {
		return point{}, i, false
	}
	if p.is(i+1, "'s") {
		pt := p.empty(i)
		pt.wd = wd
		return pt, i + 2, p.known
	}
	if p.has(i, kUnit) && i > 0 && (p.t[i-1].digits > 0 || p.has(i-1, kNumber, kFew)) { // "de 3 luni"
		return point{}, i, false
	}
	next := i + 1
	if pt, behind, ok := p.dateBehind(next); ok {
		pt.at = i
		if pt.y == 0 {
			pt.wd = wd
		}
		return pt, behind, true
	}
	if s, behind, ok := p.weeksFrom(wd, next); ok && p.known {
		return p.fix(i, s), behind, true
	}
	weak := p.has(i, kWeak)
	if weak && p.is(next, ".") && p.tight(next) && next+1 < len(p.t) && (p.t[next+1].digits > 0 || p.has(next+1, kMonth)) {
		weak = false
		next++
	}
	j := next
	if p.is(j, ",") {
		j++
	}
	j = p.skip(j, kArticle)
	if !p.tab.cjk {
		j = p.skip(j, kMarkDay, kArticle)
	}
	if d, behind, ordinal, ok := p.dayNumberAt(j); ok && p.known && (ordinal || p.has(j-1, kMarkDay) || p.t[j].digits > 0 && j == next || p.tab.postposed && j > next) &&
		!p.is(behind, ":") && !p.has(behind, kUnit, kWeekday, kMonth) && p.endsAt(behind) {
		pt := p.empty(i)
		pt.d, pt.wd = d, wd
		return pt, behind, true
	}
	if !p.known {
		return point{}, i, false
	}
	k := p.skip(next, kOf, kIn, kArticle)
	if s, behind, ok := p.shiftedUnit(k); ok && s.days() == 7 {
		return p.fix(i, oneDay(s.from+(wd+6)%7, true)), behind, true
	}
	if dir, flavour, behind, ok := p.shiftAt(next); ok && p.tab.postposed && !p.has(behind, kUnit, kMonth, kWeekday) {
		return p.shiftedWeekday(i, wd, dir, flavour, behind)
	}
	if weak && !p.has(i-1, kOn, kUntil, kFrom, kBetween) && !(loose && p.t[i].upper) {
		return point{}, i, false
	}
	pt := p.empty(i)
	if pt.wd = wd; p.matches(p.tab.inflected, p.t[i].low) {
		pt.near = -1
	}
	return pt, next, true
}

// possesses reports whether the word at i is a noun, which the day before it describes: "Friday's meeting", and not
// "Friday's", "Friday's good" or the Fridays of "Friday's we swim".
func (p *parser) possesses(i int) bool {
	if i >= len(p.t) || p.t[i].mark || p.t[i].senses != nil || p.t[i].digits > 0 {
		return false
	}
	low := p.t[i].low
	return !p.tab.words[low] && !p.matches(p.tab.subject, low) && !p.matches(p.tab.present, low) && !p.matches(p.tab.future, low) && !p.isPast(i)
}

// daysOfWeek reports whether two points are weekdays of the week that is said behind the second: "Mon-Wed next week".
func (p *parser) daysOfWeek(a, b point) bool {
	return a.wd >= 0 && !a.fixed && a.d == 0 && b.fixed && b.days() == 1 && p.has(b.at, kWeekday)
}

// workWeek reports whether Monday to Friday, or to a day of the weekend, at word i are those of every week: "I work from
// Monday to Friday" is in the present, and says of nobody where they are.
func (p *parser) workWeek(i int, a, b point) bool {
	if a.fixed || b.fixed || a.d != 0 || b.d != 0 || a.wd != 1 || b.wd != 5 && b.wd != 6 && b.wd != 0 || p.direction(i) != 0 || p.inProgress(i) {
		return false
	}
	for j, end := p.clauseStart(i), p.clauseEnd(i); j < end; j++ {
		if p.matches(p.tab.being, p.t[j].low) {
			return false
		}
	}
	return true
}

// weekend reads "over the weekend" and "am Wochenende".
func (p *parser) weekend(i int, _ bool) (point, int, bool) {
	u, ok := p.unitAt(i)
	if !ok || u != uWeekend || p.plural(i) || !p.known || p.is(i+1, "'s") || !p.has(i-1, kArticle, kOn, kIn) && !p.matches(p.tab.inflected, p.t[i].low) || p.has(i+1, kUnit) {
		return point{}, i, false
	}
	back := 0
	if wd := weekdayOf(p.today); p.direction(i) < 0 && wd != 0 && wd != 6 {
		back = -1
	}
	s, ok := whole(p.today, uWeekend, back)
	return p.fix(i, s), i + 1, ok && (p.tab.joined || p.endsAt(i+1))
}

// plural reports whether the weekends of word i are many: what is done at weekends has no date.
func (p *parser) plural(i int) bool {
	low := strings.ToLower(p.s[p.t[i].start:p.t[i].end])
	return strings.HasSuffix(low, "s") || strings.HasSuffix(low, "den") && p.tab.code != "da" || strings.HasPrefix(low, "fines ") || strings.HasPrefix(low, "fins ")
}

// lasts reports whether the participle at j says what is, and not what was done: behind "be" where that makes no perfect of it,
// "ist am Freitag geschlossen", or up to the date at i, "closed until Friday", "'s shut through the 9th".
func (p *parser) lasts(j, i int) bool {
	if !p.matches(p.tab.lasting, p.t[j].low) {
		return false
	}
	for k, start := j-1, p.clauseStart(j); k >= start; k-- {
		if p.matches(p.tab.being, p.t[k].low) {
			return true
		}
	}
	for i--; p.has(i, kArticle); i-- {
	}
	if i <= j || !p.has(i, kUntil, kTo) {
		return false
	}
	for k := j - 1; k >= 0 && k >= j-2 && !p.t[k].mark; k-- {
		if p.matches(p.tab.subject, p.t[k].low) || p.matches(p.tab.past, p.t[k].low) {
			return false
		}
	}
	return true
}
