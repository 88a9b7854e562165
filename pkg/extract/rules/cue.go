package rules

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// cues decide the type of a fact by phrases. The first type with a phrase counts.
var cues = []struct {
	typ     memory.Type
	phrases []string
}{
	{memory.TypeConstraint, phraseList(`allergic, allergy, allergies, intolerant, intolerance, cannot eat, can't eat, can't drink, cannot drink, can't use, can't drive,
		can't work, can't travel, cannot work, cannot use, can't afford, must not, mustn't, not allowed, vegetarian, vegan, pescatarian, gluten-free, gluten free,
		lactose, kosher, halal, deadline, no more than, budget, must be, is required, are required, only works on, only available,
		phobia, diabetic, celiac`)},
	{memory.TypeDecision, phraseList(`decided to, decided on, decided that, decided, going with, we chose, i chose, settled on, made up my mind, opted for, we agreed, picked, i'll go with, we'll go with`)},
	{memory.TypePreference, phraseList(`favourite, favorite, favourites, favorites, prefer, prefers, preferred, i love, i loved, i like, i liked, i enjoy, i enjoyed, i adore, i hate, i dislike, i really like, i really love,
		i really enjoy, i also love, i also like, i also enjoy, i always loved, i've always loved, i absolutely love, i just love, i just like, i still love, i don't like, i do not like, i don't enjoy, i never liked, can't stand, fan of, big fan, would rather,
		i'd rather, loves, enjoys, hates, dislikes, likes to, we love, we like, we enjoy, i'm into, my go-to, i totally love, i do love, i do like, i do enjoy, i also hate, obsessed with, my passion, passionate about`)},
	{memory.TypeToolAffordance, phraseList(`tool can, tool lets, command can, command lets, api can, api lets, api allows, api supports, script can, app lets, app can, app allows, tool supports, tool allows, cli can, library can, library supports,
		plugin can, you can use, can be used to, lets you, allows you to`)},
	{memory.TypeFailurePattern, phraseList(`error, errors, exception, crash, crashes, crashed, bug, fails when, fails if, fails because, failed because, fails with, failed with, doesn't work, does not work, didn't work, times out, timed out,
		time out, stack trace, broken, keeps failing, out of memory, segfault`)},
	{memory.TypeProcedure, phraseList(`in order to, step 1, step 2, the way to, you need to run, you need to, you have to, first you, to do this, to do that, to fix this, to install, how to, make sure to`)},
	{memory.TypeOutcome, phraseList(`turned out, worked out, ended up, succeeded, managed to, as a result, paid off, finally got, finally did, finally made, finally finished, resulted in, successfully`)},
	{memory.TypeBelief, phraseList(`i think, i believe, i really think, i really believe, i feel like, i suppose, i guess, i doubt, in my opinion, in my view, seems to me, i'd say, i would say, i'm sure, i find that, i find it, if you ask me, i feel that`)},
}

// eventVerbs are verbs of events.
var eventVerbs = text.NewWordSet(`went visited attended met bought moved started finished joined won lost took celebrated graduated adopted traveled travelled
	ran made got booked broke saw found had-a received signed performed hosted organized organised participated volunteered completed
	launched opened closed quit resigned hired fired married divorced born died passed injured hurt arrived left returned came flew
	drove hiked camped swam painted built wrote published cooked baked ordered sold donated adopted planted fixed called sent gave
	interviewed applied enrolled learned played watched read recorded designed created planned scheduled cancelled canceled tried
	invited surprised proposed announced submitted presented taught helped raised spent enjoyed hosted organised`)

// hedges weaken a statement.
var hedges = phraseList(`maybe, perhaps, probably, might, possibly, not sure, i guess, sort of, kind of, kinda, sorta, apparently, could be, i'm thinking of, thinking about, thinking of, considering, hopefully, seems, it seems`)

// typeOf returns the type of a sentence as it was said.
func typeOf(ps []piece, low string, found marks, dates []date.Span) memory.Type {
	if commands(ps) {
		return memory.TypeInstruction
	}
	for i, c := range cues {
		if !found.has(markCues << i) {
			continue
		}
		if c.typ == memory.TypePreference && len(dates) > 0 && !strings.Contains(low, " favo") && !strings.Contains(low, " prefer") && isEvent(ps) {
			return memory.TypeEvent
		}
		if c.typ == memory.TypeFailurePattern && strings.Contains(low, " work for ") { // "Thursday doesn't work for me"
			continue
		}
		return c.typ
	}
	if len(dates) > 0 || isEvent(ps) {
		return memory.TypeEvent
	}
	return memory.TypeFact
}

