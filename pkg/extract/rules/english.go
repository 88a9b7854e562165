package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// openers are what a sentence may lose from its front if a punctuation mark follows.
var openers = phraseList(`oh, oh wow, oh my, oh my god, oh no, wow, woah, whoa, yeah, yep, yup, yes, no, nope, nah, ok, okay, well, so, haha, hahaha, lol, lmao, okie dokie, okey dokey,
	hey, hi, hello, hiya, sure, thanks, thank you, thanks so much, thank you so much, thanks a lot, never mind, nevermind, thx, cool, nice, great, awesome, aw, aww, awww, hmm, hm,
	um, uh, omg, btw, by the way, anyway, anyways, absolutely, definitely, totally, exactly, congrats, congratulations, right, true, indeed, of course,
	for sure, no problem, no worries, good morning, good evening, good afternoon, good night, hi there, hey there, hello there, ah, alright, man, dude,
	bro, girl, guys, and, but, also, plus, then, besides, anyway so, fyi, just so you know, to be honest, tbh, honestly, actually, i mean, you know, like,
	speaking of which, amazing, wonderful, perfect, good, fine, sorry, sounds good, sounds great, got it, i see, same here, me too, same, yay, phew, ugh,
	please, however, first of all, guess what, you know what, morning all, morning everyone, morning, evening all, hi all, hi everyone, hey everyone, hey all, hello everyone, hello all, can you believe it, can you believe this, good to see you, nice to see you, great to see you, good to hear from you, great to hear from you, lately, remember, note, note to self, reminder`)

// bareOpeners need no mark behind them.
var bareOpeners = phraseList(`and, but, also, plus, oh, well, yeah, yep, yup, ok, okay, haha, lol, lmao, aww, hmm, um, uh, btw, by the way, anyway, fyi, just so you know,
	wow, please remember that, remember that, please note that, note that, keep in mind that, please keep in mind that, bear in mind that, don't forget that,
	keep in mind, bear in mind, please keep in mind, i mean, you know what, also just, and also, but also, and then, so yeah, ugh, phew, omg, ngl, tbh, oof,
	welp`)

var openerSet, bareSet = phraseSet(openers), phraseSet(bareOpeners)

func phraseSet(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, p := range list {
		m[p] = true
	}
	return m
}

// soStarts are the words before which "so" only joins, and "no" answers.
var soStarts = text.NewWordSet(`i im ive we my our he she they it the yeah yes today yesterday now then this there`)

// strip removes openers, the names of those spoken to, and marks from the front.
func (t *drafter) strip(s string) string {
	for range 5 {
		s = strings.TrimLeftFunc(s, func(r rune) bool {
			return !letter(r) && !strings.ContainsRune(`"“($€£#@+-`, r) || r == '-' && !strings.HasPrefix(s, "-0")
		})
		s = strings.TrimLeft(s, "- ")
		rest := t.withoutOpener(s)
		if rest == s || strings.TrimSpace(rest) == "" {
			break
		}
		s = rest
	}
	return t.withoutCall(s)
}

// withoutOpener removes one opener, or a name that is called, from the front.
func (t *drafter) withoutOpener(s string) string {
	end, count := 0, 0
	cutAt := -1
	for i := 0; i < len(s) && count < 4; {
		j := i
		for j < len(s) && (letter(rune(s[j])) || s[j] == '\'' || s[j] >= 0x80 && s[j] != 0xE2) {
			j++
		}
		if j == i {
			break
		}
		count++
		end = j
		p := strings.ToLower(s[:end])
		mark := end < len(s) && strings.ContainsRune(",!.…-–—:;", firstRune(s[end:])) && !strings.HasPrefix(s[end:], "-") || strings.HasPrefix(s[end:], " - ") ||
			strings.HasPrefix(s[end:], " – ")
		switch {
		case (p == "so" || p == "no") && soStarts.Has(firstWord(split(s[end:]))), bareSet[p] && end < len(s), mark && openerSet[p]:
			cutAt = end
		case mark && count <= 2 && t.calls(s[:end]):
			cutAt = end
		case mark && count >= 2 && openerSet[strings.ToLower(s[:max(0, strings.LastIndexByte(s[:end], ' '))])] && t.calls(s[strings.LastIndexByte(s[:end], ' ')+1:end]):
			cutAt = end // Hey Mel, …
		}
		if end >= len(s) || s[end] != ' ' {
			break
		}
		i = end + 1
	}
	if cutAt < 0 {
		return s
	}
	return s[cutAt:]
}

