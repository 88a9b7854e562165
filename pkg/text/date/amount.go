package date

import (
	"regexp"
	"time"
)

// count reads an amount: digits, number words, "a few". least and most differ where the words are vague.
func (p *parser) count(i int) (least, most, next int, ok bool) {
	if n, ok := p.value(i, kFew); ok {
		j := p.skip(i+1, kOf)
		if n == 2 {
			return 2, 2, j, true
		}
		return n - n/2, n + n/2, j, true
	}
	if p.has(i, kArticle) && p.has(i+1, kFew) {
		return p.count(i + 1)
	}
	n, next, ok := p.number(i)
	if ok && (p.has(next, kTo, kOr) || p.is(next, "-") || p.is(next, "–")) { // "6 to 8 weeks", "two or three days"
		if most, behind, is := p.number(next + 1); is && most > n && p.has(behind, kUnit) {
			return n, most, behind, most <= 20000
		}
	}
	return n, n, next, ok && n <= 20000
}

// more is the value of a half that is added to the count before it.
const more = -1

// halfMore returns the bounds of n units and a half, in the unit that they are counted in.
func halfMore(n int, u unit) (least, most int, in unit, ok bool) {
	switch {
	case u == uYear && n == 0:
		return 5, 7, uMonth, true
	case u == uYear:
		return 12*n + 3, 12*n + 9, uMonth, true
	case u == uMonth:
		return 30*n + 8, 30*n + 22, uDay, true
	case u == uWeek:
		return 7*n + 3, 7*n + 4, uDay, true
	}
	return 0, 0, u, false
}

// amountAt reads a count and its unit.
func (p *parser) amountAt(i int) (least, most int, u unit, next int, ok bool) {
	least, most, next, ok = p.count(i)
	if _, bare := p.unitAt(i); !ok && bare && p.tab.articleless && (p.has(i-1, kInPre, kAgoPre) || p.has(i+1, kAgoPost, kInPost)) { // "za tydzień"
		least, most, next, ok = 1, 1, i, true
		if p.matches(p.tab.dual, p.t[i].low) {
			least, most = 2, 2
		}
	}
	if u, is := p.unitAt(i); !ok && is && u == uHalf && p.has(i+1, kAgoPost, kInPost) { // 半年前
		least, most, u, ok = halfMore(0, uYear)
		return least, most, u, i + 1, ok
	}
	half := false
	if n, is := p.value(i, kHalf); is && n != more { // anderthalb Jahre
		least, most, next, ok, half = n, n, i+1, true, true
	} else if n, is := p.value(next, kHalf); ok && is && n == more { // two and a half years
		half, next = true, next+1
	}
	if !ok || p.is(next, "-") {
		return 0, 0, 0, i, false
	}
	u, ok = p.unitAt(next)
	next++
	if n, is := p.value(next, kHalf); ok && !half && is && n == more { // dos años y medio
		half, next = true, next+1
	}
	if ok && half {
		least, most, u, ok = halfMore(most, u)
	}
	return least, most, u, next, ok && u != uHour && most > 0
}

// hoursAgo reads an amount of hours or minutes that have passed: "ten minutes ago" at five past midnight was yesterday.
func (p *parser) hoursAgo(i int, _ bool) (point, int, bool) {
	j, ago := i, p.has(i, kAgoPre)
	if ago {
		j++
	}
	_, n, next, ok := p.count(j)
	if u, is := p.unitAt(next); !p.known || !ok || !is || u != uHour || !ago && !p.has(next+1, kAgoPost) || n > 48*60 {
		return point{}, i, false
	}
	passed := time.Duration(n) * time.Minute
	if !minute.MatchString(p.t[next].low) {
		passed = time.Duration(n) * time.Hour
	}
	y, m, d := p.now.Add(-passed).Date()
	if next++; !ago {
		next++
	}
	return p.fix(i, oneDay(dayNumber(y, int(m), d), true)), next, true
}

// minute finds the words for minutes and seconds among those for units of less than a day.
var minute = regexp.MustCompile(`^(?:min|мин|хвил|sec|seg|sek|сек|dakika|dk|saniye|perc|minuut|分|秒|분|초|मिनट|دقيق|دقائق|ثاني|דק|λεπτ|phút|menit|detik)`)

