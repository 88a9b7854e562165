package statement

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// outcome is what becomes of a state: what somebody was, and what they are said to have done or become then.
type outcome struct {
	was map[string]bool // stems
	now *cue            // in the newer text, in lower case with single spaces
}

// outcomes are pairs of a state and of what ends it, although it is no opposite of the state.
var outcomes = []outcome{
	{stemSet("pregnant pregnanc expect"), phrase(`(?:gave birth|miscarried|was born|were born|had (?:the|our|their|his|her|a) (?:\w+ )?(?:baby|babies|twins|girl|boy|daughter|son))`)},
	{stemSet("unemploi unemploy jobless"), phrase(`(?:hired|(?:found|got|landed|started|starts|accepted|took) (?:a|an|the|my|his|her|their) (?:\w+ ){0,2}(?:job|position|role|post)|(?:works|started working|starts working|working) (?:at|for|as))`)},
	{stemSet("student studi undergradu"), phrase(`graduated`)},
	{stemSet("engag fianc fiance"), phrase(`(?:got married|married|tied the knot)`)},
	{stemSet("sick ill flu fever covid pneumonia hospit bronchiti unwel"), phrase(`(?:recovered|cured|healthy again|well again|discharged|out of (?:the )?hospital|over the (?:flu|fever|cold))`)},
	{stemSet("crutch cast sprain"), phrase(`(?:healed|cast (?:is|came|was taken) off|without crutches|walk again)`)},
	{stemSet("share flatmat roommat housemat parent"), phrase(`(?:lives?|living) (?:alone|(?:by|on) (?:my|her|his|their)(?:self| own))`)},
	{stemSet("rent"), phrase(`bought (?:a|an|the|my|his|her|their) (?:\w+ )?(?:flat|apartment|house|home|place)`)},
	{stemSet("smoker smoke"), phrase(`(?:non[- ]?smoker|smoke[- ]free)`)},
	{stemSet("singl"), phrase(`(?:(?:is|am|started|been) (?:seeing (?:someone|somebody)|dating)|in a relationship|has an? (?:\w+ )?(?:girlfriend|boyfriend|partner))`)},
	{stemSet("nurseri kindergarten preschool daycar crech"), phrase(`(?:started|starts|began) (?:(?:primary |elementary |big )?school|(?:first|1st) grade|year (?:one|1))`)},
	{stemSet("work job employ"), phrase(`(?:retired|went into retirement|(?:got|was|been|is) (?:laid off|sacked|fired|let go|made redundant))`)},
}

func phrase(p string) *cue {
	return inPlain(`\b` + p + `\b`)
}

// outcomeOf reports whether the newer text tells how a state of its subject came to its end.
func outcomeOf(newer, older Reading) bool {
	if newer.Negated || older.Negated || older.isPast() || len(newer.Words) > longestValue || len(older.Words) > longestValue ||
		!strings.EqualFold(first(newer), first(older)) || strings.HasSuffix(first(newer), "'s") && !newer.sameSubject(older) {
		return false
	}
	return slices.ContainsFunc(outcomes, func(o outcome) bool {
		return older.hasStem(o.was) && (!o.was["job"] || older.holdsJob()) && !older.matches(o.now) && newer.matches(o.now)
	})
}

// sought and obtained are how a text says that somebody wants to have something, and that they have it.
var (
	sought = inBody(`(?i)^\S+ (?:is (?:still )?(?:looking|searching|hunting|saving(?: up)?) for|(?:needs|wants|hopes|plans|is planning|would like|is going) to (?:buy|get|find|adopt|rent|order)|needs an?) `)
	gotten = inBody(`(?i)^\S+ (?:(?:has|have|finally|just|already) )*(?:found|bought|got|adopted|rented|ordered|purchased|picked up) `)
)

// fulfils reports whether the newer text says that its subject has what they looked for by the older one.
func fulfils(newer, older Reading) bool {
	if !older.matches(sought) || newer.Negated || older.Negated || !newer.matches(gotten) || !strings.EqualFold(first(newer), first(older)) {
		return false
	}
	thing := slices.DeleteFunc(text.ContentStems(older.body[len(older.submatch(sought)[0]):]), func(s string) bool { return newsStems[s] })
	return len(thing) > 0 && len(thing) <= 2 && Subset(thing, stemList(newer))
}

func stemList(r Reading) []string {
	out := make([]string, len(r.Words))
	for i, w := range r.Words {
		out[i] = w.Stem
	}
	return out
}

