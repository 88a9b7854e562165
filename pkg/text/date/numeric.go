package date

import "strings"

// numeric reads dates of numbers joined by the same sign: 2023-05-07, 5/7/2023, 07.05.2023, 23/Sep/2020, 12-2015, and
// 20230507. Without a year a word before must say that it is a day: "on 5/7".
func (p *parser) numeric(i int, loose bool) (point, int, bool) {
	pt := p.empty(i)
	if t := p.t[i]; i+2 < len(p.t) && !p.tab.monthFirst && t.digits > 0 && t.digits <= 2 && p.t[i+1].digits > 0 && p.t[i+1].digits <= 2 && p.t[i+2].digits == 4 &&
		p.t[i+2].n >= 1900 && p.t[i+2].n < 2100 && valid(p.t[i+2].n, p.t[i+1].n, t.n) {
		pt.y, pt.m, pt.d = p.t[i+2].n, p.t[i+1].n, t.n
		return pt, i + 3, true
	}
	if t := p.t[i]; t.digits == 8 && p.t[i].n/10000 >= 1900 && t.n/10000 < 2100 && valid(t.n/10000, t.n/100%100, t.n%100) {
		pt.y, pt.m, pt.d = t.n/10000, t.n/100%100, t.n%100
		return pt, i + 1, true
	}
	if i > 1 && p.tight(i) && p.tight(i-1) && (p.is(i-1, "/") || p.is(i-1, ".") || p.is(i-1, "-") && !loose) && p.t[i-2].digits > 0 {
		return point{}, i, false
	}
	var parts []token
	var months []int
	sep, j := "", i
	for len(parts) < 3 && j < len(p.t) {
		t := p.t[j]
		m, isMonth := t.value(kMonth)
		if t.digits == 0 && !isMonth || t.digits > 4 || t.ordinal && t.digits == 0 || t.cjk {
			break
		}
		if !isMonth {
			m = 0
		}
		parts, months = append(parts, t), append(months, m)
		j++
		if len(parts) == 3 || j+1 >= len(p.t) || !p.tight(j) || !p.tight(j+1) || !strings.Contains("-/.–", p.t[j].low) || sep != "" && p.t[j].low != sep || !p.t[j].mark {
			break
		}
		sep = p.t[j].low
		j++
	}
	if len(parts) < 2 {
		return point{}, i, false
	}
	if p.tight(j) || i > 0 && p.tight(i) && p.t[i-1].mark && strings.Contains("/.", p.t[i-1].low) {
		if j < len(p.t) && p.tight(j) && (!p.t[j].mark && p.t[j].low != "t" || p.t[j].low == sep && sep != "-" && j+1 < len(p.t) && p.tight(j+1) && p.t[j+1].digits > 0) {
			return point{}, i, false
		}
	}
	if len(parts) == 3 {
		return p.threeParts(pt, parts, months, sep == ".", j)
	}
	a, b := parts[0], parts[1]
	switch {
	case months[0] > 0 && b.digits == 4 && b.n >= 1000:
		pt.m, pt.y = months[0], b.n
	case months[1] > 0 && a.digits == 4 && a.n >= 1000:
		pt.m, pt.y = months[1], a.n
	case months[0] > 0 && b.digits > 0 && b.n >= 1 && b.n <= 31 && b.digits <= 2:
		pt.m, pt.d = months[0], b.n
	case months[1] > 0 && a.digits > 0 && a.n >= 1 && a.n <= 31 && a.digits <= 2:
		pt.m, pt.d = months[1], a.n
	case a.digits == 0 || b.digits == 0:
		return point{}, i, false
	case a.digits == 4 && b.digits <= 2 && a.n >= 1900 && a.n < 2100 && b.n >= 1 && b.n <= 12 && sep != "." && !p.is(j, "/"):
		pt.y, pt.m = a.n, b.n
	case b.digits == 4 && a.digits <= 2 && b.n >= 1900 && b.n < 2100 && a.n >= 1 && a.n <= 12:
		pt.y, pt.m = b.n, a.n
	case sep != "/" && sep != "." && (!p.has(i-1, kOn, kUntil, kWeekday, kTo, kAnd) || p.has(i-1, kFrom)) && !p.has(j, kTo, kAnd, kUntil) && !(p.is(j, "-") && !p.tight(j)) && !(p.is(i-1, "-") && !p.tight(i)):
		return point{}, i, false
	case a.digits <= 2 && b.digits <= 2 && (loose || p.has(i-1, kOn, kUntil, kFrom, kDir, kWeekday) || i > 0 && sep == "/" && max(a.n, b.n) > 12 && p.matches(p.tab.stating, p.t[i-1].low) || p.is(j, ".") && sep == "." && p.tight(j)):
		m, d := b.n, a.n
		if p.monthFirst {
			m, d = d, m
		}
		if m > 12 && sep == "." && !p.monthFirst { // the time of day 8.15
			return point{}, i, false
		} else if m > 12 {
			m, d = d, m
		} else if p.unordered && d <= 12 && m != d {
			return point{}, i, false
		}
		amount := p.has(j, kUnit) || p.measured(j) || p.has(i-1, kFor) && sep != "/" && sep != "." ||
			p.tab.monthFirst && sep == "." && p.has(i-1, kFrom, kTo) // "for 10-15 minutes", "for 3-4 of us", "from 7.4"
		if m < 1 || m > 12 || d < 1 || d > 31 || amount {
			return point{}, i, false
		}
		pt.m, pt.d = m, d
		if p.is(j, ".") && p.tight(j) {
			j++
		}
		pt.near, _ = p.value(i-1, kDir)
	default:
		return point{}, i, false
	}
	if pt.y == 0 && pt.d != 0 {
		if y, next, rel, ok := p.yearBehind(j, false); ok {
			pt.y, pt.rel, j = y, rel, next
		}
	}
	return pt, j, true
}

