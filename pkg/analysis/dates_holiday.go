package analysis

import "time"

// season reads "summer of 2022", "spring 2023", "in the summer".
func (p dateParser) season(i int) (span, int, bool) {
	start, ok := seasonStart[p.low(i)]
	if !ok || p.words[i].possessive {
		return span{}, i, false
	}
	if y, next, ok := p.yearAfter(i + 1); ok {
		s, ok := p.inSeason(y, start, false)
		return s, next, ok
	}
	prev := p.low(i - 1)
	if prev == "the" {
		prev = p.low(i - 2)
	}
	if p.ref.IsZero() || prev != "in" && prev != "during" && prev != "over" && prev != "since" && prev != "until" {
		return span{}, i, false
	}
	if i+1 < len(p.words) && !p.words[i+1].gap && !isStop(p.low(i+1)) { // in the summer camp
		return span{}, i, false
	}
	y := p.ref.Year()
	s, _ := p.inSeason(y, start, true)
	if ahead := p.ahead(i); ahead && s.to.Before(p.today()) {
		y++
	} else if !ahead && s.from.After(p.today()) {
		y--
	}
	s, ok = p.inSeason(y, start, true)
	return s, i + 1, ok
}

// holiday reads "Christmas", "New Year's Eve 2022", "Halloween".
func (p dateParser) holiday(i int) (span, int, bool) {
	prev := p.low(i - 1)
	_, at := atTime[prev]
	if !at && prev != "at" && prev != "on" && prev != "for" && prev != "over" {
		h, next, ok := p.holidayAt(i)
		if !ok {
			return span{}, i, false
		}
		if y, next, ok := p.yearAfter(next); ok {
			s, ok := p.holidayIn(h, y, false)
			return s, next, ok
		}
		return span{}, i, false
	}
	return p.holidayNear(i, 0)
}

func (p dateParser) holidayAt(i int) (holiday, int, bool) {
	if i < len(p.words) && p.low(i) == "new" || p.words[min(i, len(p.words)-1)].possessive || p.low(i+1) != "" {
		two := p.low(i) + " " + p.low(i+1)
		if h, ok := holidays[two]; ok {
			return h, i + 2, true
		}
		if three := two + " " + p.low(i+2); p.low(i) == "new" {
			if h, ok := holidays[three]; ok {
				return h, i + 3, true
			}
		}
	}
	h, ok := holidays[p.low(i)]
	return h, i + 1, ok
}

// holidayNear resolves a holiday by its direction, or by its sentence (0).
func (p dateParser) holidayNear(i, dir int) (span, int, bool) {
	h, next, ok := p.holidayAt(i)
	if !ok {
		return span{}, i, false
	}
	if y, next, ok := p.yearAfter(next); ok {
		s, ok := p.holidayIn(h, y, false)
		return s, next, ok
	}
	if p.ref.IsZero() {
		return span{}, i, false
	}
	y := p.ref.Year()
	s, _ := p.holidayIn(h, y, true)
	today := p.today()
	if ahead := dir > 0 || dir == 0 && p.ahead(i); ahead && s.to.Before(today) {
		y++
	} else if !ahead && (s.from.After(today) || dir < 0 && !s.to.Before(today)) {
		y--
	}
	s, ok = p.holidayIn(h, y, true)
	return s, next, ok
}

func (p dateParser) holidayIn(h holiday, y int, rel bool) (span, bool) {
	if h.week == 0 {
		return p.onDay(y, h.month, h.day, rel)
	}
	t := p.date(y, h.month, 1)
	for t.Weekday() != time.Thursday {
		t = t.AddDate(0, 0, 1)
	}
	return p.dayAt(t.AddDate(0, 0, 7*(h.week-1)), rel)
}
