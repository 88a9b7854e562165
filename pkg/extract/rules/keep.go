package rules

import (
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
)

// openers are what a sentence may lose from its front where a mark follows.
var openers = lines(`oh, oh wow, oh my, oh my god, oh no, wow, woah, whoa, yeah, yep, yup, yes, no, nope, nah, ok, okay, well, so, haha, hahaha, lol, lmao,
	hey, hi, hello, hiya, sure, thanks, thank you, thanks so much, thank you so much, thanks a lot, thx, cool, nice, great, awesome, aw, aww, awww, hmm, hm,
	um, uh, omg, btw, by the way, anyway, anyways, absolutely, definitely, totally, exactly, congrats, congratulations, right, true, indeed, of course,
	for sure, no problem, no worries, good morning, good evening, good afternoon, good night, hi there, hey there, hello there, ah, alright, man, dude,
	bro, girl, guys, and, but, also, plus, then, besides, anyway so, fyi, just so you know, to be honest, tbh, honestly, actually, i mean, you know, like,
	speaking of which, amazing, wonderful, perfect, good, fine, sorry, sounds good, sounds great, got it, i see, same here, me too, same, yay, phew, ugh,
	please, however, first of all, guess what, you know what, good to see you, nice to see you, great to see you, good to hear from you, great to hear from you, lately`)

// bare openers need no mark behind them.
var bareOpeners = lines(`and, but, also, plus, oh, well, yeah, yep, yup, ok, okay, haha, lol, lmao, aww, hmm, um, uh, btw, by the way, anyway, fyi, just so you know,
	wow, please remember that, remember that, please note that, note that, i mean, you know what, also just, and also, but also, and then, so yeah`)

var openerSet, bareSet = phraseSet(openers), phraseSet(bareOpeners)

func phraseSet(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, p := range list {
		m[p] = true
	}
	return m
}

// soStarts are the words before which "so" only joins.
var soStarts = words(`i im ive we my our he she they it the yeah yes today yesterday now then this there`)

