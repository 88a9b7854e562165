package analysis

import (
	"strconv"
	"time"
)

// numeric reads 2023-05-07, 2023/5/7, 5/7/2023, 07.05.2023 and an ISO time of
// day behind it; "on 5/7" without a year is near ref.
func (p dateParser) numeric(i int) (span, int, bool) {
	w := p.words[i]
	if !w.digit {
		return span{}, i, false
	}
	var parts [3]int
	var widths [3]int
	at, sep := w.start, byte(0)
	n := 0
	for n < 3 {
		v, width := digits(p.text[at:])
		if width == 0 || width > 4 {
			break
		}
		parts[n], widths[n] = v, width
		n++
		at += width
		if n == 3 || at >= len(p.text) {
			break
		}
		c := p.text[at]
		if c != '-' && c != '/' && c != '.' || sep != 0 && c != sep {
			break
		}
		sep = c
		at++
	}
	if n == 2 && sep == '/' && p.low(i-1) == "on" && !p.ref.IsZero() && parts[0] <= 12 && widths[0] <= 2 && widths[1] <= 2 {
		s, ok := p.nearest(time.Month(parts[0]), parts[1], i)
		return s, p.behind(i, at), ok
	}
	if n < 3 || sep == 0 {
		return span{}, i, false
	}
	y, m, d := parts[0], parts[1], parts[2]
	switch {
	case widths[0] == 4 && widths[1] <= 2 && widths[2] <= 2:
	case widths[2] == 4 && widths[0] <= 2 && widths[1] <= 2:
		y, m, d = parts[2], parts[0], parts[1]
		if sep == '.' || m > 12 {
			m, d = d, m
		}
	default:
		return span{}, i, false
	}
	s, ok := p.onDay(y, time.Month(m), d, false)
	return s, p.behind(i, at), ok
}

// behind gives the index of the first word that starts at or after byte at.
func (p dateParser) behind(i, at int) int {
	for i < len(p.words) && p.words[i].start < at {
		i++
	}
	return i
}

func digits(s string) (v, width int) {
	for width < len(s) && s[width] >= '0' && s[width] <= '9' && width < 6 {
		v = v*10 + int(s[width]-'0')
		width++
	}
	return v, width
}

// dayOf reads a day of the month: 7, 7th.
func (p dateParser) dayOf(i int) (int, bool) {
	if i < 0 || i >= len(p.words) || !p.words[i].digit {
		return 0, false
	}
	d, err := strconv.Atoi(plainNumber(p.words[i].lower))
	return d, err == nil && d >= 1 && d <= 31
}

// yearOf reads a year of four digits.
func (p dateParser) yearOf(i int) (int, bool) {
	if i < 0 || i >= len(p.words) || len(p.words[i].lower) != 4 || !p.words[i].digit {
		return 0, false
	}
	y, err := strconv.Atoi(p.words[i].lower)
	return y, err == nil && y >= 1000 && y <= 2999
}

// yearAfter reads the year that may follow at j: "2023", ", 2023", "of 2023".
func (p dateParser) yearAfter(j int) (y, next int, ok bool) {
	if j > 0 && j < len(p.words) {
		if sep := trimSpace(p.text[p.words[j-1].end:p.words[j].start]); sep != "" && sep != "," {
			return 0, j, false
		}
	}
	if p.low(j) == "of" || p.low(j) == "in" {
		if y, ok := p.yearOf(j + 1); ok {
			return y, j + 2, true
		}
	}
	y, ok = p.yearOf(j)
	return y, j + 1, ok
}

// dayMonth reads "7 May 2023", "the 7th of May"; "on the 5th" is near ref.
func (p dateParser) dayMonth(i int) (span, int, bool) {
	d, ok := p.dayOf(i)
	if !ok {
		return span{}, i, false
	}
	j := i + 1
	if p.low(j) == "of" {
		j++
	}
	m, isMonth := monthNames[p.low(j)]
	if !isMonth || p.words[j].gap && p.text[p.words[j-1].end:p.words[j].start] != "-" {
		ordinal := len(p.words[i].lower) > 2 && p.words[i].lower[len(p.words[i].lower)-1] > '9'
		if !ordinal || p.low(i-1) != "the" || p.low(i-2) != "on" && p.low(i-2) != "by" || p.ref.IsZero() || i+1 < len(p.words) && !p.words[i+1].gap {
			return span{}, i, false
		}
		y, m, _ := p.ref.Date()
		if d > p.ref.Day() && !p.ahead(i) {
			m--
		} else if d < p.ref.Day() && p.ahead(i) {
			m++
		}
		t := p.date(y, m, d)
		s, ok := p.dayAt(t, true)
		return s, i + 1, ok && t.Day() == d
	}
	if y, next, ok := p.yearAfter(j + 1); ok {
		s, ok := p.onDay(y, m, d, false)
		return s, next, ok
	}
	s, ok := p.nearest(m, d, i)
	return s, j + 1, ok
}

