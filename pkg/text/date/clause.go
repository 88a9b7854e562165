package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parts reports whether a mark stands between clauses. A picture does, as a full stop would.
func parts(mark string) bool {
	r, _ := utf8.DecodeRuneInString(mark)
	return strings.ContainsRune(",;:—–(.!?…", r) || unicode.Is(unicode.So, r)
}

// reach is how many words a time is read with on each side. No clause is as long; a text without marks can be a megabyte of
// times, each of which would be read with all the others.
const reach = 50

// reachCJK is reach in bytes, for languages that are read by their characters.
const reachCJK = 600

// clauseStart returns the first word of the clause that ends before word i.
func (p *parser) clauseStart(i int) int {
	for j := i - 1; j >= max(0, i-reach); j-- {
		t := p.t[j]
		if t.mark && parts(t.low) && (t.low != "," || i-j > 1) && !p.inNumber(j) {
			return j + 1
		}
		if p.matches(p.tab.breaks, t.low) || p.reported(j) {
			return j
		}
	}
	return max(0, i-reach)
}

// clauseEnd returns the index behind the clause that begins at word i.
func (p *parser) clauseEnd(i int) int {
	most := min(len(p.t), i+1+reach)
	for j := i + 1; j < most; j++ {
		t := p.t[j]
		if t.mark && parts(t.low) && !p.inNumber(j) || p.matches(p.tab.breaks, t.low) {
			return j
		}
	}
	return most
}

// inNumber reports whether the mark at j stands behind a number, as in "20. Februar".
func (p *parser) inNumber(j int) bool {
	return j > 0 && j+1 < len(p.t) && p.t[j].low == "." && (p.t[j-1].digits > 0 || p.t[j-1].senses != nil)
}

// ownSubject reports whether the words of a clause show that it has a verb of its own, in the present: a pronoun as its
// subject, or "is".
func (p *parser) ownSubject(from, to int) bool {
	for j := from; j < to; j++ {
		if p.matches(p.tab.subject, p.t[j].low) || p.matches(p.tab.present, p.t[j].low) {
			return true
		}
	}
	return false
}

// reported reports whether a clause that somebody said begins at word j, without a word that joins it: "said he comes",
// "told me the bus is". It has a tense of its own, which is not that of the saying.
func (p *parser) reported(j int) bool {
	if j < 1 || j >= len(p.t) || p.t[j].mark || !p.reports() {
		return false
	}
	said := j - 1
	if p.is(said, ",") {
		said--
	}
	word, _, _ := strings.Cut(p.t[j].low, " ") // "que viene"
	subject := p.matches(p.tab.subject, word) || p.matches(p.tab.breaks, word)
	switch {
	case said < 0 || p.t[said].mark || !subject && !p.has(j, kArticle) && !p.matches(p.tab.possessive, p.t[j].low):
		return false
	case p.matches(p.tab.saying, p.t[said].low) || subject && p.matches(p.tab.telling, p.t[said].low):
		return true
	case said < 1 || !p.matches(p.tab.telling, p.t[said-1].low):
		return false
	case subject:
		return true
	}
	for k := j + 1; k < min(len(p.t), j+reach) && !p.t[k].mark; k++ { // "told me the story" has no verb of its own
		low := p.t[k].low
		if p.matches(p.tab.present, low) || p.matches(p.tab.future, low) || p.matches(p.tab.stating, low) || p.matches(p.tab.stating, low+"s") {
			return true
		}
	}
	return false
}

// reports reports whether the text has a verb of saying.
func (p *parser) reports() bool {
	if p.saying == 0 {
		p.saying = -1
		for _, t := range p.t {
			if len(t.low) > 2 && t.digits == 0 && p.matches(p.tab.reporting, t.low) {
				p.saying = 1
				break
			}
		}
	}
	return p.saying > 0
}

// told reports whether the word at j opens what somebody is told to do: "said to come", "told my sister to come".
func (p *parser) told(j int) bool {
	if !p.reports() || !p.matches(p.tab.infinitive, p.t[j].low) || j+1 >= len(p.t) || p.t[j+1].mark || p.t[j+1].digits > 0 || p.t[j+1].senses != nil {
		return false
	}
	for k := j - 1; k >= 0 && k >= j-3 && !p.t[k].mark; k-- {
		if k == j-1 && p.matches(p.tab.saying, p.t[k].low) || p.matches(p.tab.telling, p.t[k].low) {
			return true
		}
	}
	return false
}

// habitual reports whether the clause around word i says what happens again and again.
func (p *parser) habitual(i int) bool {
	if p.tab.habit == nil {
		return false
	}
	if p.tab.cjk {
		for k := i - 1; k >= max(0, i-reach) && (!p.t[k].mark || p.is(k, "、")); k-- {
			if p.matches(p.tab.habit, p.t[k].low) {
				return true
			}
		}
		return false
	}
	start, end := p.clauseStart(i), p.clauseEnd(i)
	if start == 0 && p.is(end, ",") { // a date in front
		end = p.clauseEnd(end)
	}
	for k := start; k < end; k++ {
		if p.matches(p.tab.habit, p.t[k].low) && !p.isPast(k) {
			return p.direction(i) >= 0
		}
	}
	return false
}

// inProgress reports whether a clause around word i says in the present what somebody is about to do, and not what they do
// every time: "I'm moving in autumn".
func (p *parser) inProgress(i int) bool {
	for j, end := p.clauseStart(i), p.clauseEnd(i); j < end; j++ {
		if p.matches(p.tab.present, p.t[j].low) && j+1 < len(p.t) && p.matches(p.tab.progressive, p.t[j+1].low) {
			return true
		}
	}
	return false
}