// strip takes away openers, the names of those spoken to, and marks at the front.
func (t *teller) strip(s string) string {
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

// withoutOpener takes one opener, or a name that is called, from the front.
func (t *teller) withoutOpener(s string) string {
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
		case p == "so" && soStarts[first(split(s[end:]))], bareSet[p] && end < len(s), mark && openerSet[p]:
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

// withoutCall takes the name of who is spoken to from the end: "…, Mel!"
func (t *teller) withoutCall(s string) string {
	end := strings.TrimRightFunc(s, func(r rune) bool { return !letter(r) && r != ')' && r != '"' && r != '?' })
	i := strings.LastIndex(end, ", ")
	if i <= 0 || strings.ContainsRune(end[i+2:], ' ') || !t.calls(end[i+2:]) {
		return s
	}
	return end[:i] + strings.TrimRight(s[len(end):], " ")
}

// calls reports whether a word calls somebody who takes part: a name or its short form.
func (t *teller) calls(name string) bool {
	if len(name) < 2 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	for _, p := range t.cast.people {
		if p != t.me && named(p) && (strings.EqualFold(p, name) || len(name) >= 3 && len(p) > len(name) && strings.EqualFold(p[:len(name)], name) ||
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

// content counts the words of a sentence that say something: no stop words, no
// words of politeness, no names of those who talk.
func (t *teller) content(s string) int {
	n, cjk := 0, 0
	for _, term := range analysis.Terms(s) {
		switch {
		case term.Stop, polite[term.Text]:
		case term.Name && (t.calls(s[term.Start:term.Start+min(len(term.Text), term.End-term.Start)]) || strings.EqualFold(term.Text, t.me)):
		case term.Text[0] >= 0xE2 && term.End-term.Start == 3 && len([]rune(term.Text)) == 1:
			cjk++
		default:
			n++
		}
	}
	return n + cjk/2
}

// polite are words that chat is made of and that state nothing by themselves.
var polite = words(`awesome amazing great good nice cool wonderful fantastic lovely sweet incredible impressive neat perfect fine true
	right glad happy welcome agree exactly absolutely totally definitely completely sound sounds sounded look looks looked hear
	heard hearing know think guess bet understand luck congrats congratulations cheers appreciate kind word words thing things
	way day time idea haha hahaha lmao wow yay aww woah gosh god man dude guys bro thought worry worries problem
	fun interesting exciting beautiful gorgeous adorable cute inspiring super pretty really lot lots sure course indeed
	hope hoping wait care soon later tonight talk chat catch bye goodbye hello morning evening afternoon night take keep
	love like want need say said tell mean feel feels seem seems see guess share sharing yup yep nope yes no oh hmm
	awww ooh oooh ahh ugh phew rock rocks rad dope sick epic bestie friend buddy pal though maybe anyway anytime
	better best bad sad tough rough crazy wild proud support supportive encouragement encouraging kindness excited thrilled`)

// chatter are phrases of sentences that state nothing.
var chatter = lines(`take care, see you, talk soon, talk to you, catch you later, have fun, have a great, have a good, have a nice, keep it up,
	keep up the, keep me posted, keep in touch, keep going, let me know, no problem, no worries, you're welcome, my pleasure, can't wait to hear,
	can't wait to see, looking forward to it, looking forward to hearing, i agree, i understand, i hear you, i bet, me too, same here, of course,
	thanks for, thank you for, way to go, well done, good job, great job, nice job, good luck, go for it, hope you, hope all, hope that, good for you,
	so happy for you, glad to hear, happy to hear, sorry to hear, glad you, happy for you, proud of you, you got this, you've got this, hang in there,
	how are you, how have you been, what's up, what's new, long time no see, good to see, great to see, nice to see, good to hear, great to hear,
	nice to hear, i'm here for you, i'm always here, here for you, let's catch up, sounds like, that sounds, that's so, that's really, that is so,
	what a, never thought of it, i see, i know right, you're right, you are right, that's right, don't worry, appreciate it, appreciate that,
	appreciate your, appreciate you, means a lot, mean a lot, i feel you, here's a, here is a, check it out, recommend it, fingers crossed, awesome news, great news, agree more, feel free to, small world, check this out, take a look, i'm glad`)

// cheers are verbs that open encouragement.
var cheers = words(`keep focus believe trust stay enjoy try let take give look check imagine feel hang go just never come have be make do don't follow embrace
	cherish continue congrats kudos props greetings anything what how bet`)

// dangling are the subjects that only the sentence before explains.
var dangling = words(`it it's its that that's this these those they they're they've their them he she he's she's his her him there there's here here's which
	who both none each everyone everything nothing something such`)

// pronounAs gives the sentence with "he" or "she" at its front replaced; "" where there is none.
func pronounAs(ps []piece, about string) string {
	i := next(ps, 0)
	if i >= len(ps) {
		return ""
	}
	base, rest, _ := strings.Cut(ps[i].low, "'")
	with := ""
	switch {
	case base != "he" && base != "she" && base != "his" && base != "her":
		return ""
	case base == "his", base == "her":
		j := next(ps, i+1)
		if j >= len(ps) || !spaces(ps, i, j) || analysis.Terms(ps[j].text)[0].Stop {
			return ""
		}
		with = about + "'s"
	case rest == "s":
		with = about + " is"
		if j := next(ps, i+1); j < len(ps) && (pastPart(ps[j].low) || ps[j].low == "been") {
			with = about + " has"
		}
	case rest == "ll":
		with = about + " will"
	case rest == "d":
		with = about + " would"
	case rest == "":
		with = about
	default:
		return ""
	}
	return join(ps[:i]) + with + join(ps[i+1:])
}

// kin are the people somebody has.
var kin = words(`sister brother mom mother mum dad father son daughter wife husband partner girlfriend boyfriend fiancé fiancée friend boss manager
	colleague coworker roommate neighbor neighbour aunt uncle cousin grandma grandmother grandpa grandfather niece nephew teacher coach
	mentor therapist doctor landlord grandson granddaughter stepson stepdaughter mother-in-law father-in-law ex`)

// persons are the people a sentence names, and "my sister" as the speaker's.
func persons(s, me string) []string {
	var out []string
	for _, n := range analysis.Names(s) {
		head, _, _ := strings.Cut(n, " ")
		if analysis.KnownPerson(head) {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	ps := split(s)
	for i := range ps {
		if ps[i].low != "my" {
			continue
		}
		for j, n := next(ps, i+1), 0; j < len(ps) && n < 2; j, n = next(ps, j+1), n+1 {
			if !kin[ps[j].low] {
				continue
			}
			who := me + "'s " + strings.TrimSpace(join(ps[i+1:j+1]))
			if k := next(ps, j+1); k < len(ps) && spaces(ps, j, k) && len(ps[k].text) > 2 && ps[k].text[0] >= 'A' && ps[k].text[0] <= 'Z' {
				who = ps[k].text // my sister Lena
			}
			out = append(out, who)
			break
		}
	}
	return out
}

// untag cuts a short question off a statement: "I moved to Lisbon, can you
// believe it?" asks is false where a statement remains.
func untag(s string, ps []piece, low string) (string, []piece, string, bool) {
	i := strings.LastIndexAny(s, ",;")
	if i < 12 {
		return s, ps, low, true
	}
	tail := phrase(split(s[i:]))
	if n := strings.Count(tail, " ") - 1; n > 5 || !all.in(tail).has(markTag) {
		return s, ps, low, true
	}
	if head := strings.ToLower(s); startsQuestion[first(split(head))] {
		return s, ps, low, true
	}
	s = strings.TrimRightFunc(s[:i], unicode.IsSpace) + "."
	ps = split(s)
	return s, ps, phrase(ps), false
}

var tags = lines(`you know, right, huh, can you, isn't it, don't you, didn't you, aren't you, do you, what about you, how about you, and you, eh, ok, okay, yeah, you, isn't he, isn't she,
	don't they, did you, have you, won't you, are you, is it, does it, doesn't it, hasn't it`)

var startsQuestion = words(`what when where who whom whose which why how is are am was were do does did have has had can could will would should shall may might isn't aren't don't
	doesn't didn't haven't hasn't can't couldn't won't wouldn't shouldn't any`)
