package date

import (
	"strings"
	"unicode/utf8"
)

// direction says where a sentence looks from word i: -1 back, 1 ahead, 0 undecided. Undecided sentences are in the
// present; what they name without a year lies ahead.
//
// The words that carry the tense are sought in the clause around i, nearest first, before i and then behind it. Where
// the clause has none and no subject of its own, the clause before it counts.
func (p *parser) direction(i int) int {
	if p.wasThen(i) {
		return -1
	}
	if p.calledOff(i) {
		return 1
	}
	d := p.sentenceDirection(i)
	for j := i - 1; d == 0 && j >= 0 && j >= i-2; j-- { // what holds since then, if the sentence does not look ahead
		if strings.HasPrefix(p.t[j].low, "desde") {
			return -1
		}
	}
	if d == 0 && p.sinceDeed(i) {
		return -1
	}
	return d
}

// sinceDeed reports whether the date at i is that of what something holds since: "since the operation in March". A clause
// behind "since", which may mean "because", has a verb or its subject.
func (p *parser) sinceDeed(i int) bool {
	for j := i - 1; j >= 0 && j >= i-6 && !p.t[j].mark; j-- {
		low := p.t[j].low
		if p.has(j, kSince) && !p.has(j, kFrom) || strings.HasPrefix(low, "desde") && p.has(i-1, kOf) {
			return true
		}
		if p.cue(j, i) != 0 || p.matches(p.tab.present, low) || p.matches(p.tab.being, low) || p.matches(p.tab.subject, low) || p.matches(p.tab.stating, low) {
			return false
		}
	}
	return false
}

func (p *parser) sentenceDirection(i int) int {
	if p.tab.cjk {
		return p.directionCJK(i)
	}
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		if p.has(j, kUntil) {
			break
		}
		if p.has(j, kSince) && (!p.has(j, kFrom) || p.isSince(j, i)) {
			return -1
		}
		if !p.has(j, kArticle, kOn) {
			break
		}
	}
	if p.movedUntil(i) {
		for j, end := p.clauseStart(i), p.clauseEnd(i); j < end; j++ { // "wurde auf den 3. Mai verschoben"
			if p.moves(j) {
				return 1
			}
		}
	}
	lo := i
	for {
		start := p.clauseStart(lo)
		for j := lo - 1; j >= start; j-- {
			if d := p.cue(j, i); d != 0 {
				return d
			}
			if p.matches(p.tab.stating, p.t[j].low) && !p.has(j-1, kArticle) && (j == 0 || !p.matches(p.tab.possessive, p.t[j-1].low)) {
				return 0
			}
		}
		if lo == i {
			end := p.clauseEnd(i)
			for j := i + 1; j < end; j++ {
				if d := p.cue(j, i); d != 0 {
					return d
				}
			}
			if start > 0 && p.is(i-1, "by") { // "passed B2, next is C1 by summer"
				return 1
			}
			if start == 0 && p.inFront(i) { // its clause goes on behind the comma
				for j := end; j < len(p.t) && j < end+14; j++ {
					if d := p.cue(j, i); d != 0 {
						return d
					}
				}
			}
		}
		if start == 0 && lo != i && lo > 0 && !p.ownSubject(start, i) { // "Two days late, on Saturday, it arrived."
			for j, end := i+1, p.clauseEnd(i)+14; j < len(p.t) && j < end; j++ {
				if d := p.cue(j, i); d != 0 {
					return d
				}
			}
		}
		if start > 1 && p.is(start-1, ",") && p.tab.inverted && p.matches(p.tab.telling, p.t[start-2].low) && !p.ownSubject(start, p.clauseEnd(i)) {
			return 1 // "hat mich gebeten, am Freitag zu kommen"
		}
		if start == 0 || p.ownSubject(start, i) || p.reported(start) || lo == i && p.announces(start) {
			return 0
		}
		lo = start - 1
		if lo <= 0 || lo < i-2*reach {
			return 0
		}
	}
}

// inFront reports whether the date at i, in the first clause of the text, stands before the clause that it is of. What
// opens a statement is a subject and has a verb of its own: a pronoun, or a noun with an article or a possessive. "On the
// evening of 3 February" has none, and before a bare noun stands no preposition: "results out 3 February".
func (p *parser) inFront(i int) bool {
	if i > 3 && (p.has(0, kArticle) || p.matches(p.tab.possessive, p.t[0].low)) || p.ownSubject(0, i) {
		return false
	}
	return i < 2 || p.t[0].senses != nil || p.tab.words[p.t[0].low]
}

// likeInfinitive are English participles that are the infinitive too: "should have come".
var likeInfinitive = map[string]bool{"come": true, "become": true, "run": true, "put": true, "cut": true, "let": true, "hit": true, "set": true, "read": true, "shut": true}