// amount reads amounts of time from the day of saying: "two years ago", "in 3 days", "a week from now", "hace dos
// semanas".
func (p *parser) amount(i int, loose bool) (point, int, bool) {
	if !p.known {
		return point{}, i, false
	}
	sign, j := 0, i
	ahead := p.has(i, kInPre)
	switch {
	case p.has(i, kAgoPre):
		sign, j = -1, i+1
	case ahead:
		sign, j = 1, i+1
	}
	if pt, next, ok := p.weekdaysAgo(i, j, sign); ok {
		return pt, next, true
	}
	least, most, u, next, ok := p.amountAt(j)
	if !ok && sign != 0 && p.has(i, kIn) {
		return point{}, i, false
	}
	if !ok {
		return point{}, i, false
	}
	switch {
	case p.andMore(next): // "3 months and 2 weeks"
		return point{}, i, false
	case sign == 0 && p.has(next, kAgoPost):
		sign, next = -1, next+1
	case p.has(i-1, kFor) && sign == 0 && (p.has(next, kInPost) || p.is(next, ",") && p.has(next+1, kInPost)): // for 3 days from now
		to, ok := shift(p.today, u, most)
		return p.fix(i, interval{from: p.today, to: to - 1, rel: true}), p.skip(next, kInPost), ok
	case p.has(next, kInPost) && sign >= 0:
		sign, next = 1, next+1
	case sign == 0:
		return point{}, i, false
	case sign < 0 && p.has(i, kBefore) && p.has(next, kUnit):
		return point{}, i, false
	case sign > 0 && p.has(i, kIn): // in three weeks: only where the sentence looks ahead, else it is how long
		if p.has(next, kOf) || p.is(next, "'s") || p.direction(i) < 0 && !p.has(next, kNow) || p.has(next, kSince, kAfter, kFrom) {
			return point{}, i, false
		}
	}
	if day, is := p.value(next, kDay); is && sign < 0 && u != uDay && least == most { // "hace tres años hoy"
		at, ok := shift(p.today+day, u, -most)
		return p.fix(i, oneDay(at, true)), next + 1, ok
	}
	if sign < 0 && u == uYear { // nobody counts the years that have passed to the day
		a, ok1 := whole(p.today, u, -most)
		b, ok2 := whole(p.today, u, -least)
		return p.fix(i, interval{from: a.from, to: b.to, rel: true}), next, ok1 && ok2
	}
	from, ok1 := shift(p.today, u, sign*most)
	to, ok2 := shift(p.today, u, sign*least)
	if from > to {
		from, to = to, from
	}
	return p.fix(i, interval{from: from, to: to, rel: true}), next, ok1 && ok2
}

// weekdaysAgo reads "two Saturdays ago" and "vor zwei Samstagen", with the count at word j: the last Saturday is one ago.
func (p *parser) weekdaysAgo(i, j, sign int) (point, int, bool) {
	_, n, next, ok := p.count(j)
	if !ok || n < 1 || n > 50 || sign > 0 || next >= len(p.t) {
		return point{}, i, false
	}
	wd, ok := p.value(next, kWeekday)
	if !ok {
		wd, ok = p.value(next, kWeekdays)
	}
	behind := next + 1
	if sign == 0 && ok {
		if ok = p.has(behind, kAgoPost); ok {
			behind++
		}
	}
	last := p.today - 1 - (weekdayOf(p.today-1)-wd+7)%7
	return p.fix(i, oneDay(last-7*(n-1), true)), behind, ok
}

// stretch reads the last or next units: "the past two weeks", "the 3 next weeks", "los próximos tres días", 过去4天.
func (p *parser) stretch(i int) (point, int, bool) {
	dir, flavour, j, ok := p.shiftAt(i)
	ok = ok && !p.tab.trailing
	if ok && dir == 0 && p.has(j, kNear, kDir) {
		dir, flavour, j, _ = p.shiftAt(j)
	}
	n, next, u := 0, 0, unit(0)
	if ok {
		j = p.skip(j, kOf)
		_, most, k, is := p.count(j)
		if !is || k >= len(p.t) {
			return point{}, i, false
		}
		n, next = most, k
		if u, ok = p.unitAt(next); !ok {
			return point{}, i, false
		}
		next++
	} else {
		_, most, k, is := p.count(i)
		if !is {
			return point{}, i, false
		}
		n, next = most, k
		if dir, flavour, k, ok = p.shiftAt(next); ok {
			if u, ok = p.unitAt(k); !ok || n > 1 && p.matches(p.tab.single, p.t[k].low) { // "turned 90 last month"
				return point{}, i, false
			}
			next = k + 1
		} else if u, ok = p.unitAt(next); ok && p.tab.postposed {
			if dir, flavour, k, ok = p.shiftAt(next + 1); !ok || p.has(next+1, kAgoPost, kInPost) { // "3 hari lalu"
				return point{}, i, false
			}
			next = k
		} else {
			return point{}, i, false
		}
	}
	if dir == 0 || n < 1 || n > 20000 || u == uHour || p.repeats(i) || p.andMore(next) {
		return point{}, i, false
	}
	_ = flavour
	step := 1
	if dir < 0 {
		step = -1
	}
	if u == uQuarter || u == uDecade || u == uHalf {
		a, ok1 := whole(p.today, u, step)
		b, ok2 := whole(p.today, u, step*n)
		return p.fix(i, interval{from: min(a.from, b.from), to: max(a.to, b.to), rel: true}), next, ok1 && ok2
	}
	far, ok := shift(p.today, u, step*n)
	s := interval{from: p.today + 1, to: far, rel: true}
	if dir < 0 {
		s = interval{from: far, to: p.today - 1, rel: true}
	}
	if u == uWorkday && dir > 0 {
		for s.from < s.to && (weekdayOf(s.from) == 0 || weekdayOf(s.from) == 6) {
			s.from++
		}
	}
	return p.fix(i, s), next, ok && s.from <= s.to
}

// andMore reports whether another amount is added at word i.
func (p *parser) andMore(i int) bool {
	if !p.has(i, kAnd) {
		return false
	}
	_, _, _, _, ok := p.amountAt(i + 1)
	return ok
}
