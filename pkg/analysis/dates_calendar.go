package analysis

import "time"

// ends makes a closed span from the first day and the day behind the last.
func ends(from, behind time.Time, rel bool) (span, bool) {
	if from.Year() < 1 || behind.Year() > 9999 || !from.Before(behind) {
		return span{}, false
	}
	return span{from, behind.Add(-time.Microsecond), rel}, true
}

func (p dateParser) date(y int, m time.Month, d int) time.Time {
	loc := p.ref.Location()
	return time.Date(y, m, d, 0, 0, 0, 0, loc)
}

// today is the first instant of ref's day.
func (p dateParser) today() time.Time {
	y, m, d := p.ref.Date()
	return p.date(y, m, d)
}

func (p dateParser) dayAt(t time.Time, rel bool) (span, bool) {
	return ends(t, t.AddDate(0, 0, 1), rel)
}

// onDay is a day of the calendar; 30 February is none.
func (p dateParser) onDay(y int, m time.Month, d int, rel bool) (span, bool) {
	if y < 1 || y > 9998 || m < 1 || m > 12 || d < 1 || d > 31 {
		return span{}, false
	}
	t := p.date(y, m, d)
	if t.Month() != m {
		return span{}, false
	}
	return p.dayAt(t, rel)
}

func (p dateParser) inMonth(y int, m time.Month, rel bool) (span, bool) {
	return ends(p.date(y, m, 1), p.date(y, m+1, 1), rel)
}

func (p dateParser) inYear(y int, rel bool) (span, bool) {
	if y < 1 || y > 9998 {
		return span{}, false
	}
	return ends(p.date(y, 1, 1), p.date(y+1, 1, 1), rel)
}

func (p dateParser) inSeason(y int, start time.Month, rel bool) (span, bool) {
	return ends(p.date(y, start, 1), p.date(y, start+3, 1), rel)
}

// monday is the first day of the week t lies in.
func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

// whole is the unit of the calendar n units away from the one t lies in.
func (p dateParser) whole(t time.Time, u unit, n int) (span, bool) {
	if n > 100000 || n < -100000 {
		return span{}, false
	}
	y, m, d := t.Date()
	day := p.date(y, m, d)
	switch u {
	case unitHour:
		t = t.Add(time.Duration(n) * time.Hour)
		y, m, d = t.Date()
		return p.dayAt(p.date(y, m, d), true)
	case unitDay:
		return p.dayAt(day.AddDate(0, 0, n), true)
	case unitWeek, unitFortnight:
		if u == unitFortnight {
			n *= 2
		}
		start := monday(day).AddDate(0, 0, 7*n)
		return ends(start, start.AddDate(0, 0, 7), true)
	case unitWeekend:
		start := monday(day).AddDate(0, 0, 7*n+5)
		return ends(start, start.AddDate(0, 0, 2), true)
	case unitMonth:
		return p.inMonth(y, m+time.Month(n), true)
	case unitQuarter:
		q := (m-1)/3*3 + 1 + time.Month(3*n)
		return ends(p.date(y, q, 1), p.date(y, q+3, 1), true)
	case unitYear:
		return p.inYear(y+n, true)
	case unitDecade:
		start := y - y%10 + 10*n
		return ends(p.date(start, 1, 1), p.date(start+10, 1, 1), true)
	}
	return span{}, false
}

// shift moves t by n units, the day of the month clipped to the month's length.
func shift(t time.Time, u unit, n int) time.Time {
	switch u {
	case unitDay:
		return t.AddDate(0, 0, n)
	case unitWeek, unitWeekend:
		return t.AddDate(0, 0, 7*n)
	case unitFortnight:
		return t.AddDate(0, 0, 14*n)
	case unitMonth, unitQuarter, unitYear, unitDecade:
		months := map[unit]int{unitMonth: 1, unitQuarter: 3, unitYear: 12, unitDecade: 120}[u] * n
		y, m, d := t.Date()
		first := time.Date(y, m+time.Month(months), 1, 0, 0, 0, 0, t.Location())
		if last := first.AddDate(0, 1, -1).Day(); d > last {
			d = last
		}
		return first.AddDate(0, 0, d-1)
	}
	return t.Add(time.Duration(n) * time.Hour)
}

// part narrows a span to its first, middle or last third.
func part(s span, which string) (span, bool) {
	days := int(s.to.Sub(s.from).Hours()/24 + 0.5)
	third := days / 3
	if third == 0 {
		return s, true
	}
	switch which {
	case "early", "beginning", "start":
		return ends(s.from, s.from.AddDate(0, 0, third), s.rel)
	case "mid", "middle":
		return ends(s.from.AddDate(0, 0, third), s.from.AddDate(0, 0, 2*third), s.rel)
	}
	return ends(s.from.AddDate(0, 0, 2*third), s.to.Add(time.Microsecond), s.rel)
}