// wasThen reports whether the date at i is that of a number which another one followed: "up from 80 in June".
func (p *parser) wasThen(i int) bool {
	if !p.has(i-1, kIn) || p.t[i].digits > 0 {
		return false
	}
	for k := i - 2; k >= 0 && k >= i-4 && !p.t[k].mark; k-- { // from 80 kg
		if p.t[k].digits > 0 {
			for k >= 2 && p.t[k-1].mark && p.t[k-2].digits > 0 { // 1,100
				k -= 2
			}
			return p.has(k-1, kFrom) || k > 1 && p.t[k-1].mark && p.has(k-2, kFrom) // from $80
		}
	}
	return false
}

// calledOff reports whether the day at i is that of an appointment of which its clause says that it does not take place
// then: "the class on Tuesday was cancelled". The day lies ahead whatever the tense of the cancelling is. On the day in
// "on Tuesday I cancelled the class" it was done.
func (p *parser) calledOff(i int) bool {
	if p.tab.cancelled == nil || !p.has(i, kWeekday) && !p.t[i].ordinal {
		return false
	}
	if p.tab.cjk {
		return p.calledOffCJK(i)
	}
	start, end, verb := p.clauseStart(i), p.clauseEnd(i), -1
	for j := start; j < end && verb < 0; j++ {
		if low := p.t[j].low; p.matches(p.tab.cancelled, low) || j+1 < end && p.matches(p.tab.cancelled, low+" "+p.t[j+1].low) {
			verb = j
		}
	}
	if verb < 0 {
		return false
	}
	before, of := i-1, p.is(i+1, "'s")
	for ; before >= start && p.has(before, kArticle, kOn, kOf, kIn); before-- {
		of = of || p.has(before, kOf)
	}
	if before < start {
		return of && verb > i
	}
	noun := p.t[before].low
	switch {
	case of:
		return true
	case verb > i:
		return before > verb || !p.t[before].mark && !p.matches(p.tab.subject, noun) && !p.matches(p.tab.auxiliary, noun) && !p.matches(p.tab.being, noun) &&
			!p.matches(p.tab.present, noun) && !p.isPast(before)
	case before == i-1 && p.matches(p.tab.possessive, noun) && i+1 < len(p.t) && !p.t[i+1].mark && p.t[i+1].senses == nil: // my Tuesday class
		return true
	}
	return verb > 0 && (p.is(verb-1, "have") || p.is(verb-1, "has") || p.is(verb-1, "'ve"))
}

// calledOffCJK reports the same where the day describes a noun: 金曜日の会議.
func (p *parser) calledOffCJK(i int) bool {
	behind := p.s[p.t[i].end:min(len(p.s), p.t[i].end+reachCJK)]
	described := strings.HasPrefix(behind, "の") || strings.HasPrefix(behind, "的") || strings.HasPrefix(behind, " ") || strings.HasPrefix(behind, "의")
	if end := strings.IndexAny(behind, "。！？!?\n，、,"); end >= 0 {
		behind = behind[:end]
	}
	return described && p.matches(p.tab.cancelled, behind)
}

// takesEffect reports whether something holds from the date at i on: "promoted as of 1 December", whose day may lie ahead of
// the deed.
func (p *parser) takesEffect(i int) bool {
	for i--; p.has(i, kArticle, kOn) && !p.has(i, kFrom, kMovedTo); i-- {
	}
	return p.has(i, kFrom, kMovedTo) && !p.has(i, kSince, kOf)
}

// forbade reports whether the verb of saying at j tells what is to be done, or is not, up to the date at i: "said rest until
// the 9th", "told me no coffee until the 9th".
func (p *parser) forbade(j, i int) bool {
	from, said := j+1, p.matches(p.tab.saying, p.t[j].low)
	if !said {
		if !p.matches(p.tab.telling, p.t[j].low) {
			return false
		}
		if p.tab.progressive != nil { // "told me no coffee", and not "found no flat"
			from++
		}
	}
	for i--; p.has(i, kArticle); i-- {
	}
	if !p.has(i, kUntil) {
		return false
	}
	if said && from < i && p.tab.saying != nil { // "said rest until the 9th"
		return true
	}
	for ; from < i; from++ {
		if p.matches(p.tab.forbidding, p.t[from].low) {
			return true
		}
	}
	return false
}

// isSince reports whether a word that means "from" and "since" at word j stands behind what is, so that the date at i lies
// back: "è in ospedale da mercoledì".
func (p *parser) isSince(j, i int) bool {
	if !p.has(i, kWeekday, kMonth) || p.has(i+1, kTo, kUntil) {
		return false
	}
	is := false
	for k := p.clauseStart(j); k < j; k++ {
		if p.isFuture(k) {
			return false
		}
		is = is || p.matches(p.tab.being, p.t[k].low)
	}
	return is
}

// announces reports whether the clause at word start, behind a comma, has a tense of its own, though no word of it shows
// one: it begins with a verb where verbs need no subject, "empiezo otra vez en enero", or with a noun behind what has just
// happened, "had the scan this morning, results on Tuesday".
func (p *parser) announces(start int) bool {
	if start < 2 || !p.is(start-1, ",") || p.t[start].mark || p.t[start].senses != nil || p.tab.cjk {
		return false
	}
	low := p.t[start].low
	if p.tab.subjectless {
		return !p.tab.words[low] || p.matches(p.tab.reflexive, low)
	}
	if p.tab.words[low] || p.t[start].upper && !p.tab.nouns {
		return false
	}
	for j := p.clauseStart(start - 1); j < start; j++ {
		if n, ok := p.value(j, kDay); ok && (n == 0 || n == -1) {
			return true
		}
	}
	return false
}
