package analysis

import "time"

// near reads today, yesterday, tomorrow and their kin, and "the weekend".
func (p dateParser) near(i int) (span, int, bool) {
	if p.ref.IsZero() {
		return span{}, i, false
	}
	today := p.today()
	day := func(n, next int) (span, int, bool) {
		s, ok := p.dayAt(today.AddDate(0, 0, n), true)
		return s, next, ok
	}
	switch p.low(i) {
	case "today":
		if p.words[i].possessive {
			return span{}, i, false
		}
		return day(0, i+1)
	case "tonight":
		return day(0, i+1)
	case "yesterday":
		return day(-1, i+1)
	case "tomorrow":
		return day(1, i+1)
	case "weekend":
		prev := p.low(i - 1)
		if prev != "the" && prev != "over" || i+1 < len(p.words) && p.words[i].possessive {
			return span{}, i, false
		}
		off := -1
		if wd := p.ref.Weekday(); p.ahead(i) || wd == time.Sunday || wd == time.Saturday {
			off = 0
		}
		s, ok := p.whole(p.ref, unitWeekend, off)
		return s, i + 1, ok
	}
	return span{}, i, false
}

// weekday reads "on Friday", "Friday", "Friday, 5 May 2023".
func (p dateParser) weekday(i int) (span, int, bool) {
	w := p.words[i]
	day, ok := weekdayNames[w.lower]
	if !ok || w.possessive {
		return span{}, i, false
	}
	prev := p.low(i - 1)
	if prev == "every" || prev == "each" || prev == "black" || prev == "good" {
		return span{}, i, false
	}
	if i+1 < len(p.words) {
		j := i + 1
		if p.low(j) == "the" || p.low(j) == "on" {
			j++
		}
		if sep := trimSpace(p.text[w.end:p.words[i+1].start]); sep == "" || sep == "," {
			for _, rule := range []func(int) (span, int, bool){p.numeric, p.dayMonth, p.monthDay} {
				if s, next, ok := rule(j); ok && s.to.Sub(s.from) < 25*time.Hour {
					return s, next, true
				}
			}
		}
	}
	if p.ref.IsZero() || len(w.lower) <= 3 && !(w.upper && (prev == "on" || prev == "by" || prev == "until")) {
		return span{}, i, false
	}
	if n := p.low(i + 1); n == "and" && len(p.low(i+2)) > 6 && p.low(i + 2)[len(p.low(i+2))-4:] == "days" {
		return span{}, i, false
	}
	t := p.today()
	if p.ahead(i) {
		for t.Weekday() != day {
			t = t.AddDate(0, 0, 1)
		}
	} else {
		t = t.AddDate(0, 0, -1)
		for t.Weekday() != day {
			t = t.AddDate(0, 0, -1)
		}
	}
	s, ok := p.dayAt(t, true)
	return s, i + 1, ok
}

// shifted reads "last Friday", "this past weekend", "next month", "the past
// two weeks", "earlier this year", "in two weeks".
func (p dateParser) shifted(i int) (span, int, bool) {
	if p.ref.IsZero() {
		return span{}, i, false
	}
	w, j := p.low(i), i+1
	switch w {
	case "in":
		n, k, ok := p.count(j)
		u, isUnit := units[p.low(k)]
		if !ok || !isUnit || n > 20000 || k >= len(p.words) || p.words[k].gap || p.low(k+1) == "of" || p.words[k].possessive || !p.ahead(i) && p.low(i-1) != "back" {
			return span{}, i, false
		}
		s, ok := p.whole(p.unitBase(u, n), u, 0)
		return s, k + 1, ok
	case "earlier", "later":
		if p.low(j) != "this" && p.low(j) != "today" {
			return span{}, i, false
		}
		s, next, ok := p.period(j)
		if !ok {
			return span{}, i, false
		}
		if day := p.today().AddDate(0, 0, 1); w == "earlier" && day.Before(s.to) {
			s, ok = ends(s.from, day, true)
		} else if w == "later" && p.today().After(s.from) {
			s, ok = ends(p.today(), s.to.Add(time.Microsecond), true)
		}
		return s, next, ok
	}
	dir := 0
	switch w {
	case "last", "past", "previous":
		dir = -1
	case "this":
		if n := p.low(j); n == "past" || n == "last" || n == "coming" || n == "upcoming" {
			return p.shifted(j)
		}
	case "next", "coming", "upcoming", "following":
		dir = 1
	default:
		return span{}, i, false
	}
	if w == "following" && p.low(i-1) != "the" {
		return span{}, i, false
	}
	if n, k, ok := p.count(j); ok && p.low(j) != "a" && p.low(j) != "an" && dir != 0 {
		if u, isUnit := units[p.low(k)]; isUnit && n <= 20000 && n > 0 {
			return p.stretch(u, dir*n, k+1)
		}
	}
	return p.relativeTo(w, dir, j)
}

