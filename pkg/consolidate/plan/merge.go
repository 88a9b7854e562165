package plan

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxHops bounds how many pointers from merged or superseded facts are followed.
const maxHops = 64

// merge takes in one normalized fact and returns what became of it. displaces, where it is not "", is the live fact
// that it replaces by its key. The fact goes one way: into the workspace, past its neighbours, into the timeline of its
// attribute.
func (ws *workspace) merge(f memory.Fact, displaces memory.FactID) memory.WriteResult {
	if chain := ws.mergedInto(f.ID); len(chain) > 0 {
		return ws.mergeRepetition(chain, f, displaces)
	}
	s, merged := ws.put(f), false
	ws.displace(displaces, s)
	result := memory.WriteResult{Key: f.Key, ID: string(f.ID), Outcome: memory.OutcomeAdded}
	root := s
	if f.Live() && f.Vector != nil {
		root, merged = ws.compareWithNeighbours(s)
	}
	if f.State != nil {
		ws.insertAssertion(s.now)
	}
	if !merged && ws.readFact(s.now).Revises() {
		ws.oppose(s, ws.aboutSame(s.now))
	}
	switch {
	case merged && displaces == "":
		result.ID, result.Outcome = string(root.id()), memory.OutcomeMerged
	case ws.supersedes(f.ID):
		result.Outcome = memory.OutcomeSuperseded
	}
	return result
}

// supersedes reports whether a fact superseded another one by this write.
func (ws *workspace) supersedes(id memory.FactID) bool {
	for _, s := range ws.facts {
		if !s.gone && s.now.Superseded == id && (s.before == nil || s.before.Superseded != id) {
			return true
		}
	}
	return false
}

// mergeRepetition takes in a statement that is stored already: its sources, entities and tags join the stored fact's,
// whose confidence rises with a new source or operation. chain holds the fact and those that absorbed it, the last one
// live or superseded; each of them takes the repetition in. A superseded fact holds again when it is said again later,
// unless a conflict was decided against it.
func (ws *workspace) mergeRepetition(chain []*factState, f memory.Fact, displaces memory.FactID) memory.WriteResult {
	changed := false
	root := chain[len(chain)-1]
	for _, s := range chain {
		added := addSources(&s.now, ws.supportOf(s.now, f).Sources)
		for _, op := range f.Ops {
			if !slices.Contains(s.now.Ops, op) {
				s.now.Ops, added = append(s.now.Ops, op), true
			}
		}
		if added {
			changed = true
			joinStatement(&s.now, f)
			if s.now.Merged != "" {
				timeline.Extend(&s.now, f)
			}
		}
		s.dirty = true
	}
	if f.Bounds != nil {
		root.now.Bounds = f.Bounds
	}
	f = ws.supportOf(root.now, f)
	result := memory.WriteResult{Key: f.Key, ID: string(root.id()), Outcome: memory.OutcomeMerged}
	if !changed {
		return result
	}
	n := len(root.now.Valid)
	later := n == 0 || root.now.Valid[n-1].To != nil && f.Said.After(*root.now.Valid[n-1].To)
	ended := f.Bounds != nil && f.Bounds.To != nil
	revived := root.now.Superseded != "" && later && !ended && !ws.lostConflict(root.id())
	if !revived || root.now.State == nil {
		timeline.Repeat(&root.now, f, revived, ws.replacedAt(root.now.Sources))
	} else if by := ws.fact(root.now.Superseded); by == nil || by.State == nil || by.State.Value == root.now.State.Value {
		root.now.Superseded = ""
	}
	ws.retimeAll(root.now)
	if displaces != "" && displaces != root.id() {
		if !root.now.Live() {
			timeline.Reopen(&root.now, f.Said)
		}
		ws.displace(displaces, root)
		result.Outcome = memory.OutcomeSuperseded
	}
	return result
}

// displace ends the fact that another one replaces by its key, if there is one.
func (ws *workspace) displace(id memory.FactID, by *factState) {
	if old := ws.loaded(id); old != nil && old != by {
		ws.supersede(old, by.now)
	}
}

// supersede ends old where by begins.
func (ws *workspace) supersede(old *factState, by memory.Fact) {
	timeline.Supersede(&old.now, by)
	old.dirty = true
	ws.relate(memory.Relation{From: string(by.ID), To: string(old.id()), Type: memory.RelSupersedes, Strength: 1,
		Facts: []memory.FactID{min(by.ID, old.id()), max(by.ID, old.id())}})
}

// absorb merges old into live, with the conflicts that old is party to: the sources, entities and tags of old join live,
// and old points to live. Live holds as early as old did, unless its words say more than those of old: then old keeps
// the time before live begins. Otherwise old holds at no time.
func (ws *workspace) absorb(live, old *factState) {
	var past []memory.Interval
	if ws.saysMore(live.now, old.now) {
		past = timeline.Before(old.now, live.now)
	} else {
		timeline.Extend(&live.now, old.now)
		if live.now.Bounds == nil {
			live.now.Bounds = old.now.Bounds
		}
	}
	addSources(&live.now, ws.supportOf(live.now, old.now).Sources)
	live.now.Ops = unite(live.now.Ops, old.now.Ops)
	joinStatement(&live.now, old.now)
	old.now.Merged, old.now.Superseded, old.now.Valid = live.id(), "", past
	live.dirty, old.dirty = true, true
	ws.moveConflicts(old.id(), live.id())
	ws.retimeAll(live.now)
}

// saysMore reports whether the words of f say more than those of a fact that it absorbs. Facts that assert a state do
// not: what holds is the value of the attribute, in whichever words.
func (ws *workspace) saysMore(f, absorbed memory.Fact) bool {
	return f.State == nil && absorbed.State == nil && statement.Adds(ws.readFact(f), ws.readFact(absorbed))
}