// monthDay reads "May 7, 2023", "May 7th", "May 2023", "in May".
func (p dateParser) monthDay(i int) (span, int, bool) {
	m, ok := monthNames[p.low(i)]
	if !ok {
		return span{}, i, false
	}
	j := i + 1
	if p.low(j) == "the" {
		j++
	}
	if d, ok := p.dayOf(j); ok && !(p.words[j].gap && trimSpace(p.text[p.words[j-1].end:p.words[j].start]) != "." && p.text[p.words[j-1].end:p.words[j].start] != "-") {
		if _, unit := units[p.low(j+1)]; !unit {
			if y, next, ok := p.yearAfter(j + 1); ok {
				s, ok := p.onDay(y, m, d, false)
				return s, next, ok
			}
			s, ok := p.nearest(m, d, i)
			return s, j + 1, ok
		}
	}
	if y, next, ok := p.yearAfter(i + 1); ok {
		s, ok := p.inMonth(y, m, false)
		return s, next, ok
	}
	if p.ref.IsZero() || !p.plainMonth(i) {
		return span{}, i, false
	}
	s, ok := p.inMonth(p.monthYear(m, i), m, true)
	return s, i + 1, ok
}

// plainMonth reports whether the month name at i, without day or year, is a
// time: "may", "march" and short forms need a word before them that says so.
func (p dateParser) plainMonth(i int) bool {
	w, prev := p.words[i], p.low(i-1)
	if prev == "every" || prev == "each" || w.possessive {
		return false
	}
	_, time := atTime[prev]
	if time && prev != "and" && prev != "to" && prev != "from" && prev != "of" {
		return true
	}
	if !w.upper || w.first {
		return false
	}
	return len(w.lower) > 4 && w.lower != "march" || w.lower == "july" || w.lower == "june" || time && w.lower == "may"
}

// monthYear is the year a bare month at word i belongs to.
func (p dateParser) monthYear(m time.Month, i int) int {
	y, now, _ := p.ref.Date()
	switch {
	case p.ahead(i) && m < now:
		return y + 1
	case !p.ahead(i) && m > now:
		return y - 1
	}
	return y
}

// soon is how far ahead a day without a year may lie where its sentence says
// neither that it is past nor that it is to come ("Flight on 14 May").
const soon = 120 * 24 * time.Hour

// nearest is the day m, d without a year: the last one, or the next one where
// the sentence looks ahead, or is undecided and the next one is soon.
func (p dateParser) nearest(m time.Month, d, i int) (span, bool) {
	if p.ref.IsZero() {
		return span{}, false
	}
	y := p.ref.Year()
	t, today := p.date(y, m, d), p.today()
	switch ahead := p.ahead(i); {
	case ahead && t.Before(today):
		y++
	case !ahead && t.After(today) && (p.back(i) || t.Sub(today) > soon):
		y--
	}
	if m == time.February && d == 29 {
		for k := 0; k < 8 && p.date(y, m, d).Month() != m; k++ {
			y--
		}
	}
	return p.onDay(y, m, d, true)
}

// year reads "in 2019", "since 2019", "(2019)", "the 1990s", "the 90s".
func (p dateParser) year(i int) (span, int, bool) {
	w := p.words[i]
	if !w.digit {
		return span{}, i, false
	}
	if base, ok := cutS(w.lower); ok {
		y, err := strconv.Atoi(base)
		if err == nil && y%10 == 0 && (len(base) == 4 && y >= 1000 && y <= 2100 || len(base) == 2 && y >= 20 && p.low(i-1) == "the") {
			if len(base) == 2 {
				y += 1900
			}
			s, ok := ends(p.date(y, 1, 1), p.date(y+10, 1, 1), false)
			return s, i + 1, ok
		}
		return span{}, i, false
	}
	y, ok := p.yearOf(i)
	if !ok || y < 1200 || y > 2200 {
		return span{}, i, false
	}
	_, said := inTheYear[p.low(i-1)]
	if !said && !(w.start > 0 && p.text[w.start-1] == '(' && w.end < len(p.text) && p.text[w.end] == ')') {
		return span{}, i, false
	}
	if _, unit := units[p.low(i+1)]; unit || i+1 < len(p.words) && !p.words[i+1].gap && p.words[i+1].lower == "people" {
		return span{}, i, false
	}
	s, ok := p.inYear(y, false)
	return s, i + 1, ok
}

func cutS(s string) (string, bool) {
	if len(s) > 1 && s[len(s)-1] == 's' && s[len(s)-2] <= '9' {
		return s[:len(s)-1], true
	}
	return s, false
}
