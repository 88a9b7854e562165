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
	for next = i; next < len(p.t); next++ {
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
