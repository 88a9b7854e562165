package date

// outsideNames returns a match that belongs to no name. Of one that does it returns the end alone.
func (p *parser) outsideNames(m match) (match, bool) {
	if p.inName(m) {
		return match{next: m.next}, false
	}
	return m, true
}

// inName reports whether what reads as a time is a part of a name: of a work, a brand or a street. Its words are
// capitalised, and so is the word behind it ("Friday Night Lights", "12 May Street", "The Thursday Murder Club"), or they
// follow a word for what has such names ("the song Manic Monday", "Straße des 17. Juni", "rue du 4 Septembre").
func (p *parser) inName(m match) bool {
	day := p.t[m.first].digits > 0 || p.has(m.first, kNumber, kOrdinal)
	if !p.has(m.first, kWeekday, kMonth, kHoliday, kSeason) && !(day && m.next-m.first <= 3 && p.has(m.next-1, kMonth)) {
		return false
	}
	return p.compound(m) || p.goesOnAsName(m) || p.followsTitled(m) || p.endsName(m)
}

// anyOne reports whether a weekday stands behind "a", which may be any: "I'm a Monday person".
func (p *parser) anyOne(m match) bool {
	v, ok := p.value(m.first-1, kNumber)
	return ok && v == 1 && m.next-m.first == 1 && p.has(m.first, kWeekday) && p.t[m.first-1].digits == 0
}

// goesOnAsName reports whether a capitalised word follows, which is no reason by itself in a language that capitalises
// nouns, where a sentence may begin, and behind a preposition: "on Friday Ana comes".
func (p *parser) goesOnAsName(m match) bool {
	next := m.next
	if p.tab.nouns || next >= len(p.t) || !p.t[next].upper || p.t[next].mark || p.t[next].low == "i" || p.t[next].senses != nil && !p.has(next, kTitled) || !p.t[m.next-1].upper {
		return false
	}
	i := m.first - 1
	for p.has(i, kArticle) && !p.t[i].upper {
		i--
	}
	if p.is(i, "at") && p.t[m.first].digits > 0 { // an address
		return true
	}
	return i >= 0 && !p.t[i].mark && !p.has(i, kOn, kIn, kUntil, kFrom, kFor, kBefore, kAfter, kDir) && !p.t[m.first].first
}

// endsName reports whether the words before belong to a title, which writes even little words with a capital ("The Man
// Who Was Thursday"), or the ordinal of the day has one ("the Fifth of November").
func (p *parser) endsName(m match) bool {
	i := m.first - 1
	if p.tab.nouns || i < 1 || p.t[m.first].first || p.t[i].mark {
		return false
	}
	little := p.t[i].upper && !p.t[i].first && p.t[i].low != "i" && p.tab.words[p.t[i].low] && p.t[i].senses == nil
	return little && p.t[m.first].upper || p.has(m.first, kOrdinal) && p.t[m.first].upper && !p.has(i, kOn)
}

// followsTitled reports whether the words before name what has a name of its own, and all words in between begin with a
// capital letter or join the others.
func (p *parser) followsTitled(m match) bool {
	capitals := 0
	for j := m.first; j < m.next; j++ {
		if p.t[j].upper || p.t[j].digits > 0 {
			capitals++
		}
	}
	for i := m.first - 1; i >= 0 && i >= m.first-5 && !p.t[i].mark; i-- {
		switch {
		case p.has(i, kTitled):
			return capitals >= 2
		case p.t[i].upper:
			capitals++
		case !p.has(i, kArticle, kOf):
			return false
		}
	}
	return false
}

// compound reports whether a weekday in front of a clause is the first part of its subject, about which something is said in
// general: "Sunday roast is", "Wednesday Addams is". The day of an event has words behind it that say what happens.
func (p *parser) compound(m match) bool {
	noun, is := m.next, m.next+1
	if p.tab.progressive == nil || m.next-m.first != 1 || !p.has(m.first, kWeekday) || !p.t[m.first].first || is+1 >= len(p.t) || p.t[noun].mark || p.t[noun].senses != nil {
		return false
	}
	return !p.tab.words[p.t[noun].low] && p.matches(p.tab.present, p.t[is].low) && (p.has(is+1, kArticle) || p.matches(p.tab.possessive, p.t[is+1].low))
}
