package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// applyDecisions applies what a language model decided about facts and older ones near them. A decision stands only
// while both facts are as they were judged: what moved on in between is left alone and reported, and so applying it a
// second time changes nothing. Either way the facts that the write names wait for no decision any more.
func (ws *workspace) applyDecisions(list []memory.Decided) {
	for _, d := range list {
		ws.resolvePending(memory.PendingDecide, string(d.Fact))
		f := ws.fact(d.Fact)
		outdated := ""
		switch {
		case f == nil:
			ws.out.Stale, outdated = true, "the fact is not there"
		case d.Version != 0 && f.Version != d.Version:
			outdated = "the fact moved on"
		case !f.Live():
			outdated = "the fact no longer holds"
		}
		current := d.Fact // the fact that stands in its place by now
		for _, t := range d.Targets {
			reason, made := outdated, memory.FactID("")
			if reason == "" {
				current, made, reason = ws.applyDecision(*f, current, t)
			}
			ws.reportDecision(d.Fact, t, made, reason)
		}
	}
	ws.addRelations()
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// applyDecision applies one decision about a fact, as it was judged, and an older one. next is the fact that stands in
// its place then, made the one that was made of both, and reason why nothing was done.
func (ws *workspace) applyDecision(judged memory.Fact, current memory.FactID, d memory.Decision) (next, made memory.FactID, reason string) {
	f, t := ws.fact(current), ws.fact(d.Target)
	refuse := func(reason string) (memory.FactID, memory.FactID, string) { return current, "", reason }
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
	case compareAge(*t, judged) >= 0:
		return refuse("it is not older than the fact")
	}
	switch d.Action {
	case memory.ActionIgnore:
		return current, "", ""
	case memory.ActionContradict:
		ws.openConflict(f.ID, t.ID, reasonByModel)
		return current, "", ""
	case memory.ActionSupersede:
		if protected(*t) {
			return refuse(ws.disputeInstead(*f, *t))
		}
		ws.supersede(ws.loaded(t.ID), *f)
		ws.retimeAll(*t, *f)
		return current, "", ""
	case memory.ActionMerge:
		next, reason = ws.mergeByModel(*f, *t)
		return next, "", reason
	case memory.ActionUpdate:
		if protected(*t) || protected(*f) {
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

// protected reports whether a model cannot end a fact: it is pinned, or was retained by hand under a key.
func protected(f memory.Fact) bool { return f.Pinned || f.Key != "" && len(f.Ops) > 0 }

func (ws *workspace) disputeInstead(f, t memory.Fact) (reason string) {
	ws.openConflict(f.ID, t.ID, reasonByModel)
	return "it is pinned or was given by hand: a conflict is open instead"
}

// mergeByModel absorbs the older fact in the newer one or, where the older is protected, the newer in the older. Facts
// are not merged where the wording that stays lacks a number, a date or a name of the other.
func (ws *workspace) mergeByModel(f, t memory.Fact) (next memory.FactID, reason string) {
	live, old := f, t
	if protected(t) {
		if protected(f) {
			return f.ID, ws.disputeInstead(f, t)
		}
		live, old = t, f
	}
	rl, ro := ws.readFact(live), ws.readFact(old)
	switch {
	case live.Kind != old.Kind:
		return f.ID, "the facts are of two kinds"
	case !statement.Subset(ro.Numbers, rl.Numbers) || !statement.Subset(ro.Dates, rl.Dates) || !statement.Subset(ro.Names, rl.Names):
		return f.ID, "merging would lose a number, a date or a name"
	case rl.Negated != ro.Negated:
		return f.ID, "one of the facts is denied"
	}
	ws.absorb(ws.loaded(live.ID), ws.loaded(old.ID))
	return live.ID, ""
}

// unfitWording returns why a wording cannot replace two facts: it is empty, too long, or holds a number, a date or a
// name that neither of them has. It is "" for one that can.
func (ws *workspace) unfitWording(text string, f, t memory.Fact) string {
	switch {
	case memory.NormalText(text) == "":
		return "an update needs a wording"
	case len(text) > memory.MaxFactText:
		return fmt.Sprintf("its wording has %d bytes", len(text))
	case f.Kind != t.Kind:
		return "the facts are of two kinds"
	}
	wording, rf, rt := ws.reader.Read(text, nil), ws.readFact(f), ws.readFact(t)
	said := rf.Plain + rt.Plain
	for _, e := range append(slices.Clone(f.Entities), t.Entities...) {
		_, name := e.Split()
		said += " " + name + " "
	}
	said += " " + strings.ToLower(f.Speaker+" "+t.Speaker) + " "
	isSaid := func(phrase string) bool {
		return !slices.ContainsFunc(strings.Fields(phrase), func(w string) bool { return !strings.Contains(said, " "+w+" ") })
	}
	for _, n := range wording.Numbers {
		if !slices.Contains(rf.Numbers, n) && !slices.Contains(rt.Numbers, n) {
			return "its wording holds a number that neither fact has"
		}
	}
	for _, d := range wording.Dates {
		if !slices.Contains(rf.Dates, d) && !slices.Contains(rt.Dates, d) && !isSaid(ws.reader.Read(d, nil).Plain) {
			return "its wording holds a date that neither fact has"
		}
	}
	for _, n := range wording.Names {
		if !isSaid(n) {
			return "its wording holds a name that neither fact has"
		}
	}
	return ""
}

// reword makes one fact of a newer and an older one. It rests on the sources of both and holds from the newer one's
// start on; the newer is merged into it, the older superseded by it. A wording that is one of the two makes no third
// fact. It returns the fact that was made, "" where another that ended has the wording.
func (ws *workspace) reword(f, t memory.Fact, d memory.Decision) memory.FactID {
	text := strings.TrimSpace(d.Text)
	id := memory.NewFactID(ws.write.Bank, text, f.Kind)
	switch id {
	case f.ID:
		ws.absorb(ws.loaded(f.ID), ws.loaded(t.ID))
		return f.ID
	case t.ID:
		ws.absorb(ws.loaded(t.ID), ws.loaded(f.ID))
		return t.ID
	}
	if existing := ws.loaded(id); existing != nil {
		if !existing.now.Live() {
			return ""
		}
		ws.absorb(existing, ws.loaded(t.ID))
		ws.absorb(existing, ws.loaded(f.ID))
		return id
	}
	u := ws.newWording(text, f, t, d)
	ws.put(u)
	f.Merged, f.Superseded, f.Valid = u.ID, "", nil
	ws.put(f)
	ws.moveConflicts(f.ID, u.ID)
	ws.supersede(ws.loaded(t.ID), u)
	ws.retimeAll(u, f, t)
	return u.ID
}

// newWording returns the fact of a new wording.
func (ws *workspace) newWording(text string, f, t memory.Fact, d memory.Decision) memory.Fact {
	from := timeline.Start(f)
	u := cloneFact(f)
	u.Text, u.Vector, u.Model, u.State = text, d.Vector, d.Model, nil
	older := slices.Clone(t.Sources)
	for i, s := range older {
		if s.Start.Before(from) {
			older[i].Start = from
		}
	}
	addSources(&u, older)
	u.Entities, u.Tags = unite(f.Entities, t.Entities), unite(f.Tags, t.Tags)
	u.Topic = cmp.Or(f.Topic, t.Topic)
	u.Confidence = max(f.Confidence, t.Confidence)
	if by := ws.write.By; by != nil {
		u.Extractor = strings.TrimSpace(by.Prompt + " " + by.Model)
	}
	u = ws.normalize(u)
	u.Ops = unite(f.Ops, t.Ops)
	if f.Said.After(u.Said) {
		u.Said = f.Said
	}
	if u.State == nil && f.State != nil && strings.Contains(memory.NormalText(text), f.State.Value) {
		state := *f.State
		u.State = &state
	}
	u.Valid = []memory.Interval{{From: from}}
	timeline.Close(&u, ws.replacedAt(u.Sources), "")
	return u
}

// addMade adds to a set of facts those that a model made of them, because their words come from those too.
func (ws *workspace) addMade(facts map[memory.FactID]bool) {
	for front := slices.Sorted(maps.Keys(facts)); len(front) > 0 && ws.err == nil; {
		found, err := ws.view.DecisionsOf(front)
		if ws.fail(err) {
			return
		}
		front = nil
		for _, d := range found {
			if d.Made != "" && d.Made != d.Fact && d.Made != d.Target && !facts[d.Made] {
				facts[d.Made] = true
				front = append(front, d.Made)
			}
		}
	}
}

// reportDecision records what became of one decision.
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
	ws.addResult(result)
}