// answered finds how somebody is, and the name of who asked behind it: "I'm doing well Mel, thanks".
var answered = pattern.New(`^((?:I'm|I am|I've been|[Ww]e're|[Ww]e are|[Ii]m|[Aa]m|[Dd]oing) (?:(?:doing|feeling|all|very|pretty|really|quite|just|not too|with) ){0,2}` +
	`(?:well|good|fine|great|ok|okay|alright|right|bad|better|you|proud of you|happy for you)) ([A-Z]\p{L}+)((?:[,.!?].*)?)$`)

// withoutCall removes the name of who is spoken to from the end, "…, Mel!", and from an answer of how the speaker is.
func (t *drafter) withoutCall(s string) string {
	if m := answered.FindStringSubmatch(s); m != nil && len(date.Find(m[2], t.said, string(text.English))) == 0 {
		s = m[1] + m[3]
	}
	end := strings.TrimRightFunc(s, func(r rune) bool { return !letter(r) && r != ')' && r != '"' && r != '?' })
	i := strings.LastIndex(end, ", ")
	if i <= 0 || strings.ContainsRune(end[i+2:], ' ') || !t.calls(end[i+2:]) {
		return s
	}
	return end[:i] + strings.TrimRight(s[len(end):], " ")
}

// calls reports whether a word calls a participant, by name or by its short form.
func (t *drafter) calls(name string) bool {
	if len(name) < 2 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	for _, p := range t.cast.people {
		if p != t.me && hasName(p) && (strings.EqualFold(p, name) || len(name) >= 3 && len(p) > len(name) && strings.EqualFold(p[:len(name)], name) ||
			strings.HasPrefix(strings.ToLower(p), strings.ToLower(name)+" ")) {
			return true
		}
	}
	return false
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// completeFragment returns a sentence that leaves out its "I" with the subject: "Went to Rome", "Gonna try it", "Trying
// to sleep". It returns "" if nothing is missing.
func completeFragment(ps []piece, low string) string {
	i := next(ps, 0)
	for i < len(ps) && adverbs.Has(ps[i].low) {
		j := next(ps, i+1)
		if !spaces(ps, i, j) {
			return ""
		}
		i = j
	}
	if i >= len(ps) {
		return ""
	}
	second := ""
	if j := next(ps, i+1); j < len(ps) && spaces(ps, i, j) {
		second = ps[j].low
	}
	w := ps[i].low
	with := ""
	switch {
	case second == "":
	case (w == "gonna" || w == "going") && strings.Contains(low, " be "), w == "felt" && (second == "so" || second == "like" || second == "really"):
	case w == "not" && (second == "gonna" || second == "going" || ongoing.Has(second)) && !strings.Contains(low, " be "):
		with = "I'm"
	case w == "gonna" || w == "going" && second == "to" || ongoing.Has(w) && !nounVerb(ps, i) && !opensClause(ps, i):
		with = "I'm"
	case (w == "excited" || w == "happy" || w == "glad" || w == "proud" || w == "sorry" || w == "sad" || w == "grateful" || w == "thankful" || w == "thrilled" || w == "stoked") &&
		behind.Has(second):
		with = "I'm"
	case w == "so" && (second == "excited" || second == "proud" || second == "grateful"):
		with = "I'm"
	case w == "been" && (strings.HasSuffix(second, "ing") || second == "to" || second == "in" || second == "a" || adverbs.Has(second)):
		with = "I've"
	case w == "don't" && (second == "know" || second == "think" || second == "like" || second == "have" || second == "want" || second == "need" || second == "remember"):
		with = "I"
	case w == "plan" && second != "to" && second != "on": // "Plan B worked", "plan a trip"
	case omitted.Has(w) && !beForms.Has(second) && second != "you" && !(w == "hope" && (second == "all" || second == "that")):
		with = "I"
	case strings.HasSuffix(w, "ed") && !regularPresent.Has(w) && len(w) > 4 && behind.Has(second) && !passive.Has(w):
		with = "I"
	case (w == "born" || w == "raised") && (second == "and" || second == "in" || second == "on"):
		with = "I was"
	case stated.Has(w) && stateObject.Has(second):
		with = "I"
	}
	if with == "" {
		return ""
	}
	copied := append([]piece(nil), ps...)
	uncapitalise(copied)
	return with + " " + join(copied)
}

// ongoing are verbs whose -ing form opens sentences that leave out "I am".
var ongoing = text.NewWordSet(`trying working thinking looking planning hoping getting feeling doing learning taking making starting having heading
	considering preparing studying training saving moving living staying spending enjoying loving dealing struggling writing building
	dreaming wondering going reading`)

// nounVerb reports whether an -ing form is the subject of a verb, as in "Reading a book helps me" and not in "Trying to
// sleep but it's loud".
func nounVerb(ps []piece, i int) bool {
	for n, j := 0, next(ps, i+1); j < len(ps) && n < 16; n, j = n+1, next(ps, j+1) {
		w := ps[j].low
		if beForms.Has(w) || finite.Has(w) {
			return true
		}
		if clause.Has(w) && !(n == 0 && w == "as") || strings.Contains(ps[j].low, "'") || ps[j-1].low == "" && strings.Contains(ps[j-1].text, " -") {
			return false
		}
	}
	return false
}

// opensClause reports whether the -ing form at piece i belongs to a main clause that follows: "Having two kids, I …",
// "Starting January I'll …", "Going forward, use …".
func opensClause(ps []piece, i int) bool {
	first := next(ps, i+1)
	if first < len(ps) && ps[first].low == "forward" && ps[i].low != "looking" {
		return true
	}
	for n, j := 0, first; j < len(ps) && n < 16; n, j = n+1, next(ps, j+1) {
		base, _, _ := strings.Cut(ps[j].low, "'")
		if base != "i" && base != "we" && base != "my" && base != "our" {
			continue
		}
		before := strings.TrimSpace(ps[j-1].text)
		if before == "," || (ps[i].low == "starting" || ps[i].low == "beginning") && n > 0 && base != "my" && base != "our" {
			return true
		}
	}
	return false
}

// finite are verbs of a third person; clause are words that begin another clause.
var (
	finite = text.NewWordSet(`has can makes helps gives keeps will helped made brings takes feels would requires sounds seems means gave brought took
		reminds inspires lets allows provides offers teaches improves builds creates leads costs changes shows becomes adds boosts
		reduces saves prevents involves matters hurts calms relaxes`)
	clause = text.NewWordSet(`but so because since which who what how if when while where as i we you he she it they`)
)

var beForms = text.NewWordSet("is was are were isn't wasn't be")

// omitted are verbs that open sentences that leave out "I".
var omitted = text.NewWordSet(`went got had made took saw met came bought ran spent found felt can't won't couldn't didn't haven't gotta wanna
	need want wish hate miss enjoy prefer plan hope forgot lost won left thought kept grew ate wrote began sold gave paid quit sent drove flew slept`)

// stated verbs do so only before something that is loved: "Love is blind" does not.
var (
	stated      = text.NewWordSet(`love like loved liked appreciate`)
	stateObject = text.NewWordSet(`the this that these those my our to how it a going spending being having your her his`)
	passive     = text.NewWordSet(`based given packed filled loaded located inspired surrounded known called named covered compared followed needed
		allowed related`)
	behind = text.NewWordSet(`a an the my our to up out with it in on from for about at by some two three that this of and over his her their him them`)
)

// introduction finds a speaker's own name at the beginning of a sentence, and what is said behind it.
var introduction = pattern.New(`(?i)^(I'm|I am|Im|My name is|My name's|This is) ([\p{L}'-]+(?: [\p{L}'-]+)?)(?:,| and|, and) (.+)$`)

// onlyName finds a sentence that says nothing but its speaker's name.
var onlyName = pattern.New(`(?i)^(?:I'm|I am|Im|My name is|My name's|This is) ([\p{L}'-]+(?: [\p{L}'-]+)?)[.!]?$`)

// withoutName takes the name out of a sentence in which its speaker, who is known by it, tells it: "I'm Ann, I live in
// Rome" says where Ann lives.
func (t *drafter) withoutName(s string) string {
	m := introduction.FindStringSubmatch(s)
	if m == nil || t.message.Speaker == "" {
		if m := onlyName.FindStringSubmatch(s); m != nil && strings.EqualFold(m[1], t.message.Speaker) {
			return ""
		}
		return s
	}
	name, speaker := strings.ToLower(m[2]), strings.ToLower(t.message.Speaker)
	if name != speaker && !strings.HasPrefix(speaker, name+" ") {
		return s
	}
	switch rest := m[3]; firstWord(split(rest)) {
	case "i", "i'm", "i've", "i'll", "im", "my", "we", "we're", "our":
		return capitalise(rest)
	case "a", "an", "the":
		if strings.HasPrefix(strings.ToLower(m[1]), "i") {
			return m[1] + " " + rest
		}
	}
	return s
}
