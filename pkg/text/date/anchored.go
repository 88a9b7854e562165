package date

// anchored reads periods named by their distance from another: "the week before 8 June", "two days after Christmas",
// "3 weeks from tomorrow", "the weekend of May 6".
func (p *parser) anchored(i int) (match, bool) {
	_, n, u, j, ok := p.amountAt(i)
	single := false
	wd, isDay := p.value(i, kWeekday)
	if !ok {
		n, j, single = 1, i+1, true
		if u, ok = p.unitAt(i); !ok && !isDay || u == uHour && !isDay {
			return match{}, false
		}
	} else {
		isDay = false
	}
	if m, ok := p.counted(i, n, u, j); ok && !single {
		return m, true
	}
	j = p.skip(j, kMarkDay)
	lasting := !single && p.has(i-1, kFor)
	if lasting && p.is(j, ",") && p.has(j+1, kFrom) {
		j++
	}
	how := 0
	switch {
	case p.has(j, kBefore):
		how = -1
	case p.has(j, kAfter), !single && p.has(j, kFrom):
		how = 1
	case single && !isDay && p.has(j, kOf):
	default:
		return match{}, false
	}
	k := p.skip(j+1, kArticle, kOn)
	if how == 0 && u != uWeek && u != uWeekend && u != uDay && u != uWorkweek {
		return match{}, false
	}
	pt, next, ok := p.end(k)
	if !ok || pt.d != 0 && pt.m == 0 && !pt.fixed && pt.wd < 0 && !(how == 0 && p.t[k].ordinal) {
		return match{}, false
	}
	base, ok := p.resolve(pt)
	if !ok {
		return match{}, false
	}
	days := base.days()
	count := n
	day := base.from
	if base.core != 0 {
		day = base.core
	} else if how > 0 {
		day = base.to
		if days > 1 {
			day++
			n--
		}
	}
	switch {
	case how == 0:
		if days > 9 && u != uDay || u == uDay && days > 1 {
			return match{}, false
		}
		if base.core != 0 {
			base.from = base.core
		}
		if wd := weekdayOf(base.from); u == uWeekend && (wd == 1 || wd == 2) {
			base.from -= 3
		}
		s, ok := whole(base.from, u, 0)
		s.rel = base.rel
		return match{s, i, next}, ok
	case isDay && single:
		step := how
		for day += step; weekdayOf(day) != wd; day += step {
		}
		return match{oneDay(day, base.rel), i, next}, true
	case u == uWeekend:
		off := -1
		if how > 0 {
			if off = 0; weekdayOf(day) == 6 || weekdayOf(day) == 0 {
				off = 1
			}
		}
		s, ok := whole(day, u, off)
		s.rel = base.rel
		return match{s, i, next}, ok
	case lasting && p.has(j, kFrom): // for three days from Monday
		to, ok := shift(base.from, u, count)
		return match{interval{from: base.from, to: to - 1, rel: base.rel}, i, next}, ok
	case single && u != uDay:
		from, ok1 := shift(day, u, -1)
		s := interval{from: from, to: day - 1, rel: base.rel}
		if how > 0 {
			if days == 1 || base.core != 0 {
				day++
			}
			to, ok2 := shift(day, u, 1)
			s, ok1 = interval{from: day, to: to - 1, rel: base.rel}, ok2
		}
		return match{s, i, next}, ok1
	}
	at, ok := shift(day, u, how*n)
	return match{oneDay(at, base.rel), i, next}, ok
}

// counted reads n units, read from word i to j, that are counted from a day near the present one: "a week tomorrow", "a
// week on Sunday", "three weeks ago yesterday".
func (p *parser) counted(i, n int, u unit, j int) (match, bool) {
	if !p.known || u == uHour {
		return match{}, false
	}
	if day, next, ok := p.anniversary(j + 1); ok && p.has(j, kAgoPost) {
		at, ok := shift(day, u, -n)
		return match{oneDay(at, true), i, next}, ok
	}
	if u != uWeek && u != uFortnight || p.direction(i) < 0 || p.has(i-1, kFor) || p.is(i-1, "be") {
		return match{}, false
	}
	if day, ok := p.value(j, kDay); ok && day >= 0 && p.tab.progressive != nil {
		at, ok := shift(p.today+day, u, n)
		return match{oneDay(at, true), i, j + 1}, ok
	}
	if wd, ok := p.value(j+1, kWeekday); ok && p.has(j, kHence) {
		at, ok := shift(p.today+(wd-weekdayOf(p.today)+7)%7, u, n)
		return match{oneDay(at, true), i, j + 2}, ok
	}
	return match{}, false
}

// weeksFrom reads the weeks that stand behind a weekday: "Freitag in zwei Wochen", "Montag vor drei Wochen", "Sunday week".
// Where it is not sure whether they are counted from the nearest such day or from the present week, it is no day. The last
// result reports whether there are any.
func (p *parser) weeksFrom(wd, next int) (interval, int, bool) {
	sign, n, u, behind, ok := 1, 1, uWeek, next+1, p.has(next, kHence) && p.has(next, kUnit) && p.endsAt(next+1)
	if !ok {
		if p.has(next, kAgoPre) {
			sign = -1
		} else if !p.has(next, kInPre) {
			return interval{}, next, false
		}
		_, n, u, behind, ok = p.amountAt(next + 1)
		switch {
		case ok && u == uDay && (n == 7 || n == 8): // "Mittwoch in acht Tagen"
			n, u = 1, uWeek
		case ok && u == uDay && n == 14:
			n, u = 2, uWeek
		case !ok || u != uWeek && u != uFortnight:
			return interval{}, next, false
		}
	}
	if u == uFortnight {
		n *= 2
	}
	near := p.today + (wd-weekdayOf(p.today)+7)%7
	if sign < 0 {
		near = p.today - 1 - (weekdayOf(p.today-1)-wd+7)%7
	}
	s := oneDay(near+sign*7*n, true)
	if behind > next+1 && s.from != mondayOf(p.today)+(wd+6)%7+sign*7*n {
		s.to = s.from - 1
	}
	return s, behind, true
}

// anniversary reads the day at word i of which an amount of time ago is said: "eight years ago this Saturday", "ten years ago
// tomorrow".
func (p *parser) anniversary(i int) (day, next int, ok bool) {
	if n, ok := p.value(i, kDay); ok {
		return p.today + n, i + 1, true
	}
	if !p.has(i, kDir, kNear) || !p.has(i+1, kWeekday) {
		return 0, i, false
	}
	pt, next, ok := p.shifted(i, false)
	return pt.from, next, ok && pt.fixed && pt.days() == 1
}

// fromNear reads an amount of time before the day at word i, which lies n days from the present one: "heute vor drei Jahren",
// "oggi tre anni fa".
func (p *parser) fromNear(i, n int) (point, int, bool) {
	_, count, u, next, ok := p.amountAt(p.skip(i+1, kAgoPre))
	if !ok || u == uDay || u == uWorkday {
		return point{}, i, false
	}
	if !p.has(i+1, kAgoPre) {
		if !p.has(next, kAgoPost) {
			return point{}, i, false
		}
		next++
	}
	day, ok := shift(p.today+n, u, -count)
	return p.fix(i, oneDay(day, true)), next, ok
}
