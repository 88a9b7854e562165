package state

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// Change is a statement about an earlier state: that it ended, or that it continues in another form.
type Change struct {
	Subject string   // as the sentence begins with it; "" where the sentence begins with what changed
	Of      []string // the stems of what changed, at least one
	Kind    ChangeKind
}

// ChangeKind is the kind of earlier statements that a change concerns.
type ChangeKind int

// The kinds of changes.
const (
	EndOfAny        ChangeKind = iota // whatever the subject does or is: stopped, quit, gave up
	EndOfWork                         // an employment or a membership: left, resigned from
	EndOfPossession                   // what the subject has or uses: sold, gave away, lost
	EndOfRelation                     // a couple: broke up with
	EndOfPlan                         // an appointment or a plan: was cancelled
	NewTime                           // an appointment that has another time: was moved to Friday
	NewName                           // something that has another name: renamed
	NewOne                            // another one in its place: has a new doctor
	EndOfTask                         // what is done one day: finished
	Mistaken                          // what was said by mistake: I meant this, not that
	NewValue                          // something that is otherwise: switched the laptop to Linux
)

// changeLead is what a sentence may have before its subject: who said it, and words that announce news.
const (
	changeLead = `^(?:` + saidBy + `)?` + announced
	saidBy     = `\p{Lu}[\p{L}.' -]{0,40}?(?: said| told [^:]{1,40}): |(?:The \p{Ll}+|\p{Lu}[\p{L}.'-]*(?: \p{Lu}[\p{L}.'-]*){0,3}): `
	announced  = `(?i:(?:(?:it )?turn(?:s|ed) out|sorry|actually|correction|no|update|oh|wait|well|news|unfortunately|sadly|finally|luckily|thankfully|so|and|but|guess what|as of \p{L}+|` +
		`(?:(?:the|his|her|their|my|\p{L}+'s) )?(?:doctors?|dentist|vet|allergist|tests?|results?|lab|blood test)s? (?:says?|said|showed?|shows|found|confirmed|told [^:,]{1,20}))[,:.!]* (?:that )?)*`
)

const (
	changeSubject = `(?P<s>(?:The |Their |His |Her )?\p{L}[\p{L}.-]*(?:'s(?: \p{Ll}[\p{L}-]*){1,2})?(?: \p{Lu}[\p{L}.-]*)*)`
	changeAdverbs = `(?: (?:has|have|had|finally|just|recently|already|also|now|actually|officially|completely|decided to))*`
	changeObject  = `(?P<x>[^,;:!?()]+)`
	sinceLong     = ` since (?i:\d{4}|(?:\d{1,2}\S{0,2} (?:of )?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|christmas|easter|new year|halloween|` +
		`last (?:year|month|week|spring|summer|autumn|fall|winter)|(?:the|their|his|her|my) (?:\p{L}+ )?(?:surgery|operation|accident|divorce|birth|diagnosis|pregnancy|injury|scare))`
	// changeWhen is what may stand behind a verb without an object: "expired last week", and not "ran out of milk", "is over the moon".
	changeWhen = `(?: (?:now|already|today|yesterday|early|at|last|this|next|in|on|for|since|after|a|two|three|\d+|due|because|by|again|then|so)(?: [\p{L}\d]+){0,3})?(?: \([^()]*\))?`
	passive    = ` (?:was|is|has been|have been|were|are|got|had to be|will be)(?: (?:now|just|unfortunately|finally|already|officially))* `
)

