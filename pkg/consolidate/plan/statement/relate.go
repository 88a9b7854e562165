package statement

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// Relation is the relation of a later statement to an earlier one.
type Relation int

// The relations that Relate returns.
const (
	Unrelated     Relation = iota // both may hold
	Correction                    // the later one plainly takes back the earlier one
	Contradiction                 // one denies what the other states
)

// Relate returns the relation of a later statement to an earlier one. A correction may be a contradiction too.
func Relate(newer, older Reading) Relation {
	if newer.Foreign != nil {
		return relateForeign(newer, older)
	}
	value := otherValue(newer, older)
	switch {
	case ends(newer, older) && strings.Contains(older.body, " and "): // one of several things
		return Contradiction
	case ends(newer, older), value == Correction, instead(newer, older), corrects(newer, older), outcomeOf(newer, older),
		learns(newer, older), succeeds(newer, older), ages(newer, older), counts(newer, older), fulfils(newer, older),
		leaves(newer, older), replans(newer, older), dies(newer, older), repays(newer, older), prefersOther(newer, older),
		doses(newer, older), renumbers(newer, older):
		return Correction
	case contradicts(newer, older), opposes(newer, older), renews(newer, older):
		if newer.HasPhrase(news) {
			return Correction
		}
		return Contradiction
	case goesOtherwise(newer, older), attendsAnother(newer, older), hasAnother(newer, older):
		return Contradiction
	}
	if s := switches(newer, older); s != Unrelated {
		return s
	}
	return value
}

// Revises reports whether a text may revoke an earlier one with which it shares few words: it is short, and states a
// change, denies something, or states something that has an opposite.
func (r Reading) Revises() bool {
	if len(r.Words) > longestValue {
		return r.Foreign != nil && len(r.Foreign.Words) <= longestValue
	}
	return r.Foreign != nil || r.Change != nil || r.Negated || r.HasPhrase(news) || r.hasStem(dislikes) || r.HasPhrase(corrections) ||
		slices.ContainsFunc(revising, r.matches) ||
		slices.ContainsFunc(outcomes, func(o outcome) bool { return r.matches(o.now) }) ||
		slices.ContainsFunc(opposites, func(o [2]map[string]bool) bool { return r.hasStem(o[0]) || r.hasStem(o[1]) }) ||
		(len(r.Numbers) > 0 || len(r.Dates) > 0 || r.HasPhrase(calls)) && r.HasPhrase(copulas)
}

// revising are forms of texts that revoke an earlier one.
var revising = []*cue{dosed, paidBack, passedAway, gotten, backFrom, movedOut, insteadOf, switchedTo, learned, inOffice, turned, newSchool, gotInstead, newNumber}

// news are words that announce that something is otherwise than before.
var news = NewPhrases("now", "nowadays", "these days", "new", "moved", "changed", "went up", "went down", "up to", "down to", "grew to", "shrank to", "climbed to", "jumped to", "rose", "dropped", "fell",
	"increased", "decreased", "raised", "lowered", "sorry", "actually", "correction", "turns out", "turned out", "i meant", "mistake", "postponed",
	"rescheduled", "delayed", "extended", "decided", "again", "anymore", "any more", "no longer", "since today", "from now on", "as of", "updated", "replaced", "instead")

// newsStems are the stems of those words that are no stop words: they are no part of what is said.
var newsStems = stemSet(`new move chang went go up down grew shrank climb jump rise rose drop fall fell increas decreas rais lower sorri actual correct turn meant mean mistak
	postpon reschedul delai delay extend decid longer anymor updat replac instead nowadai nowadays day todai today current final just becom becam get got`)

func stemSet(words string) map[string]bool { return setOf(strings.Fields(words)) }

