package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// contrary is the reason of a conflict that a model's word opens; it holds no text.
const contrary = "a language model judged that they cannot both hold"

// applyDecisions applies what a language model decided about facts and older
// ones near them. A decision stands only while both facts are as they were
// judged: what moved on in between is left alone and reported, and so applying
// it a second time changes nothing. Whatever comes of it, the facts that the
// write names wait for no decision any more.
func (ws *workspace) applyDecisions(list []memory.Decided) {
	for _, d := range list {
		ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: memory.PendingDecide, ID: string(d.Fact)})
		f := ws.fact(d.Fact)
		why := ""
		switch {
		case f == nil:
			ws.out.Stale, why = true, "the fact is not there"
		case d.Version != 0 && f.Version != d.Version:
			why = "the fact moved on"
		case !f.Live():
			why = "the fact no longer holds"
		}
		stands := d.Fact // what stands in the fact's place by now
		for _, t := range d.Targets {
			reason, made := why, memory.FactID("")
			if reason == "" {
				stands, made, reason = ws.applyDecision(*f, stands, t)
			}
			ws.reportDecision(d.Fact, t, made, reason)
		}
	}
	ws.takeRelations(ws.write.Relations)
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// applyDecision applies one decision about a fact, as it was judged, and an
// older one. It gives the fact that stands in its place then, the one that was
// made of both, and why nothing was done.
func (ws *workspace) applyDecision(judged memory.Fact, stands memory.FactID, d memory.Decision) (next, made memory.FactID, reason string) {
	f, t := ws.fact(stands), ws.fact(d.Target)
	refuse := func(reason string) (memory.FactID, memory.FactID, string) { return stands, "", reason }
	switch {
	case t == nil:
		ws.out.Stale = true
		return refuse("the older fact is not there")
	case d.Target == judged.ID:
		return refuse("a fact is not held against itself")
	case d.Version != 0 && t.Version != d.Version:
		return refuse("the older fact moved on")
	case f == nil || !f.Live() || !t.Live():
		return refuse("one of the facts no longer holds")
	case rank(*t, judged) >= 0:
		return refuse("it is not older than the fact")
	}
	switch d.Action {
	case memory.ActionIgnore:
		return stands, "", ""
	case memory.ActionContradict:
		ws.dispute(f.ID, t.ID, contrary)
		return stands, "", ""
	case memory.ActionSupersede:
		if guarded(*t) {
			return refuse(ws.disputeInstead(*f, *t))
		}
		ws.supersede(*t, *f)
		ws.retimeBoth(*t, *f)
		return stands, "", ""
	case memory.ActionMerge:
		return ws.mergeByModel(*f, *t)
	case memory.ActionUpdate:
		if guarded(*t) || guarded(*f) {
			return refuse(ws.disputeInstead(*f, *t))
		}
		if reason = ws.unfitWording(d.Text, *f, *t); reason != "" {
			return refuse(reason)
		}
		if made = ws.reword(*f, *t, d); made == "" {
			return refuse("its wording is that of a fact that ended")
		}
		return made, made, ""
	}
	return refuse(fmt.Sprintf("%.40q is no action", string(d.Action)))
}

// guarded reports a fact that a model's word does not end: a pinned one, or one
// that was retained by hand under a key.
func guarded(f memory.Fact) bool { return f.Pinned || f.Key != "" && len(f.Ops) > 0 }

func (ws *workspace) disputeInstead(f, t memory.Fact) string {
	ws.dispute(f.ID, t.ID, contrary)
	return "it is pinned or was given by hand: a conflict is open instead"
}