// cue returns where the word at j looks, 0 if it carries no tense. i is the date that is asked about.
func (p *parser) cue(j, i int) int {
	t := p.t[j]
	if t.mark || t.digits > 0 {
		return 0
	}
	if (t.low == "have" || t.low == "'ve") && j > 0 && j+1 < len(p.t) && p.matches(p.tab.counterfactual, p.t[j-1].low) && likeInfinitive[p.t[j+1].low] {
		return -1
	}
	if p.isFuture(j) {
		start := p.clauseStart(j)
		for k := j - 1; k >= start && k >= j-2; k-- { // I was going
			if p.isPast(k) && !p.matches(p.tab.arranged, p.t[k].low) && !p.reported(start) {
				return -1
			}
		}
		return 1
	}
	if j < i && p.told(j) {
		return 1
	}
	if p.moves(j) && !p.isPast(j) || p.matches(p.tab.arranged, t.low) && j < i && p.intent(j+1, i) {
		return 1
	}
	if p.isPast(j) {
		switch {
		case j < i && p.forbade(j, i):
			return 1
		case p.lasts(j, i):
			return 0
		}
		if p.tab.inverted && j+1 < len(p.t) && !p.t[j+1].mark && p.matches(p.tab.future, p.t[j+1].low) { // "gefeiert wird am Samstag"
			return 1
		}
		if j > 1 && (p.is(j-1, "have") || p.is(j-1, "'ve")) && p.matches(p.tab.counterfactual, p.t[j-2].low) {
			return -1
		}
		for k := j - 1; k >= 0 && k >= j-4 && !p.t[k].mark; k-- {
			if p.matches(p.tab.present, p.t[k].low) && k >= j-2 {
				return 0
			}
			if p.isFuture(k) {
				return 1
			}
		}
		return -1
	}
	return 0
}

// isFuture reports whether the word at j looks ahead. "May" is a month.
func (p *parser) isFuture(j int) bool {
	return p.matches(p.tab.future, p.t[j].low) && !(p.has(j, kMonth) && p.t[j].upper && !p.t[j].first)
}

// movedUntil reports whether the words before the date at i say that it is the aim of a move: "to Thursday".
func (p *parser) movedUntil(i int) bool {
	for i--; p.has(i, kArticle); i-- {
	}
	return p.has(i, kTo, kUntil, kMovedTo)
}

// moves reports whether the word at j, or it and the next one, is a verb that moves an appointment.
func (p *parser) moves(j int) bool {
	return p.matches(p.tab.moved, p.t[j].low) || j+1 < len(p.t) && !p.t[j+1].mark && p.matches(p.tab.moved, p.t[j].low+" "+p.t[j+1].low)
}

// isPast reports whether the word at j is a past form.
func (p *parser) isPast(j int) bool {
	low := p.t[j].low
	if p.t[j].upper && !p.t[j].first { // a name, or a German noun
		return false
	}
	return p.matches(p.tab.past, low) && !p.matches(p.tab.unpast, low) && !p.matches(p.tab.correcting, low) && !p.isFinite(j) && !p.isState(j) && !p.hasGot(j)
}

// hasGot reports whether the word at j is the English "got" of "I've got an exam", which is what one has.
func (p *parser) hasGot(j int) bool {
	if p.t[j].low != "got" {
		return false
	}
	for k := j - 1; k >= 0 && k >= j-2 && !p.t[k].mark; k-- { // I've only got
		switch p.t[k].low {
		case "have", "has", "'ve", "'s", "haven't", "hasn't", "ive":
			return true
		}
	}
	return false
}

// isState reports whether the word at j is a participle that with "be" says what is: "est fermé", "è chiusa".
func (p *parser) isState(j int) bool {
	if p.tab.perfect == nil || p.matches(p.tab.perfect, p.t[j].low) {
		return false
	}
	for k := j - 1; k >= 0 && k >= j-3 && !p.t[k].mark; k-- { // "n'est pas encore fermé"
		if p.matches(p.tab.being, p.t[k].low) {
			return k == 0 || !p.matches(p.tab.reflexive, p.t[k-1].low)
		}
	}
	return false
}

// isFinite reports whether the word at j, which may be a past participle, is a form of the present: no auxiliary stands in
// its clause.
func (p *parser) isFinite(j int) bool {
	if !p.matches(p.tab.finite, p.t[j].low) {
		return false
	}
	for k, end := p.clauseStart(j), p.clauseEnd(j); k < end; k++ {
		if p.matches(p.tab.auxiliary, p.t[k].low) {
			return false
		}
	}
	return true
}

// intent reports whether what lies between an arrangement and its date says that the date is what was arranged: "for",
// or few words.
func (p *parser) intent(from, i int) bool {
	if from >= i-3 {
		return true
	}
	for j := from; j < i; j++ {
		if p.has(j, kFor) {
			return true
		}
	}
	return false
}

// directionCJK reads the tense of the sentence around word i from its characters: those of its own clause, then those
// of the clauses behind it, then, unless a new clause begins with word i, those of the clauses before it.
func (p *parser) directionCJK(i int) int {
	const stops, commas = "。！？!?\n", "。！？!?\n，,；;"
	at := p.t[i].start
	first, end := max(0, at-reachCJK), min(len(p.s), at+reachCJK)
	behind := end
	if n := strings.IndexAny(p.s[at:end], commas); n >= 0 {
		behind = at + n
	}
	if n := strings.IndexAny(p.s[at:end], stops); n >= 0 {
		end = at + n
	}
	start, clause := first+afterLast(p.s[first:at], stops), first+afterLast(p.s[first:at], commas)
	pieces := []string{p.s[clause:behind], p.s[behind:end]}
	if strings.TrimSpace(p.s[clause:at]) != "" {
		pieces = append(pieces, p.s[start:clause])
	}
	for _, piece := range pieces {
		switch {
		case p.matches(p.tab.future, piece):
			return 1
		case p.matches(p.tab.past, piece):
			return -1
		}
	}
	return 0
}

// afterLast returns where a text goes on behind the last of some characters.
func afterLast(s, characters string) int {
	i := strings.LastIndexAny(s, characters)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}