// changeForms are the forms of sentences that end something, in the order in which they are tried.
var changeForms = []struct {
	kind ChangeKind
	Form
}{
	{Mistaken, newForm("", "not", changeLead+changeSubject+changeAdverbs+` [^,;:!?]+, not `+changeObject)},
	{NewName, newForm("", "name to", changeLead+changeSubject+changeAdverbs+` (?:changed|changes) (?:(?:her|his|their|its) )?(?:\p{Ll}+ )?(?P<x>name) to `)},
	{NewName, newForm("", "goes by, answers to", changeLead+changeSubject+changeAdverbs+` (?P<x>goes by|answers to) `)},
	{NewName, newForm("", "rename", changeLead+changeSubject+changeAdverbs+` renamed (?:their |his |her |its |the )?(?P<x>\p{Ll}[\p{L} -]*?)(?: to)? \p{Lu}`)},
	{NewTime, newForm("", "moved, postponed, rescheduled, pushed, brought, delayed, shifted, put off, put back, extended, rebooked, bumped",
		changeLead+`(?P<x>\p{L}[^,;:!?()]*?)`+passive+`(?:moved|postponed|rescheduled|rebooked|bumped|pushed back|pushed|brought forward|delayed|shifted|put off|put back|extended)(?: from [^,;:!?]+?)? (?:to|until|till|by) `)},
	{NewTime, newForm("", "moved, postponed, rescheduled, pushed, delayed, shifted",
		changeLead+changeSubject+changeAdverbs+` (?:postponed|rescheduled|moved|pushed back|pushed|delayed|shifted) (?:their |his |her |the |my |our )(?P<x>[^,;:!?()]+?)(?: from [^,;:!?]+?)? (?:to|until|till) `)},
	{NewTime, newForm("", "now", changeLead+`(?P<x>\p{L}[^,;:!?()]*?) (?:is|are|starts|will be) now (?:on|at|from) (?:the )?(?i:\d|noon|midday|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{Ll}*\.? \d)`)},
	{EndOfPlan, newForm("", "cancel, called off, fell through, is off, was off",
		changeLead+`(?P<x>\p{L}[^,;:!?()]*?)(?:`+passive+`(?:cancelled|canceled|called off|off(?: again)?[.!,]?$)|(?: just)? fell through)`)},
	{EndOfPlan, newForm("", "cancel, called off",
		changeLead+changeSubject+changeAdverbs+` (?:cancelled|canceled|called off) `+changeObject)},
	{EndOfRelation, newForm("", "broke up, broken up, split up, divorced, separated",
		changeLead+`(?P<s>\p{Lu}[\p{L}.-]*) and (?P<x>[\p{L}.-]+(?: [\p{L}.-]+)?) (?:have |has |just |recently |finally |are )*(?:broke up|broken up|split up|divorced|getting divorced|separated)`)},
	{EndOfRelation, newForm("", "broke off, broken off, called off, ended",
		changeLead+changeSubject+changeAdverbs+` (?:broke|broken|called|ended)(?: off)? (?:(?:the|their|his|her|my|our) (?:engagement|relationship|marriage|affair)|things|it) with `+changeObject)},
	{EndOfRelation, newForm("", "broke up, broken up, split up, divorced, separated, left",
		changeLead+changeSubject+changeAdverbs+` (?:broke up with|broken up with|split up with|divorced|separated from) `+changeObject)},
	{EndOfWork, newForm("", "notice, resignation",
		changeLead+changeSubject+changeAdverbs+` (?:handed in|gave|given|put in|submitted|turned in) (?:(?:their|his|her|my|\p{L}+(?: \p{Ll}+)?) )?(?:notice|resignation)(?: (?:at|to|with|from)) `+changeObject)},
	{EndOfWork, newForm("", "left, resigned, retired, fired, laid off, dropped out, stepped down, let go, sacked, redundant, withdrew, expelled, kicked, walked out",
		changeLead+changeSubject+changeAdverbs+`(?: (?:was|were|got|is))? (?:left|resigned (?:from|as)|retired (?:from|as)|fired (?:from|by)|laid off (?:from|by)|let go (?:from|by)|sacked (?:from|by)|`+
			`made redundant (?:at|by|from)|dropped out of|withdrew from|expelled from|kicked out of|walked out (?:of|on)|stepped down (?:from|as)|pulled out of|logged off from) `+changeObject)},
	{EndOfPossession, newForm("", "sold, gave away, given away, rid of, threw, traded, returned, lost, scrapped, donated, binned, wrecked, total, rehomed, parted with",
		changeLead+changeSubject+changeAdverbs+` (?:sold|gave away|given away|got rid of|gotten rid of|threw out|threw away|thrown out|traded in|returned|lost|scrapped|donated|binned|wrecked|totall?ed|rehomed|parted with) `+changeObject)},
	{EndOfPossession, newForm("", "had to", changeLead+changeSubject+` had to (?:sell|give away|get rid of|return|scrap|rehome) `+changeObject)},
	{EndOfAny, newForm("", "had to", changeLead+changeSubject+` had to (?:quit|give up|stop|drop|drop out of) `+changeObject)},
	{EndOfPossession, newForm("", "away, out, back", changeLead+changeSubject+changeAdverbs+` (?:gave|given|threw|thrown|sent) (?P<x>[^,;:!?()]+?) (?:away|out|back)\b`)},
	{EndOfPossession, newForm("", "traded, swapped, replaced, exchanged",
		changeLead+changeSubject+changeAdverbs+` (?:traded|swapped|replaced|exchanged) (?P<x>[^,;:!?()]+?) (?:in\b|for |with |by )`)},
	{EndOfPossession, newForm("", "died, passed away, put down, put to sleep, ran away, stolen, written off",
		changeLead+`(?P<x>\p{L}[^,;:!?()]*?) (?:(?:has|have|had|just|recently|sadly|finally|was|were|got|to be|is|are) )*(?:died|passed away|put down|put to sleep|run over|ran away|run away|stolen|written off|dead)\b`)},
	{EndOfAny, newForm("", "lapse, expire, over, run out, ran out, shut down, closed, ended, finished, discontinued",
		changeLead+`(?P<x>\p{L}[^,;:!?()]*?) (?:(?:has|have|had|just|recently|finally|now|is|are|was|were|been) )*(?:lapsed|expired|ran out|run out|over|ended|shut down|closed down|discontinued|finished)`+changeWhen+`[.!]?$`)},
	{EndOfAny, newForm("", "lapse, expire, run out, slide", changeLead+changeSubject+changeAdverbs+` lets? (?P<x>[^,;:!?()]+?) (?:lapse|expire|run out|slide|go)\b`)},
	{EndOfTask, newForm("", "finish, complete", changeLead+changeSubject+changeAdverbs+` (?:finished|completed)(?: (?:reading|watching|writing))? `+changeObject)},
	{NewOne, newForm("", "a new", changeLead+changeSubject+changeAdverbs+` (?:has|have|got|gotten|gets|found|hired|chose|started) a new (?P<x>\p{Ll}+(?: number| address| plate)?)\b`)},
	{EndOfAny, newForm("", "quit, stop, up, ended, deleted, uninstalled, unsubscribed, dropped, done with, moved out, moved away, switched, changed, migrated, "+
		"ditch, dump, ax, abandon, lost interest, off, got over, outgr, scrapp, swore, grew out",
		changeLead+changeSubject+changeAdverbs+` (?:quits?|stopped|stops|(?:is |are )?giving up|gave up(?: on)?|given up(?: on)?|gives up(?: on)?|ended|deleted|uninstalled|unsubscribed from|`+
			`dropped|(?:is|are) done with|moved out of|moved away from|(?:switched|changed|migrated)(?: over)? from|ditched|dumped|axed|abandoned|lost interest in|`+
			`(?:came|went|got|gone|is|are|signed|swore|sworn) off|got over|gotten over|outgrew|outgrown|grew out of|grown out of|swore off|packed in|jacked in|backed out of|called it quits with) `+changeObject)},
	{EndOfAny, newForm("", "months, years, ages, weeks, while",
		changeLead+changeSubject+` (?:hasn't|haven't|has not|have not|hadn't) (?:been to |gone to |had |used |eaten |drunk |watched |played |worn |smoked |driven |practi[sc]ed |read |cooked |ridden |taken |bought |touched |opened |attended )(?P<x>[^,;:!?()]+?) (?:in|for) (?:(?:\p{Ll}+|\d+) )?(?:months|years|ages|weeks|a while|a long time)`)},
	{EndOfAny, newForm("", "fear, phobia", changeLead+changeSubject+` (?:is|are|got|has got|has gotten) over (?:their|his|her|my) (?:fear|phobia) of `+changeObject)},
	{EndOfAny, newForm("", "months, years, ages, weeks", changeLead+changeSubject+` (?:hasn't|haven't|has not|have not) (?P<x>smoked|vaped|gambled|skied|danced|painted|hiked|climbed|exercised|meditated|cycled|surfed|knitted|fished|sailed|camped|golfed|drunk|driven|swum|ridden) (?:in|for) (?:(?:\p{Ll}+|\d+) )?(?:months|years|ages|weeks)`)},
	{EndOfAny, newForm("", "since", changeLead+changeSubject+` (?:hasn't|haven't|has not|have not) (?:\p{Ll}+(?:ed|en)|drunk|had|done) (?:an? )?(?P<x>[^,;:!?()]+?)`+sinceLong)},
	{EndOfAny, newForm("", "since", changeLead+changeSubject+` (?:hasn't|haven't|has not|have not) (?P<x>\p{Ll}+(?:ed|en))`+sinceLong)},
	{EndOfPlan, newForm("", "decided against, decided not, not going to, won't be, pulled out, backed out, not happening, changed",
		changeLead+changeSubject+changeAdverbs+` (?:(?:decided against|decided not to|(?:is|are) not (?:going to|gonna)|isn't going to|aren't going to|won't be|pulled out of|backed out of|bailed on|changed (?:their|his|her|my) mind about)) `+changeObject)},
	{NewValue, newForm("", "switched, changed, moved, swapped, upgraded, converted, replaced",
		changeLead+changeSubject+changeAdverbs+` (?:switched|changed|moved|upgraded|downgraded|converted|swapped|replaced) (?:their |his |her |the |its |my |our )?(?P<x>[^,;:!?()]+?) (?:over )?(?:to|for|with) `)},
}