// mergeByModel absorbs the older fact in the newer one, or, where the older is
// guarded, the newer in the older. What would be lost by it is not merged: a
// number, a date or a name that the wording that stays does not hold.
func (ws *workspace) mergeByModel(f, t memory.Fact) (next, made memory.FactID, reason string) {
	live, old := f, t
	if guarded(t) {
		if guarded(f) {
			return f.ID, "", ws.disputeInstead(f, t)
		}
		live, old = t, f
	}
	rl, ro := ws.readFact(live), ws.readFact(old)
	switch {
	case live.Kind != old.Kind:
		return f.ID, "", "the facts are of two kinds"
	case !subset(ro.numbers, rl.numbers) || !subset(ro.dates, rl.dates) || !subset(ro.names, rl.names):
		return f.ID, "", "merging would lose a number, a date or a name"
	case rl.negated != ro.negated:
		return f.ID, "", "one of the facts is denied"
	}
	ws.absorb(live, old)
	return live.ID, "", ""
}

// unfitWording says why a wording cannot take the place of two facts: it is
// empty, too long, or holds a number, a date or a name that neither of them has.
func (ws *workspace) unfitWording(text string, f, t memory.Fact) string {
	switch {
	case memory.NormalText(text) == "":
		return "an update needs a wording"
	case len(text) > memory.MaxFactText:
		return fmt.Sprintf("its wording has %d bytes", len(text))
	case f.Kind != t.Kind:
		return "the facts are of two kinds"
	}
	own := read(text, nil)
	rf, rt := ws.readFact(f), ws.readFact(t)
	said := rf.plain + rt.plain
	for _, e := range append(slices.Clone(f.Entities), t.Entities...) {
		_, name := e.Split()
		said += " " + name + " "
	}
	said += " " + strings.ToLower(f.Speaker+" "+t.Speaker) + " "
	known := func(phrase string) bool {
		return !slices.ContainsFunc(strings.Fields(phrase), func(w string) bool { return !strings.Contains(said, " "+w+" ") })
	}
	for _, n := range own.numbers {
		if !slices.Contains(rf.numbers, n) && !slices.Contains(rt.numbers, n) {
			return "its wording holds a number that neither fact has"
		}
	}
	for _, d := range own.dates {
		if !slices.Contains(rf.dates, d) && !slices.Contains(rt.dates, d) && !known(read(d, nil).plain) {
			return "its wording holds a date that neither fact has"
		}
	}
	for _, n := range own.names {
		if !known(n) {
			return "its wording holds a name that neither fact has"
		}
	}
	return ""
}

// retimeBoth computes the validity of what the facts say of a state anew.
func (ws *workspace) retimeBoth(facts ...memory.Fact) {
	for _, f := range facts {
		if f.State != nil {
			ws.retime(*f.State)
		}
	}
}

// reportDecision says what became of one decision.
func (ws *workspace) reportDecision(fact memory.FactID, d memory.Decision, made memory.FactID, reason string) {
	r := memory.DecisionResult{Fact: fact, Target: d.Target, Action: d.Action, Made: made, Reason: reason, Write: ws.write.Seq}
	if ws.write.By != nil {
		r.Stamp = *ws.write.By
	}
	if ws.fact(fact) != nil && ws.fact(d.Target) != nil {
		ws.out.Decisions = append(ws.out.Decisions, r)
	}
	for _, id := range []memory.FactID{fact, d.Target, made} {
		if ws.fact(id) != nil {
			ws.out.Derived = append(ws.out.Derived, id)
		}
	}
	result := memory.WriteResult{ID: string(d.Target), Reason: reason}
	switch {
	case reason != "":
		result.Outcome = memory.OutcomeRefused
	case d.Action == memory.ActionIgnore:
		return
	case d.Action == memory.ActionContradict:
		result.Outcome, result.Reason = memory.OutcomeAdded, "a conflict with "+string(fact)
	case d.Action == memory.ActionMerge:
		result.Outcome = memory.OutcomeMerged
	case d.Action == memory.ActionSupersede:
		result.Outcome, result.Reason = memory.OutcomeSuperseded, "superseded by "+string(fact)
	default:
		result.ID, result.Outcome = string(made), memory.OutcomeUpdated
	}
	ws.out.Outcome.Results = append(ws.out.Outcome.Results, result)
}
