package date

// inName reports whether what reads as a time is a part of a name: of a work, a brand or a street. Its words are
// capitalised, and so is the word behind it ("Friday Night Lights", "12 May Street", "The Thursday Murder Club"), or they
// follow a word for what has such names ("the song Manic Monday", "Straße des 17. Juni", "rue du 4 Septembre").
func (p *parser) inName(m match) bool {
	day := p.t[m.first].digits > 0 || p.has(m.first, kNumber, kOrdinal)
	if !p.has(m.first, kWeekday, kMonth, kHoliday, kSeason) && !(day && m.next-m.first <= 3 && p.has(m.next-1, kMonth)) {
		return false
	}
	return p.goesOnAsName(m) || p.followsTitled(m)
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
