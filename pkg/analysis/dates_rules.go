package analysis

import (
	"strconv"
	"time"
)

// expression reads the longest time expression that starts at word i; next is
// the index behind it.
func (p dateParser) expression(i int) (s span, next int, ok bool) {
	if s, next, ok = p.anchored(i); ok {
		return s, next, true
	}
	if s, next, ok = p.partOf(i); ok {
		return s, next, true
	}
	return p.period(i)
}

// period is an expression without a modifier before it.
func (p dateParser) period(i int) (span, int, bool) {
	w := p.low(i)
	if w == "" {
		return span{}, i, false
	}
	for _, rule := range []func(int) (span, int, bool){p.numeric, p.dayMonth, p.monthDay, p.amount, p.year, p.weekday, p.near, p.shifted, p.season, p.holiday} {
		if s, next, ok := rule(i); ok {
			return s, p.withDayPart(next), true
		}
	}
	return span{}, i, false
}

// withDayPart takes "morning" in "yesterday morning" into the expression.
func (p dateParser) withDayPart(next int) int {
	if _, ok := dayParts[p.low(next)]; ok && !p.words[next].gap {
		return next + 1
	}
	return next
}

// anchored reads "the week before 8 June 2023", "two days after Christmas", "the weekend of May 6".
func (p dateParser) anchored(i int) (span, int, bool) {
	n, j := 1, i
	if v, after, ok := p.count(i); ok {
		n, j = v, after
	}
	w := p.low(j)
	u, isUnit := units[w]
	day, isDay := weekdayNames[w]
	if !isUnit && !isDay || isUnit && u == unitHour {
		return span{}, i, false
	}
	how := p.low(j + 1)
	if how != "before" && how != "after" && how != "of" && how != "following" && how != "preceding" {
		return span{}, i, false
	}
	if how == "of" && (u == unitMonth || u == unitYear || n != 1 || isDay) {
		return span{}, i, false
	}
	k := j + 2
	if p.low(k) == "the" {
		k++
	}
	base, next, ok := p.period(k)
	if !ok {
		return span{}, i, false
	}
	days := int(base.to.Sub(base.from).Hours()/24 + 0.5)
	after := how == "after" || how == "following"
	switch {
	case how == "of":
		if days > 9 {
			return span{}, i, false
		}
		s, ok := p.whole(base.from, u, 0)
		s.rel = base.rel
		return s, next, ok
	case isDay:
		t := base.from.AddDate(0, 0, -1)
		step := -1
		if after {
			t, step = base.to.Add(time.Microsecond), 1
		}
		for t.Weekday() != day {
			t = t.AddDate(0, 0, step)
		}
		s, ok := p.dayAt(t, base.rel)
		return s, next, ok
	case u == unitWeekend:
		t := base.from
		off := -1
		if after {
			t, off = base.to, 0
			if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
				off = 1
			}
		} else if t.Weekday() == time.Sunday {
			off = -1
		}
		s, ok := p.whole(t, unitWeekend, off)
		s.rel = base.rel
		return s, next, ok
	case u == unitDay:
		t := base.from.AddDate(0, 0, -n)
		if after {
			t = base.to.Add(time.Microsecond).AddDate(0, 0, n-1)
		}
		s, ok := p.dayAt(t, base.rel)
		return s, next, ok
	}
	if n > 10000 {
		return span{}, i, false
	}
	if after {
		behind := base.to.Add(time.Microsecond)
		s, ok := ends(shift(behind, u, n-1), shift(behind, u, n), base.rel)
		return s, next, ok
	}
	s, ok := ends(shift(base.from, u, -n), shift(base.from, u, -n+1), base.rel)
	return s, next, ok
}

// partOf reads "early May", "the end of last year", "mid-2022".
func (p dateParser) partOf(i int) (span, int, bool) {
	w := p.low(i)
	if _, ok := modifiers[w]; !ok {
		return span{}, i, false
	}
	j := i + 1
	if p.low(j) == "of" {
		j++
	}
	if p.low(j) == "the" {
		j++
	}
	s, next, ok := p.period(j)
	if !ok || s.to.Sub(s.from) < 48*time.Hour {
		return span{}, i, false
	}
	s, ok = part(s, w)
	return s, next, ok
}

// count reads an amount: digits, a number word, "a", "a couple of". few and
// several give their middle.
func (p dateParser) count(i int) (n, next int, ok bool) {
	if i < 0 || i >= len(p.words) {
		return 0, i, false
	}
	w := p.words[i]
	if w.digit {
		v, err := strconv.Atoi(w.lower)
		return v, i + 1, err == nil && v >= 0 && v < 100000
	}
	switch w.lower {
	case "a", "an", "one":
		if next := p.low(i + 1); next == "couple" || next == "few" {
			return p.count(i + 1)
		}
		return 1, i + 1, true
	case "couple":
		if p.low(i+1) == "of" {
			return 2, i + 2, true
		}
		return 2, i + 1, true
	case "few":
		return 3, i + 1, true
	case "several":
		return 5, i + 1, true
	}
	if v, is := numberWords[w.lower]; is {
		v, err := strconv.Atoi(v)
		return v, i + 1, err == nil && v < 1000
	}
	return 0, i, false
}

// amount reads "two years ago", "3 days from now", "a week from today".
func (p dateParser) amount(i int) (span, int, bool) {
	n, j, ok := p.count(i)
	u, isUnit := units[p.low(j)]
	if !ok || !isUnit || p.ref.IsZero() || j >= len(p.words) || p.words[j].gap {
		return span{}, i, false
	}
	sign, next := 0, j+1
	switch p.low(j + 1) {
	case "ago", "earlier", "back":
		sign, next = -1, j+2
		if p.low(j+1) != "ago" && p.words[i].first {
			return span{}, i, false
		}
	case "from":
		if t := p.low(j + 2); t == "now" || t == "today" {
			sign, next = 1, j+3
		}
	}
	if sign == 0 {
		return span{}, i, false
	}
	vague := 0
	switch p.low(j - 1) {
	case "few":
		vague = 1
	case "several":
		vague = 2
	}
	if u == unitDecade {
		u, n, vague = unitYear, n*10, vague*10
	}
	a, ok1 := p.whole(p.unitBase(u, sign*(n+vague)), u, 0)
	b, ok2 := p.whole(p.unitBase(u, sign*(n-vague)), u, 0)
	if !ok1 || !ok2 {
		return span{}, i, false
	}
	if b.from.Before(a.from) {
		a, b = b, a
	}
	return span{a.from, b.to, true}, next, true
}

// unitBase is ref moved by n units, kept inside the calendar.
func (p dateParser) unitBase(u unit, n int) time.Time {
	if n > 20000 || n < -20000 {
		return time.Time{}
	}
	return shift(p.ref, u, n)
}