// stretch is the last or next n units up to or from ref's day.
func (p dateParser) stretch(u unit, n, next int) (span, int, bool) {
	today := p.today()
	if n < 0 {
		s, ok := ends(shift(today, u, n), today.AddDate(0, 0, 1), true)
		return s, next, ok
	}
	s, ok := ends(today, shift(today, u, n).AddDate(0, 0, 1), true)
	return s, next, ok
}

// relativeTo resolves "last", "this" (0) or "next" before the word at j.
func (p dateParser) relativeTo(how string, dir, j int) (span, int, bool) {
	w := p.low(j)
	if j >= len(p.words) || p.words[j].gap || p.words[j].possessive && w != "valentine" && w != "new year" {
		return span{}, j, false
	}
	if day, ok := weekdayNames[w]; ok {
		t := p.today()
		switch {
		case dir < 0:
			t = t.AddDate(0, 0, -1)
			for t.Weekday() != day {
				t = t.AddDate(0, 0, -1)
			}
		case dir > 0 && how == "next":
			t = monday(t).AddDate(0, 0, 7+(int(day)+6)%7)
		default:
			for t.Weekday() != day {
				t = t.AddDate(0, 0, 1)
			}
			if dir == 0 && !p.ahead(j) && t.After(p.today()) { // "this Friday was": the one of this week
				if back := t.AddDate(0, 0, -7); !back.Before(monday(p.today())) {
					t = back
				}
			}
		}
		s, ok := p.dayAt(t, true)
		return s, j + 1, ok
	}
	if m, ok := monthNames[w]; ok {
		y, now, _ := p.ref.Date()
		if dir < 0 && m >= now {
			y--
		}
		if dir > 0 && m <= now {
			y++
		}
		s, ok := p.inMonth(y, m, true)
		return s, j + 1, ok
	}
	if start, ok := seasonStart[w]; ok {
		y := p.ref.Year()
		now := p.ref.Month()
		if start == time.December && now <= time.February { // in winter: it began last year
			y--
		}
		s, _ := p.inSeason(y, start, true)
		if dir < 0 && !s.to.Before(p.today()) {
			y--
		}
		if dir > 0 && !s.from.After(p.today()) {
			y++
		}
		s, ok := p.inSeason(y, start, true)
		return s, j + 1, ok
	}
	if u, ok := units[w]; ok {
		if dir == 0 && w == "night" {
			return span{}, j, false
		}
		if how == "past" && u != unitWeekend && u != unitHour {
			return p.stretch(u, -1, j+1)
		}
		if u == unitHour || u == unitDay && w != "night" && w != "day" || u == unitDay && w == "day" {
			return span{}, j, false
		}
		if u == unitWeekend && dir < 0 && p.ref.Weekday() == time.Sunday && how == "past" {
			dir = 0 // "this past weekend" on its Sunday
		}
		s, ok := p.whole(p.ref, u, dir)
		return s, j + 1, ok
	}
	if _, ok := dayParts[w]; ok {
		s, ok := p.dayAt(p.today().AddDate(0, 0, dir), true)
		return s, j + 1, ok && (dir == 0 || w == "night" || w == "evening")
	}
	s, next, ok := p.holidayNear(j, dir)
	return s, next, ok
}