// changeEnds are the words behind which what ended is no longer named.
var changeEnds = []string{" and ", " but ", " because ", " since ", " which ", " who ", " so ", " for good", " last ", " yesterday", " today", " this ", " a week",
	" a month", " a year", " two ", " three ", " after ", " when ", " before ", " ago", " in favour", " altogether", " completely", " as of ", " until ", " at the end",
	" on mon", " on tue", " on wed", " on thu", " on fri", " on sat", " on sun", " in jan", " in feb", " in mar", " in apr", " in may", " in jun", " in jul", " in aug",
	" in sep", " in oct", " in nov", " in dec", " instead", " now", " again"}

// ChangeOf returns the change that a sentence in the third person states in its first or second clause. It returns
// false if there is none: the sentence asks, doubts or denies the change, or states no ending.
func ChangeOf(s string) (Change, bool) {
	if len(s) > longestStatement || strings.ContainsAny(s, `?"“`) {
		return Change{}, false
	}
	if c, ok := changeOfClause(s); ok || unsureChange.MatchString(s) {
		return c, ok
	}
	at := clauseEnd.FindStringIndex(s)
	if at == nil {
		return Change{}, false
	}
	if c, ok := changeOfClause(s[at[1]:]); ok { // a clause with a subject of its own
		return c, true
	}
	subject, _, _ := strings.Cut(WithoutLead(s), " ")
	return changeOfClause(subject + " " + s[at[1]:])
}