func isEvent(ps []piece) bool {
	for i, p := range ps {
		if eventVerbs.Has(p.low) && (i+1 >= len(ps) || ps[i+1].text != "-") && !names(ps, i) {
			return true
		}
	}
	return false
}

// names reports whether the "called" at piece i only names: "is called Rex", "a cat called Miso".
func names(ps []piece, i int) bool {
	if ps[i].low != "called" {
		return false
	}
	for n, j := 0, before(ps, i); j >= 0 && n < 4; n, j = n+1, before(ps, j) {
		if w := ps[j].low; w == "a" || w == "an" || n < 2 && (beForms.Has(w) || strings.HasSuffix(w, "'s")) {
			return true
		}
	}
	return false
}

// kind is experience for what the agent itself did, and opinion for a belief.
func (t *drafter) kind(typ memory.Type, I bool) memory.Kind {
	switch {
	case typ == memory.TypeBelief:
		return memory.KindOpinion
	case t.message.Role == memory.RoleTool, t.message.Role == memory.RoleAssistant && I:
		return memory.KindExperience
	}
	return memory.KindWorld
}

// confidence is 1 for a plain statement, 0.7 for a hedged one, and 0.5 for a belief.
func confidence(typ memory.Type, hedged bool) float64 {
	switch {
	case typ == memory.TypeBelief:
		return 0.5
	case hedged:
		return 0.7
	}
	return 1
}

var feelings = text.NewWordSet(`happy sad excited nervous anxious scared proud grateful thankful angry upset lonely stressed overwhelmed relieved
	worried depressed thrilled devastated heartbroken afraid hopeful frustrated disappointed joy grief tears crying cried`)

// tagsOf returns the family of the type, "feeling" where one is named, and hashtags, sorted.
func tagsOf(low, s string, typ memory.Type) []string {
	var out []string
	switch typ {
	case memory.TypeConstraint:
		out = append(out, "constraint")
	case memory.TypeFailurePattern:
		out = append(out, "failure")
	case memory.TypeToolAffordance:
		out = append(out, "affordance", "tool")
	}
	if slices.ContainsFunc(strings.Fields(low), feelings.Has) {
		out = append(out, "feeling")
	}
	for i := strings.IndexByte(s, '#'); i >= 0 && i+1 < len(s) && len(out) < 8; {
		ps := split(s[i+1:])
		if ps[0].low != "" && ps[0].low[0] > '9' && len(ps[0].low) <= 64 {
			out = append(out, ps[0].low)
		}
		n := strings.IndexByte(s[i+1:], '#')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	slices.Sort(out)
	return out
}

// occurred returns the range of the time expression that the sentence is about, zero without one.
func occurred(dates []date.Span) memory.Span {
	when, ok := date.Main(dates)
	if !ok {
		return memory.Span{}
	}
	from, to := memory.At(when.From), memory.At(when.To)
	return memory.Span{From: &from, To: &to}
}

// marks are the lists that have a phrase in a sentence, a bit each.
type marks uint64

func (m marks) has(list marks) bool { return m&list != 0 }

// phrases finds the phrases of many lists in one walk over the words. It maps the first word of each.
type phrases map[string][]entry // by first word

type entry struct {
	rest string // the words behind the first, with a space before each; "" for one word
	list marks
}

// add adds the phrases of a list.
func (p phrases) add(list marks, all []string) {
	for _, s := range all {
		head, rest, more := strings.Cut(s, " ")
		if more {
			rest = " " + rest
		}
		p[head] = append(p[head], entry{rest, list})
	}
}

// in returns the lists that have a phrase in low, a result of phrase. Only whole words count.
func (p phrases) in(low string) marks {
	var found marks
	for i := 0; i < len(low)-1; {
		n := strings.IndexByte(low[i+1:], ' ')
		if n < 0 {
			break
		}
		word, behind := low[i+1:i+1+n], low[i+1+n:]
		for _, e := range p[word] {
			if found&e.list != e.list && strings.HasPrefix(behind, e.rest) && behind[len(e.rest)] == ' ' {
				found |= e.list
			}
		}
		i += 1 + n
	}
	return found
}

// The lists of phrases by their bit; the cues of the types follow, then the cues of the states.
const (
	markChatter marks = 1 << iota
	markHedge
	markUnreal
	markTag
	markCues
	markStates = markCues << 16
)

// all holds every list.
var all = func() phrases {
	p := make(phrases)
	p.add(markChatter, chatter)
	p.add(markHedge, hedges)
	p.add(markUnreal, unreal)
	p.add(markTag, tags)
	for i, c := range cues {
		p.add(markCues<<i, c.phrases)
	}
	for i, f := range state.DraftForms() {
		p.add(markStates<<i, f.Cues)
	}
	return p
}()