// supportOf returns a fact that f absorbs as far as it supports f: where f says more, only from its own start on.
func (ws *workspace) supportOf(f, absorbed memory.Fact) memory.Fact {
	if !ws.saysMore(f, absorbed) {
		return absorbed
	}
	start := timeline.Start(f)
	absorbed.Sources = slices.Clone(absorbed.Sources)
	for i, s := range absorbed.Sources {
		if s.Start.Before(start) {
			absorbed.Sources[i].Start = start
		}
	}
	if absorbed.Said.Before(start) {
		absorbed.Said = start
	}
	return absorbed
}

// compareWithNeighbours merges a live fact with its nearest duplicate, and compares what stays live with the other
// neighbours: it supersedes those it corrects and opens conflicts with those it contradicts. root is the fact that
// stays live; merged reports whether there was a duplicate.
func (ws *workspace) compareWithNeighbours(s *factState) (root *factState, merged bool) {
	near := ws.nearFacts(s.now)
	root, merged = ws.mergeDuplicate(s, near)
	ws.oppose(root, near)
	return root, merged
}

// mergeDuplicate merges a fact with the nearest live one that says the same in other words. The one said later, or the
// pinned one, stays live and is returned. Without a duplicate it is the fact itself, and merged is false.
func (ws *workspace) mergeDuplicate(s *factState, near []nearFact) (root *factState, merged bool) {
	for _, n := range near {
		if n.cosine < ws.limits.Dedup {
			break
		}
		if !n.now.Live() || !mayBeOne(s.now, n.now) {
			continue
		}
		live, old := s, n.factState
		if old.now.Pinned || compareAge(live.now, old.now) < 0 {
			live, old = old, live
		}
		if statement.Same(ws.readFact(live.now), ws.readFact(old.now)) {
			ws.absorb(live, old)
			return live, true
		}
	}
	return s, false
}

// oppose compares a fact with its neighbours. One that it plainly corrects is superseded; where one denies the other a
// conflict is opened, unless the pair had one before.
func (ws *workspace) oppose(s *factState, near []nearFact) {
	for _, n := range near {
		if n.cosine < ws.limits.Diameter || n.factState == s || !s.now.Live() || !n.now.Live() {
			continue
		}
		newer, older := s, n.factState
		if compareAge(newer.now, older.now) < 0 {
			newer, older = older, newer
		}
		sameAttribute := s.now.State != nil && n.now.State != nil && s.now.State.Attribute == n.now.State.Attribute
		if older.now.Pinned || sameAttribute {
			continue
		}
		switch statement.Relate(ws.readFact(newer.now), ws.readFact(older.now)) {
		case statement.Correction:
			if aboutAnother(newer.now, older.now) {
				ws.openConflict(newer.id(), older.id(), reasonOfAnother)
				continue
			}
			ws.supersede(older, newer.now)
		case statement.Contradiction:
			ws.openConflict(newer.id(), older.id(), reasonDenied)
		}
	}
}

// aboutAnother reports whether the newer fact is what one person says of the one who said the older fact: it ends nothing
// that the other one says of themselves.
func aboutAnother(newer, older memory.Fact) bool {
	who := memory.NewEntityID(memory.EntityPerson, older.Speaker)
	return newer.Speaker != "" && older.Speaker != "" && newer.Speaker != older.Speaker && older.Speaker != string(memory.RoleUser) &&
		slices.Contains(older.Entities, who) && slices.Contains(newer.Entities, who)
}

// retime recomputes the validity of every fact that asserts a value of one attribute of one subject, so that it follows
// event time whatever the order of arrival. A fact that something else closed (an edit, its key, a conflict) stays
// closed. Of a long history it covers what was said last, and the facts among it whatever was said after.
func (ws *workspace) retime(state memory.State, among ...memory.FactID) {
	facts := ws.factsOfState(state)
	for _, id := range among {
		included := slices.ContainsFunc(facts, func(f memory.Fact) bool { return f.ID == id })
		if f := ws.fact(id); !included && f != nil && f.Merged == "" {
			facts = append(facts, *f)
		}
	}
	closed, replaced := ws.endings(facts)
	for _, f := range timeline.Rebuild(facts, closed, replaced) {
		ws.put(f)
	}
}

// retimeAll is retime for the states of facts.
func (ws *workspace) retimeAll(facts ...memory.Fact) {
	for _, f := range facts {
		if f.State != nil {
			ws.retime(*f.State)
		}
	}
}

// insertAssertion brings the facts of a state up to date with a new one, f, as the write left it so far. It reads what
// the new assertion may change, however long the history is: what holds when it begins or later, and what was said
// after it. Where that does not decide everything, the whole timeline is computed.
func (ws *workspace) insertAssertion(f memory.Fact) {
	plain := len(f.Sources) == 1 && f.Merged == "" && f.Superseded == "" && len(f.Valid) == 1 && f.Valid[0].To == nil
	if plain && f.Valid[0].From.Equal(f.Sources[0].Start) {
		said := f.Sources[0]
		facts, few := ws.factsOfStateSince(*f.State, said.Start, said.Said)
		closed, replaced := ws.endings(facts)
		if _, withdrawn := replaced[said.Message]; few && !withdrawn {
			others := slices.DeleteFunc(facts, func(o memory.Fact) bool { return o.ID == f.ID })
			if changed, decided := timeline.Insert(f, others, closed, replaced); decided {
				for _, f := range changed {
					ws.put(f)
				}
				return
			}
		}
	}
	ws.retime(*f.State, f.ID)
}