// clauseEnd is where a second clause begins.
var clauseEnd = pattern.New(`(?:[,;]|\.) (?:and |but |so |because )?| (?:and|but|because) `)

// changeOfClause is ChangeOf for the clause that a sentence begins with.
func changeOfClause(s string) (Change, bool) {
	low := strings.ToLower(s)
	for _, f := range changeForms {
		if !f.cues.In(low) {
			continue
		}
		groups, _ := f.capture(s)
		if groups == nil || f.kind != Mistaken && text.Negated(groups[""]) && !endingDenial.MatchString(groups[""]) || unsureChange.MatchString(groups[""]) {
			continue
		}
		x := cutAt(" "+strings.ToLower(groups["x"]), " ", changeEnds)
		x = strings.TrimPrefix(x, " going to ") // "stopped going to Mass"
		if f.kind != EndOfPlan {                // a trip to Rome is one plan; a job is quit to travel
			x = cutAt(x, " ", []string{" to "})
		}
		if f.kind == EndOfPossession { // what it was given for is another thing
			x = cutAt(x, " ", []string{" for "})
		}
		of := text.ContentStems(x)
		if f.kind == EndOfPlan && groups["s"] == "" && strings.ToLower(groups["x"]) != groups["x"] && len(of) == 1 && !strings.Contains(groups["x"], " ") {
			continue // somebody was off
		}
		if len(of) > 0 {
			return Change{Subject: groups["s"], Of: of, Kind: f.kind}, true
		}
	}
	return Change{}, false
}

// speakerLead and newsLead are the two parts of a lead. Apart they are small enough for the quicker of regexp's ways to search.
var (
	speakerLead = pattern.New(`^(?:` + saidBy + `)`)
	newsLead    = pattern.New(`^` + announced)
)

// WithoutLead returns a sentence without who said it and the words that announce news: "Ana said: Turns out Ben
// smokes." is "Ben smokes."
func WithoutLead(s string) string {
	s = s[len(speakerLead.FindString(s)):]
	return s[len(newsLead.FindString(s)):]
}

// endingDenial finds denials that end something.
var endingDenial = pattern.New(`(?i)\b(?:decided not to|(?:is|are) not going to|(?:is|are)n't going to|won't be|(?:hasn't|haven't|has not|have not|hadn't) .* (?:in|for|since) )`)

// unsureChange is in sentences in which nothing changed yet. May is a month.
var unsureChange = pattern.New(`(?i)\b(?:if|might|(?-i:may)|could|would|should|wants?|hopes?|wishes|almost|nearly|unless|tried|never|thinking|considering|in case|when|found (?:it|them))\b`)