// threeParts reads year, month and day in the order that the parts allow, else in that of the language. With dots the
// day stands first everywhere.
func (p *parser) threeParts(pt point, parts []token, months []int, dots bool, next int) (point, int, bool) {
	var rest []int
	year := -1
	for k, t := range parts {
		switch {
		case months[k] > 0 && pt.m == 0 && t.digits == 0:
			pt.m = months[k]
		case t.digits == 4 && year < 0:
			year = t.n
		case t.digits == 0:
			return point{}, next, false
		default:
			rest = append(rest, t.n)
		}
	}
	switch {
	case pt.m > 0 && year >= 0 && len(rest) == 1:
		pt.d = rest[0]
	case pt.m > 0 && len(rest) == 2:
		pt.d, year = rest[0], p.century(rest[1])
	case year >= 0 && len(rest) == 2 && parts[0].digits == 4:
		pt.m, pt.d = rest[0], rest[1]
	case year >= 0 && len(rest) == 2 && parts[2].digits == 4, len(rest) == 3 && parts[2].digits == 2:
		if len(rest) == 3 {
			if p.tab.cjk {
				rest = []int{rest[1], rest[2], rest[0]}
			}
			year = p.century(rest[2])
		}
		pt.m, pt.d = rest[1], rest[0]
		if p.monthFirst && !dots || p.tab.cjk && len(rest) == 3 {
			pt.m, pt.d = pt.d, pt.m
		}
		if pt.m > 12 && !(p.tab.cjk && len(rest) == 3) {
			pt.m, pt.d = pt.d, pt.m
		} else if p.unordered && !dots && pt.d <= 12 && pt.m != pt.d {
			return point{}, next, false
		}
	default:
		return point{}, next, false
	}
	pt.y = year
	if next < len(p.t) && p.is(next, "t") && p.tight(next) { // the time of day of an ISO date
		for next++; next < len(p.t) && p.tight(next) && (p.t[next].digits > 0 || p.is(next, ":") || p.is(next, "z") || p.is(next, ".") && next+1 < len(p.t) && p.tight(next+1)); {
			next++
		}
	}
	return pt, next, valid(pt.y, pt.m, pt.d)
}
