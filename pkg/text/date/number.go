package date

import "strings"

// number reads a number at word i: digits or number words.
func (p *parser) number(i int) (n, next int, ok bool) {
	if i < 0 || i >= len(p.t) {
		return 0, i, false
	}
	if t := p.t[i]; t.digits > 0 {
		return t.n, i + 1, t.digits <= 5 && !t.ordinal
	}
	total, last := 0, 0
	for next = i; next < min(len(p.t), i+mostNumerals); next++ {
		v, is := p.value(next, kNumber)
		switch {
		case is && v%1000 == 0 && v > 0:
			total, last = total+max(last, 1)*v, 0
		case is && v == 100:
			last = max(last, 1) * 100
		case is && v == 1 && next > i && (p.is(next, "a") || p.is(next, "an")): // "turned ninety a week ago"
			return total + last, next, ok
		case is && (last == 0 || last%100 == 0 && v < 100 || last%100 >= 20 && last%10 == 0 && v < 10):
			last += v
		case ok && total > 0 && p.has(next, kAnd) && p.has(next+1, kNumber):
			continue
		default:
			return total + last, next, ok
		}
		ok = true
	}
	return total + last, next, ok
}

// mostNumerals is how many words one number may have.
const mostNumerals = 24

// nthOf reads an ordinal at word i: 1st, 20., third; -1 for last.
func (p *parser) nthOf(i int) (n, next int, ok bool) {
	if i < 0 || i >= len(p.t) {
		return 0, i, false
	}
	if t := p.t[i]; t.digits > 0 {
		if t.ordinal {
			return t.n, i + 1, t.digits <= 2
		}
		if p.tab.dotted && p.is(i+1, ".") && p.tight(i+1) && (i+2 >= len(p.t) || p.t[i+2].space || p.is(i+2, ".") || p.t[i+2].digits == 0) {
			return t.n, i + 2, t.digits <= 2
		}
		return t.n, i, false
	}
	n, ok = p.value(i, kOrdinal)
	return n, i + 1, ok
}

// dayNumberAt reads a day of the month at word i, as digits, a number word or an ordinal.
func (p *parser) dayNumberAt(i int) (d, next int, ordinal, ok bool) {
	if n, next, ok := p.nthOf(i); ok {
		return n, next, true, n >= 1 && n <= 31
	}
	if i < len(p.t) && i >= 0 && p.t[i].digits > 2 {
		return 0, i, false, false
	}
	n, next, ok := p.number(i)
	return n, next, false, ok && n >= 1 && n <= 31
}

// yearNumberAt reads a year at word i: four digits, '87, or words.
func (p *parser) yearNumberAt(i int) (y, next int, ok bool) {
	if i >= len(p.t) || i < 0 {
		return 0, i, false
	}
	if t := p.t[i]; t.digits > 0 {
		return t.n, i + 1, t.digits == 4 && t.n >= 1000 && t.n < 2200 && !t.ordinal
	}
	n, next, ok := p.number(i)
	if ok && n >= 1000 && n < 2200 {
		return n, next, true
	}
	if ok && n >= 10 && n <= 21 { // nineteen eighty six
		if low, behind, ok := p.number(next); ok && low >= 10 && low < 100 && p.t[next].digits == 0 {
			return n*100 + low, behind, true
		}
	}
	return 0, i, false
}

// century completes a year of two digits: at most twenty years ahead of the day of saying.
func (p *parser) century(y int) int {
	if y >= 100 {
		return y
	}
	if now := max(p.y, 2000); 2000+y <= now+20 {
		return 2000 + y
	}
	return 1900 + y
}

// yearBehind reads the year that may follow a day or month at word i: "2023", ", 2023", "of 2023", "'23", "last year",
// "de este año".
func (p *parser) yearBehind(i int, short bool) (y, next int, rel, ok bool) {
	j := i
	if p.is(j, ",") || p.is(j, ".") {
		j++
	}
	k := p.skip(j, kOf, kArticle)
	if p.is(k, "'") || p.is(k, "’") {
		if k+1 < len(p.t) && p.t[k+1].digits == 2 {
			return p.century(p.t[k+1].n), k + 2, false, true
		}
	}
	if y, next, ok := p.yearNumberAt(p.skip(k, kYearWord)); ok && !(k == j && j > i && p.is(i, ".") && !p.tight(i)) {
		if _, isUnit := p.unitAt(next); isUnit && !p.has(next, kMarkYear) {
			return 0, i, false, false
		}
		if p.has(next, kMarkYear) {
			next++
		}
		return y, next, false, true
	}
	if short && k < len(p.t) && p.t[k].digits == 2 && p.t[k].n > 31 && p.endsAt(k+1) && !p.has(k+1, kUnit) {
		return p.century(p.t[k].n), k + 1, false, true
	}
	if s, next, ok := p.shiftedUnit(k); ok && s.days() >= 365 && s.days() <= 366 {
		y, _, _ := civil(s.from)
		return y, next, true, true
	}
	return 0, i, false, false
}