var (
	switchedTo = inBody(`(?i)^\S+ (?:(?:has|have|finally|just|recently|already) )*(?:switched|changed|went over|moved over|migrated|converted|upgraded|updated|downgraded) (?:over )?to `)
	// usesOne finds how a text says which one of its kind somebody uses or has.
	usesOne = inBody(`(?i)^\S+ (?:(?:always|usually|still|only|mostly) )?(?:uses|use|drinks|eats|drives|rides|takes|reads|watches|runs|writes|plays|wears|buys|banks|works|is on|is with|is using|is learning|has)\b`)
)

// switches returns whether the newer text says that its subject goes over to something, in the place of what the older one
// says that they use: a correction where both name where or what for, and a contradiction where that is not said.
func switches(newer, older Reading) Relation {
	if !newer.matches(switchedTo) || newer.Negated || older.Negated || older.isPast() || older.Change != nil ||
		!older.matches(usesOne) || len(newer.Words) > longestInstead || len(older.Words) > longestInstead || !strings.EqualFold(first(newer), first(older)) {
		return Unrelated
	}
	verb := strings.Fields(older.submatch(usesOne)[0])
	skip := setOf(append(text.ContentStems(strings.Join(verb, " ")), "switch", "chang", "convert", "migrat", "upgrad", "updat", "downgrad", "said"))
	common, onlyNew, onlyOld := CountStems(newer.Words, older.Words, skip)
	switch {
	case len(newer.Numbers) == 1 && len(older.Numbers) == 1 && !slices.Equal(newer.Numbers, older.Numbers) &&
		slices.Equal(without(newer.Names, newer.Numbers), without(older.Names, older.Numbers)) && onlyNew == 1 && onlyOld == 1: // another version
		return Correction
	case common > 0 && onlyNew > 0 && onlyNew <= 2 && onlyOld > 0 && onlyOld <= 2:
		return Correction
	case common == 0 && onlyNew == 1 && onlyOld == 1 && slices.Contains([]string{"uses", "use"}, strings.ToLower(verb[len(verb)-1])):
		return Contradiction
	}
	return Unrelated
}

var (
	// backFrom finds from where somebody came back, and stays whether an earlier text says that they are there.
	backFrom = inBody(`(?i)^\S+ (?:(?:is|has|have|finally|just|already) )*(?:(?:came|come|got|flew|arrived) )?(?:back|home|returned)(?: home)? from (?:the |a |an |his |her |their )?(.+)$`)
	stays    = inBody(`(?i)^\S+ (?:is|is still|is currently) (?:on|in|at|away|abroad|visiting|off to|staying)\b`)
	// movedOut finds who left the home that they shared.
	movedOut  = inBody(`(?i)^(\S+(?: \p{Lu}\S*)?) (?:(?:has|have|just|finally|already) )*(?:moved|is moving) out\b`)
	livesWith = inBody(`(?i:\blives? with )(?:\p{Lu}|us\b|(?:my|her|his|their) (?:parents|mother|father|mum|mom|dad|sister|brother|family|partner|girlfriend|boyfriend|husband|wife|grandparents)\b)`)
	shares    = inBody(`(?i)\b(?:roommate|flatmate|housemate|lodger|subtenant|tenant|lives with|live with|shares)\b`)
	// insteadOf finds what somebody does not do after all, where the text says what they do instead.
	insteadOf = inBody(`(?i)\b(?:is|are|going|will|'ll|'re|wants?|decided|booked|plans?|chose|picked)\b.* (?:instead of|rather than) (?:to )?(.+)$`)
	// gotInstead finds in whose place somebody got something.
	gotInstead = inBody(`(?i) (?:instead of|to replace|in place of) (?:my|his|her|their|the) (?:old )?(.+)$`)
	plans      = inBody(`(?i)\b(?:plans?|is going|are going|we're going|i'm going|will|wants? to|booked|intends?|hopes?)\b`)
)

// leaves reports whether the newer text says that its subject is back from where the older one says that they are, or moved
// out from somebody.
func leaves(newer, older Reading) bool {
	if newer.Negated || older.Negated || older.isPast() {
		return false
	}
	if m := newer.submatch(backFrom); m != nil && strings.EqualFold(first(newer), first(older)) && older.matches(stays) {
		return older.has(text.ContentStems(m[1]), newer)
	}
	m := newer.submatch(movedOut)
	return m != nil && older.names(m[1]) && (!older.beginsWith(m[1]) && older.matches(shares) || older.beginsWith(m[1]) && older.matches(livesWith))
}

