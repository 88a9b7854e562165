package date

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
	if !ok || !p.known || p.is(i+1, "'s") {
		return point{}, i, false
	}
	if _, count, u, next, ok := p.amountAt(i + 2); ok && p.has(i+1, kInPre) { // heute in zwei Wochen
		if day, ok := shift(p.today+n, u, count); ok {
			return p.fix(i, oneDay(day, true)), next, true
		}
	}
	return p.fix(i, oneDay(p.today+n, true)), i + 1, true
}
