package date

import "strings"

// marked reads dates whose numbers are marked: 2018年10月1日, 来月の4日, 3月.
func (p *parser) marked(i int, loose bool) (point, int, bool) {
	if !p.tab.cjk {
		return point{}, i, false
	}
	pt, j := p.empty(i), i
	read := func(k kind) (int, bool) {
		if j+1 < len(p.t) && p.t[j].digits > 0 && p.has(j+1, k) {
			v := p.t[j].n
			j += 2
			return v, true
		}
		return 0, false
	}
	if base, ok := p.value(i, kEra); ok && (i+1 < len(p.t) && p.t[i+1].digits > 0 || p.is(i+1, "元")) && p.has(i+2, kMarkYear) {
		pt.y = base + max(p.t[i+1].n, 1)
		j = i + 3
	} else if s, next, ok := p.shiftedUnit(i); ok && p.known {
		y, m, _ := civil(s.from)
		j = p.skip(next, kOf)
		switch n := s.days(); {
		case n >= 365 && n <= 366:
			pt.y, pt.rel = y, true
			if yy, is := read(kMarkYear); is {
				pt.y, pt.rel = yy, false
			}
		case n >= 28 && n <= 31:
			pt.y, pt.m, pt.rel = y, m, true
		default:
			return point{}, i, false
		}
		if !(j+1 < len(p.t) && p.t[j].digits > 0 && p.has(j+1, kMarkMonth, kMarkDay)) {
			return point{}, i, false
		}
	} else if p.t[i].digits == 0 {
		return point{}, i, false
	} else if j+2 < len(p.t) && p.t[j].digits == 4 && p.t[j].n > 1000 && p.t[j].n < 2200 && p.t[j].cjk && p.has(j+2, kMarkMonth) { // 二〇一八 十二月
		pt.y, j = p.t[j].n, j+1
	} else if n := p.t[i].digits; n == 4 || n == 2 && !p.has(i+2, kBefore, kAfter, kAgoPost, kInPost, kUnit) {
		if y, ok := read(kMarkYear); ok {
			pt.y = y
			if y < 100 {
				if pt.y = p.century(y); !(j < len(p.t) && p.t[j].digits > 0 && p.has(j+1, kMarkMonth)) && !strings.HasPrefix(p.t[i].low, "零") && !strings.HasPrefix(p.t[i].low, "〇") {
					return point{}, i, false // 10年: an amount
				}
			}
		}
	}
	end := j
	if pt.y != 0 {
		j = p.skip(j, kOf)
	}
	if pt.m == 0 {
		if m, ok := read(kMarkMonth); ok {
			pt.m, end = m, j
			j = p.skip(j, kOf)
		}
	} else if end > i {
		j = p.skip(j, kOf)
	}
	if d, ok := read(kMarkDay); ok {
		pt.d, end = d, j
	} else if pt.m != 0 && end > i && end < len(p.t) && p.t[end].cjk && p.t[end].digits > 1 && p.t[end].n <= 31 { // 八月十五
		pt.d, end = p.t[end].n, end+1
	}
	j = end
	if pt.m == 0 && pt.y == 0 && p.has(j, kAgoPost, kInPost) { // 三日前
		return point{}, i, false
	}
	if j == i || pt.m > 12 || pt.d > 31 || pt.d != 0 && pt.m == 0 && pt.y != 0 || pt.y == 0 && i > 0 && p.tight(i) && p.has(i-1, kMarkYear) {
		return point{}, i, false
	}
	if pt.d == 0 && !p.has(j, kTo, kFrom, kUntil) {
		if base, ok := p.resolve(pt); ok {
			if s, next, ok := p.inside(base, j); ok {
				return p.fix(i, s), next, true
			}
		}
	}
	if pt.d != 0 {
		k := j
		if p.is(k, ",") || p.is(k, "，") || p.is(k, "、") || p.has(k, kOf) {
			k++
		}
		if wd, ok := p.value(k, kWeekday); ok {
			pt.wd, j = wd, k+1
		}
	}
	return pt, j, true
}