// replans reports whether the newer text says that something is planned instead of what the older one says.
func replans(newer, older Reading) bool {
	m := newer.submatch(insteadOf)
	if m == nil && newer.matches(gotten) && older.matches(usesOne) && strings.EqualFold(first(newer), first(older)) {
		m = newer.submatch(gotInstead)
	} else if m != nil && !older.matches(plans) {
		return false
	}
	if m == nil || newer.Negated || older.Negated || len(older.Words) > longestInstead || older.isPast() {
		return false
	}
	of := text.ContentStems(strings.TrimRight(m[1], ".!"))
	return len(of) > 0 && len(of) <= 3 && older.has(of, newer)
}

var (
	learned = inBody(`(?i)^\S+ (?:(?:has|have|finally|just) )*(?:learned|learnt|knows|taught \S+self) (?:how )?to (\p{L}+)`)
	cannot  = inBody(`(?i)^\S+ (?:can't|cannot|can not|doesn't know how to|does not know how to|never learned (?:how )?to) (\p{L}+)`)
)

// learns reports whether the newer text says that its subject learned what they cannot do by the older one.
func learns(newer, older Reading) bool {
	n, o := newer.submatch(learned), older.submatch(cannot)
	return n != nil && o != nil && !newer.Negated && strings.EqualFold(first(newer), first(older)) && text.Stem(strings.ToLower(n[1])) == text.Stem(strings.ToLower(o[1]))
}

// attends are the ways of saying where somebody learns or is looked after: at one place of its kind at a time.
var attends = inBody(`(?i)^(.+?) (?:goes to|go to|attends|attend|started at|starts at|transferred to|is at|is in|studies at|is enrolled (?:at|in)|is attending) (?:the |a |an )?(.+)$`)

// attendsAnother reports whether the newer text says that its subject attends another place now, in other words.
func attendsAnother(newer, older Reading) bool {
	if !newer.matches(nowAtEdge) && !newer.matches(newSchool) || newer.Negated || older.Negated || older.isPast() || newer.Change != nil || older.Change != nil {
		return false
	}
	n, o := newer.submatch(attends), older.submatch(attends)
	return n != nil && o != nil && strings.EqualFold(n[1], o[1]) && strings.Contains(n[1], "'s ") && len(strings.Fields(o[2])) <= 3 &&
		newer.hasStem(schoolStems) && older.hasStem(schoolStems)
}

// newSchool finds that somebody begins at a place of learning.
var newSchool = inBody(`(?i) (?:started at|starts at|transferred to) `)

var schoolStems = stemSet("high primari kindergarten nurseri preschool school primari secondari colleg univers grade uni daycar academi gymnasium crech")

var (
	// inOffice finds who is somebody's boss, landlord, … now; office finds who is it, in either order.
	inOffice = inBody(`(?:^|[,;:] |\band )(\p{Lu}\S*(?: \p{Lu}\S*)*) is (?:now )?(\S+'s \p{Ll}+)\b`)
	office   = inBody(`^(?:(\p{Lu}\S*(?: \p{Lu}\S*)*) is (\S+'s \p{Ll}+)|(\S+'s \p{Ll}+) is (\p{Lu}\S*(?: \p{Lu}\S*)*))\b`)
)

// succeeds reports whether the newer text says that another person is now what the older one says that somebody is to its
// subject, as one can be at a time.
func succeeds(newer, older Reading) bool {
	n, o := newer.submatch(inOffice), older.submatch(office)
	if n == nil || o == nil || newer.Negated || older.Negated || !newer.HasPhrase(news) {
		return false
	}
	who, what := o[1]+o[4], o[2]+o[3]
	stem := text.Stem(what[strings.LastIndexByte(what, ' ')+1:])
	return !several[stem] && !kin[stem] && strings.EqualFold(n[2], what) && !strings.EqualFold(strings.Trim(n[1], ".,"), strings.Trim(who, ".,"))
}

// kin are the stems of relatives, who stay what they are.
var kin = stemSet("mother father mom mum dad grandmoth grandfath grandma grandpa parent")

var (
	turned = inBody(`(?i)^(.+?) (?:(?:has|have|just|recently|already|finally) )*turned (\S+?)(?: years old)?(?: (?:today|yesterday|last|on|in) [^,;]*)?[.!]*$`)
	isAged = inBody(`(?i)^(.+?) (?:is|turned)(?: (?:now|only|already))* (\S+?)(?: years old)?(?: now)?[.!]*$`)
)

// ages reports whether the newer text says that its subject turned another number of years than the older one says.
func ages(newer, older Reading) bool {
	n, o := newer.submatch(turned), older.submatch(isAged)
	if n == nil || o == nil || !strings.EqualFold(n[1], o[1]) && !(slices.Contains(older.Names, strings.ToLower(n[1])) && strings.HasSuffix(o[1], " "+n[1])) {
		return false // "Ana's son Max is 7", "Max turned 8"
	}
	return !newer.Negated && !older.Negated && len(newer.Numbers) == 1 && len(older.Numbers) == 1 &&
		!slices.Equal(newer.Numbers, older.Numbers) && slices.Equal(text.Numbers(n[2]), newer.Numbers) && slices.Equal(text.Numbers(o[2]), older.Numbers)
}

