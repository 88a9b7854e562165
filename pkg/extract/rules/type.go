package rules

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
	"github.com/eunoe-memory/eunoe/pkg/text/worth"
)

// cues tell the types that the classifier does not know by phrases of English. The first type with a phrase counts.
var cues = []struct {
	typ     memory.Type
	phrases []string
}{
	{memory.TypeToolAffordance, phraseList(`tool can, tool lets, command can, command lets, api can, api lets, api allows, api supports, script can, app lets, app can, app allows, tool supports, tool allows, cli can, library can, library supports,
		plugin can, can be used to, lets you, allows you to`)},
	{memory.TypeFailurePattern, phraseList(`error, errors, exception, crash, crashes, crashed, bug, fails when, fails if, fails because, failed because, fails with, failed with, doesn't work, does not work, didn't work, times out, timed out,
		time out, stack trace, keeps failing, out of memory, segfault`)},
	{memory.TypeProcedure, phraseList(`in order to, step 1, step 2, the way to, you need to run, you need to, you have to, first you, to do this, to do that, to fix this, to install, how to`)},
	{memory.TypeBelief, phraseList(`i think, i believe, i really think, i really believe, i feel like, i suppose, i guess, i doubt, in my opinion, in my view, seems to me, i'd say, i would say, if you ask me, i feel that`)},
}

// types are the types of facts by the class of their sentence.
var types = map[worth.Class]memory.Type{
	worth.State: memory.TypeFact, worth.Liking: memory.TypePreference, worth.Event: memory.TypeEvent, worth.Plan: memory.TypeEvent,
	worth.Constraint: memory.TypeConstraint, worth.Decision: memory.TypeDecision, worth.Instruction: memory.TypeInstruction, worth.Outcome: memory.TypeOutcome,
}

// hedges weaken a statement.
var hedges = phraseList(`maybe, perhaps, probably, might, possibly, not sure, i guess, sort of, kind of, kinda, sorta, apparently, could be, i'm thinking of, thinking about, thinking of, considering, hopefully, seems, it seems`)

// sure is the probability from which the class of a sentence is its type.
const sure = .4

// typeOf returns the type of a sentence.
func typeOf(v worth.Verdict, found marks) memory.Type {
	for i, c := range cues {
		if found.has(markCues<<i) && (v.Sure < sure || v.Class != worth.Instruction && v.Class != worth.Constraint && v.Class != worth.Liking) {
			return c.typ
		}
	}
	if v.Sure < sure {
		return memory.TypeFact
	}
	return types[v.Class]
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
	markHedge marks = 1 << iota
	markUnreal
	markCues
	markStates = markCues << 16
)

// all holds every list.
var all = func() phrases {
	p := make(phrases)
	p.add(markHedge, hedges)
	p.add(markUnreal, unreal)
	for i, c := range cues {
		p.add(markCues<<i, c.phrases)
	}
	for i, f := range state.DraftForms() {
		p.add(markStates<<i, f.Cues)
	}
	return p
}()