func setOf(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

var (
	shifts = NewPhrases("went up", "went down", "dropped to", "rose to", "fell to", "grew to", "shrank to", "climbed to", "jumped to", "increased to", "decreased to", "changed to", "moved to", "moved up", "up to", "down to")
	calls  = NewPhrases("name is", "is called", "is named", "is now called", "is now named")
)

var copulas = NewPhrases("is", "are", "am", "costs", "weighs", "starts", "begins", "takes place", "was", "has")

// opposites are pairs of sets of stems. A subject cannot have a stem of both sets.
var opposites = [][2]map[string]bool{
	{stemSet("vegetarian vegan"), stemSet("meat steak beef pork chicken bacon sausag burger fish tuna salmon seafood")},
	{stemSet("vegan"), stemSet("chees egg milk honei butter yogurt yoghurt")},
	{stemSet("singl"), stemSet("girlfriend boyfriend husband wife fianc engag marri")},
	{stemSet("unemploi unemploy jobless"), stemSet("employ job")},
	{stemSet("teetotal"), stemSet("beer wine whiskei whisky alcohol")},
}

// opposes reports whether two texts cannot both be true of their subject.
func opposes(a, b Reading) bool {
	if a.Negated || b.Negated || len(a.Words) > longestValue || len(b.Words) > longestValue || a.isPast() || b.isPast() || !a.sameSubject(b) {
		return false
	}
	return slices.ContainsFunc(opposites, func(o [2]map[string]bool) bool {
		x, y := a.hasStem(o[0]) && !a.hasStem(o[1]), b.hasStem(o[1]) && !b.hasStem(o[0])
		z, w := a.hasStem(o[1]) && !a.hasStem(o[0]), b.hasStem(o[0]) && !b.hasStem(o[1])
		return x && y || z && w
	})
}

// The stems that show what an ending concerns, and words too vague to identify a thing.
var (
	workStems     = stemSet("work job employ member join studi live belong plai play teach train volunt coach sing team compani")
	jobStems      = stemSet("work job employ")
	taskStems     = stemSet("read watch studi learn work write plai build attend take paint knit train prepar")
	relationStems = stemSet("engag marri date datin boyfriend girlfriend partner fianc fiance husband wife togeth relationship love see coupl")
	vagueStems    = stemSet(`trip membership subscript appoint appointment plan lesson class account contract book holidai vacat us use do old new last first whole
		my daili regular visit meet see go work drink eat habit place hous home flat apart apartment degree studi`)
	possession = NewPhrases("has", "have", "owns", "own", "bought", "got", "drives", "drive", "rides", "uses", "use", "wears", "keeps", "plays", "is", "car")
)

var (
	isThing  = NewPhrases("is a", "is an", "is the")
	oldOrNew = NewPhrases("old", "new")
	naming   = NewPhrases("called", "named", "name")
	goesBy   = NewPhrases("goes by", "answers to")
	besides  = NewPhrases("also", "too", "as well")
)

// isWith finds whose partner somebody is.
var isWith = inBody(`^\p{Lu}\S* is (?:still |now |back )?with \p{Lu}\S*[.!]*$`)

// recurring finds what takes place again and again.
var recurring = inBody(`(?i)\b(?:every|each|weekly|monthly|class|classes|lessons?|course|training|practice|club|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b`)

// wasMarried finds a wedding that has been, which nobody calls off.
var wasMarried = inBody(`(?i)\b(?:got|were|was|been) married\b|\btied the knot\b`)

var (
	wentDead   = inBody(`(?i) (?:died|dead)\b`)
	chargeable = stemSet("phone iphon mobil laptop tablet ipad batteri kindl watch headphon earbud camera wifi internet")
)

// ends reports whether the newer text states that the state of the older one ended, or continues in another form.
func ends(newer, older Reading) bool {
	c := newer.Change
	if c == nil || c.Kind == state.NewValue || older.Change != nil || older.Negated || older.isPast() && c.Kind != state.Mistaken ||
		len(older.Words) > longestEnded || ownedByAnother(newer, older) {
		return false
	}
	same := c.Subject == "" || older.beginsWith(c.Subject)
	switch c.Kind {
	case state.EndOfWork:
		same = same && (older.hasStem(workStems) || older.HasPhrase(belongs))
	case state.EndOfPossession:
		if newer.matches(wentDead) && older.hasStem(chargeable) { // until it is charged
			return false
		}
		same = same && (older.HasPhrase(possession) || slices.Contains(c.Of, "job")) || older.beginsWith(c.Subject+"'s") && older.HasPhrase(isThing)
	case state.EndOfTask:
		same = same && older.atWorkOn(c.Of, newer)
	case state.NewOne:
		own := first(newer) + " " + c.Of[0]
		return !several[c.Of[0]] && !older.HasPhrase(oldOrNew) &&
			(older.subject() == strings.Join(text.ContentStems(own), " ") || c.Of[0] == "job" && same && older.hasStem(jobStems) && older.holdsJob())
	case state.EndOfRelation:
		partner := slices.ContainsFunc(c.Of, func(s string) bool { return relationStems[s] })
		couple := older.hasStem(relationStems) || older.matches(isWith)
		same = couple && (older.names(c.Subject) || same) || same && partner
	case state.NewTime:
		same = same && (len(older.Dates)+len(older.Numbers) > 0 || slices.ContainsFunc(strings.Fields(older.Plain), inCalendar) || older.HasPhrase(dayTimes))
	case state.NewName:
		called := older.HasPhrase(naming)
		if len(c.Of) == 1 && c.Of[0] == "name" || newer.HasPhrase(goesBy) {
			return called && (same || older.beginsWith(c.Subject+"'s name"))
		}
		same = older.names(c.Subject) && called
	case state.EndOfPlan:
		if older.matches(wasMarried) || c.Subject == "" && len(newer.Dates) > 0 && older.matches(recurring) { // one lesson of a course
			return false
		}
		if slices.ContainsFunc(c.Of, func(s string) bool { return relationStems[s] || s == "wed" }) {
			same = same || older.names(c.Subject)
		}
	case state.EndOfAny:
		if c.Subject == "" && newer.tellsOfPerson(c.Of) { // "Ana's sister finished early"
			return false
		}
		same = same || older.matches(office) && strings.HasPrefix(older.body, c.Subject+"'s ") // "stopped seeing Dr. Blum"
	case state.Mistaken, state.NewValue:
	}
	if c.Subject == "" && (c.Kind == state.EndOfPlan || c.Kind == state.EndOfAny) && !older.isOn(c.Of) {
		return false
	}
	return same && older.has(c.Of, newer) && (!slices.Contains(c.Of, "job") || older.holdsJob())
}

// renews reports whether the newer text states that a thing described by the older one has changed.
func renews(newer, older Reading) bool {
	c := newer.Change
	if c == nil || c.Kind != state.NewValue || older.Change != nil || older.Negated || older.isPast() || ownedByAnother(newer, older) {
		return false
	}
	about := strings.Join(c.Of, " ")
	if older.beginsWith(c.Subject+"'s") && strings.HasSuffix(older.subject(), " "+about) && older.HasPhrase(served) {
		return true
	}
	// Of somebody who was moved to another day, shift or place holds all else that is known.
	named := slices.ContainsFunc(newer.Names, func(n string) bool { return strings.EqualFold(strings.Join(text.ContentStems(n), " "), about) })
	return older.subject() == about && !named || older.beginsWith(c.Subject) && (older.has(c.Of, newer) || strings.HasSuffix(older.subject(), " "+about))
}

// goesOtherwise reports whether the newer text states that something is now done in another way: by another verb, with
// the same purpose.
func goesOtherwise(newer, older Reading) bool {
	if !newer.matches(nowAtEdge) || newer.HasPhrase(wishes) || newer.Negated || older.Negated || newer.Change != nil || older.Change != nil || older.isPast() ||
		len(newer.Words) > longestInstead || len(older.Words) > longestInstead || !strings.EqualFold(first(newer), first(older)) {
		return false
	}
	a, b := strings.Fields(newer.body), strings.Fields(older.body)
	if len(a) < 3 || len(b) < 3 || strings.EqualFold(a[1], b[1]) || auxiliaries[a[1]] || auxiliaries[b[1]] || newer.HasPhrase(besides) {
		return false
	}
	verb := setOf(text.ContentStems(a[1] + " " + b[1]))
	common, onlyNew, onlyOld := CountStems(newer.Words, older.Words, verb)
	return common > 0 && onlyNew <= 1 && onlyOld <= 2
}

// wishes say what somebody likes or knows, and not what they do.
var wishes = NewPhrases("prefers", "likes", "loves", "hates", "dislikes", "knows", "wants", "needs", "enjoys", "misses")

// served are the ways of saying by whom or what something is run.
var served = NewPhrases("is with", "is from", "is on", "is at", "runs", "uses", "comes from", "goes through")

var nowAtEdge = inBody(`(?i)\b(?:now|these days|nowadays)[.!]*(?: \([^)]*\))?[.!]*$|^(?:now|these days|nowadays)\b`)

// bodyOf returns a text without the name of its speaker. The name stays if the text begins with the first person.
func bodyOf(s string) string {
	body := state.WithoutLead(s)
	m := saidBy.FindStringSubmatch(s)
	if m == nil {
		return body
	}
	for _, p := range persons1 {
		if len(body) > len(p[0]) && strings.EqualFold(body[:len(p[0])], p[0]) {
			return m[1] + p[1] + body[len(p[0]):]
		}
	}
	return body
}

var (
	saidBy   = pattern.New(`^(\p{Lu}[^:]{0,60}?) (?:said|told [^:]{1,40}): `)
	persons1 = [][2]string{{"I'm ", " is "}, {"I am ", " is "}, {"We're ", " is "}, {"We are ", " is "}, {"I've ", " has "}, {"We've ", " has "},
		{"I'll ", " will "}, {"We'll ", " will "}, {"I ", " "}, {"We ", " "}, {"My ", "'s "}, {"Our ", "'s "}}
	belongs  = NewPhrases("is a", "is an", "is the", "is our", "i'm a", "i'm an", "i'm the", "been with", "been at", "is with", "is at", "is in", "is on")
	dayTimes = NewPhrases("noon", "midday", "midnight", "morning", "afternoon", "evening", "tonight", "today", "tomorrow")
)

// beginsWith reports whether a subject is what the text is about.
func (r Reading) beginsWith(subject string) bool {
	body := strings.ToLower(r.body)
	return strings.HasPrefix(body, strings.ToLower(subject)+" ")
}

// names reports whether the text holds the name of a subject.
func (r Reading) names(subject string) bool {
	return strings.Contains(r.Plain, " "+strings.TrimSuffix(strings.ToLower(subject), "'s")+" ")
}

// longestValue is the largest number of content words of a text that states a value.
const longestValue = 12

func (r Reading) sameSubject(o Reading) bool { s := r.subject(); return s != "" && s == o.subject() }