// hasNow finds what somebody has now: "has got an electric car now".
var hasNow = inBody(`^(\S+) (?:has|has got|got|drives|rides|uses) (?:an?|the) (?:\p{L}[\p{L}-]* )+now[.!]*$`)

// hasAnother reports whether the newer text says that its subject has another one now of what the older one describes as
// theirs: "Ana's car is a diesel", "Ana has an electric car now".
func hasAnother(newer, older Reading) bool {
	m := newer.submatch(hasNow)
	if m == nil || newer.Negated || older.Negated || older.isPast() || !older.HasPhrase(articles) {
		return false
	}
	words := strings.Fields(strings.TrimRight(newer.body, ".!"))
	stem := text.Stem(strings.ToLower(words[len(words)-2]))
	return !several[stem] && older.subject() == strings.Join(text.ContentStems(m[1]+" "+words[len(words)-2]), " ") && strings.HasPrefix(older.body, m[1]+"'s ")
}

var (
	// paidBack finds who paid money back; owing finds that somebody owes it.
	paidBack = inBody(`(?i)^(\S+)(?: and \S+)? (?:(?:has|have|finally|just|already) )*` +
		`(?:paid (?:\S+ )?back|repaid|gave (?:\S+ )?(?:back the money|the money back)|settled (?:his|her|their) debt)\b`)
	owing = inBody(`(?i) (?:lent|owes?|loaned|borrowed)\b`)
)

// repays reports whether the newer text says that somebody paid back what they owe by the older one.
func repays(newer, older Reading) bool {
	m := newer.submatch(paidBack)
	if m == nil || newer.Negated || older.Negated || !older.matches(owing) || !older.names(m[1]) {
		return false
	}
	to := slices.DeleteFunc(slices.Clone(newer.Names), func(n string) bool { return strings.EqualFold(n, m[1]) })
	return len(to) == 0 || slices.ContainsFunc(to, older.names)
}

var (
	passedAway = inBody(`(?i)^(.+?) (?:(?:has|sadly|just|recently|suddenly) )*(?:died|passed away)\b`)
	dwells     = stemSet("live resid stai")
)

// dies reports whether the newer text says that the one died who lives somewhere by the older one.
func dies(newer, older Reading) bool {
	m := newer.submatch(passedAway)
	return m != nil && !newer.Negated && !older.Negated && older.beginsWith(m[1]) && older.hasStem(dwells)
}

// preferred finds what somebody prefers, and to what.
var preferred = inBody(`(?i)^(\S+) (?:(?:now|actually|generally|really) )*prefers? (.+?)(?: (?:to|over|rather than) (.+?))?` +
	`(?: (?:now|these days|nowadays|again))*[.!]*$`)

// prefersOther reports whether the newer text says that its subject prefers what the older one says they like less.
func prefersOther(newer, older Reading) bool {
	n, o := newer.submatch(preferred), older.submatch(preferred)
	if n == nil || o == nil || newer.Negated || older.Negated || !strings.EqualFold(n[1], o[1]) {
		return false
	}
	less := text.ContentStems(o[3])
	return len(less) > 0 && slices.Equal(text.ContentStems(n[2]), less)
}

var (
	// dosed finds how much of something somebody takes from now on, whoever says so.
	dosed = inBody(`(?i) (?:upped|raised|increased|lowered|reduced|halved|doubled|cut|dropped|bumped|changed|adjusted) ` +
		`(\S+'s|her|his|their|the) (.+?)(?: dose| dosage)? (?:up |down |back )?to `)
	takes = inBody(`(?i)^(\S+) (?:(?:now|still|also) )*(?:takes?|is on|is taking|uses?|injects?) `)
)

// doses reports whether the newer text tells of another dose of what the older one says that somebody takes.
func doses(newer, older Reading) bool {
	n, o := newer.submatch(dosed), older.submatch(takes)
	if n == nil || o == nil || newer.Negated || older.Negated || len(newer.Numbers) == 0 || len(older.Numbers) == 0 || slices.Equal(newer.Numbers, older.Numbers) {
		return false
	}
	who, whose := strings.CutSuffix(n[1], "'s")
	thing := text.ContentStems(n[2])
	if !whose {
		who = strings.TrimSuffix(first(newer), "'s") // "Ana's doctor upped the iron"
	}
	return strings.EqualFold(who, o[1]) && len(thing) > 0 && Subset(thing, stemList(older))
}