// compose adds the number words that are made of tens and ones, by the forms that the table gives: "{t} {u}".
func (t *table) compose(forms map[string]string) {
	ones, tens := map[int][]string{}, map[int][]string{}
	ordinals := map[int][]string{}
	for w, n := range t.phrases.next {
		for _, s := range n.senses {
			switch {
			case w == "a" || w == "an": // "turned ninety a week ago"
			case s.kind == kNumber && s.value > 0 && s.value < 10:
				ones[s.value] = append(ones[s.value], w)
			case s.kind == kNumber && s.value >= 20 && s.value < 100 && s.value%10 == 0:
				tens[s.value] = append(tens[s.value], w)
			case s.kind == kOrdinal && s.value > 0 && s.value < 10:
				ordinals[s.value] = append(ordinals[s.value], w)
			}
		}
	}
	put := func(form string, u map[int][]string, k kind) {
		for _, f := range strings.Split(form, ", ") {
			for tv, ts := range tens {
				for uv, us := range u {
					for _, tw := range ts {
						for _, uw := range us {
							for _, p := range expand(strings.NewReplacer("{t}", tw, "{u}", uw).Replace(f)) {
								t.add(p, sense{k, tv + uv})
							}
						}
					}
				}
			}
		}
	}
	if f := forms["compound"]; f != "" {
		put(f, ones, kNumber)
	}
	if f := forms["ordinal compound"]; f != "" {
		if strings.Contains(f, "ste") || strings.Contains(f, "{u}und") {
			put(f, ones, kOrdinal)
		} else {
			put(f, ordinals, kOrdinal)
		}
	}
}

// amounts reports whether two years from word i on to the word behind are amounts: of something that is measured or has
// a price, both round, or too far ahead.
func (p *parser) amounts(i, behind int, a, b point) bool {
	if !a.bareYear() || !b.bareYear() {
		return false
	}
	for j := i; j < behind; j++ {
		if p.has(j, kYearWord, kMarkYear) {
			return false
		}
	}
	return a.y%50 == 0 && b.y%50 == 0 || p.known && b.y > p.y+30 || b.y-a.y > 500 || p.measured(behind) || p.priced(i, behind)
}

// ordinals reports whether the ends of a range, at words i and k, are days of the month with their articles: "the 16th to
// the 20th".
func (p *parser) ordinals(i, k, behind int) bool {
	return i > 0 && k+1 < len(p.t) && p.t[i].ordinal && p.t[k+1].ordinal && p.has(i-1, kArticle) && p.has(k, kArticle) && p.endsAt(behind)
}

// ranks reports whether a noun follows the ordinal before word i: "the 7th floor".
func (p *parser) ranks(i int) bool {
	return !p.tab.inverted && p.t[i-1].ordinal && !p.endsAt(i) && !p.isPast(i) && !p.matches(p.tab.future, p.t[i].low)
}

// bareYear reports whether a point is the number of a year alone.
func (pt point) bareYear() bool { return !pt.fixed && pt.y != 0 && pt.m == 0 && pt.d == 0 && pt.wd < 0 }

// measured reports whether a unit stands at word i: "calories", "a day".
func (p *parser) measured(i int) bool {
	if i >= len(p.t) {
		return false
	}
	_, each := p.unitAt(i + 1)
	return p.matches(p.tab.measured, p.t[i].low) || each && !p.t[i].mark
}

// priced reports whether the clause around some words is about a price or its change.
func (p *parser) priced(i, behind int) bool {
	start, end := p.clauseStart(i), p.clauseEnd(behind-1)
	if p.tab.cjk {
		return p.matches(p.tab.priced, p.s[p.t[start].start:p.t[end-1].end])
	}
	for j := start; j < end; j++ {
		if p.matches(p.tab.priced, p.t[j].low) {
			return true
		}
	}
	return false
}

// inRange reports whether a word joins the number of words i to next to another: "1900 to 2100".
func (p *parser) inRange(i, next int) bool {
	join := func(k, number int) bool {
		return k > 0 && number < len(p.t) && number >= 0 && p.has(k, kTo, kUntil, kMovedTo) && !p.t[k].mark && p.t[number].digits > 2
	}
	return join(next, next+1) || join(i-1, i-2) || p.tab.cjk && (p.measured(next) || p.priced(i, next))
}
