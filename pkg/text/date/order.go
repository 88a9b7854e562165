package date

import "strings"

// following completes a time by the one before it in the sentence.
func (p *parser) following(m, before match) match {
	if before.next == 0 {
		return m
	}
	return p.inOrder(p.inYear(m, before), before)
}

// inOrder returns a bare weekday weeks later where it would lie before the day ahead that it is joined to: "arrives on
// Saturday and leaves on Tuesday", "flies next Wednesday and is back on Friday", 下周三去，周五回来.
func (p *parser) inOrder(m, before match) match {
	if !p.bare(m) || !p.has(m.first, kWeekday) || m.from < p.today || before.from <= m.from || before.from > p.today+14 {
		return m
	}
	bare := p.bare(before) && p.has(before.first, kWeekday)
	if !bare && (before.days() != 1 && !p.has(before.first, kWeekday) || !p.names(before, kWeekday, kDay)) {
		return m
	}
	joined := p.tab.cjk && !strings.ContainsAny(p.s[p.t[before.next-1].end:p.t[m.first].start], "。！？!?;；我你您他她它僕私彼")
	for j := before.next; j < m.first; j++ {
		if !bare && joined && matches(p.tab.subject, p.t[j].low) || strings.Contains(".!?;", p.t[j].low) {
			return m
		}
		joined = joined || p.has(j, kAnd)
	}
	if !joined {
		return m
	}
	weeks := (before.from - m.from + 6) / 7
	m.from, m.to = m.from+7*weeks, m.to+7*weeks
	return m
}

// inYear returns a month, season, holiday or day without a year in the year that stands right before it: "in 2019, at
// Christmas", "back in 2011, in August".
func (p *parser) inYear(m, before match) match {
	if !m.rel || m.days() > 100 || before.days() < 365 || before.days() > 366 || m.first > before.next+4 ||
		!p.names(m, kMonth, kSeason, kHoliday) || p.names(m, kDir, kRel, kNear, kDay, kUnit, kWeekday, kPart) {
		return m
	}
	for j := before.next; j < m.first; j++ {
		if strings.Contains(".!?;", p.t[j].low) || matches(p.tab.breaks, p.t[j].low) || matches(p.tab.subject, p.t[j].low) || p.isPast(j) {
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
