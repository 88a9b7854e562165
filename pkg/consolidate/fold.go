package consolidate

import (
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// fold takes one tidied fact in and says what became of it. displaces, where
// it is not "", is the fact that it takes the place of by its key.
func (ws *workspace) fold(f memory.Fact, displaces memory.FactID) memory.WriteResult {
	if held := ws.fact(f.ID); held != nil {
		return ws.again(*held, f, displaces)
	}
	f.Valid = []memory.Interval{{From: start(f)}}
	if until := ws.takenBack(f); until != nil {
		closeAt(&f, *until, "")
	}
	ws.put(f)
	ws.displace(displaces, f)
	root, merged := f.ID, false
	if f.Live() && f.Vector != nil {
		near := ws.nearFacts(f)
		root, merged = ws.mergeNear(f, near)
		ws.oppose(root, near)
	}
	if f.State != nil {
		ws.retimeNew(f)
	}
	if merged && displaces == "" {
		return memory.WriteResult{Key: f.Key, ID: string(root), Outcome: memory.OutcomeMerged}
	}
	return ws.result(f)
}

// result says what became of a fact that was not merged: superseded where it
// took another's place.
func (ws *workspace) result(f memory.Fact) memory.WriteResult {
	r := memory.WriteResult{Key: f.Key, ID: string(f.ID), Outcome: memory.OutcomeAdded}
	for _, s := range ws.facts {
		if !s.gone && s.now.Superseded == f.ID && (s.before == nil || s.before.Superseded != f.ID) {
			r.Outcome = memory.OutcomeSuperseded
		}
	}
	return r
}

// again takes in a statement that is held already: its sources, entities and
// tags join those held, and with a new source or operation its confidence
// rises. What was merged passes them on to the fact that absorbed it.
func (ws *workspace) again(held, f memory.Fact, displaces memory.FactID) memory.WriteResult {
	root, fresh := held, false
	for hops := 0; ; hops++ {
		added := addSources(&root, f.Sources)
		for _, op := range f.Ops {
			if !slices.Contains(root.Ops, op) {
				root.Ops, added = append(root.Ops, op), true
			}
		}
		if added {
			fresh = true
			ws.repeat(&root, f)
		}
		ws.put(root)
		next := ws.fact(root.Merged)
		if root.Merged == "" || next == nil || hops > 64 {
			break
		}
		root = *next
	}
	r := memory.WriteResult{Key: f.Key, ID: string(root.ID), Outcome: memory.OutcomeMerged}
	if !fresh {
		return r
	}
	ws.revalidate(root, f)
	if displaces != "" && displaces != root.ID {
		back := ws.fact(root.ID)
		if !back.Live() {
			reopen(back, f.Said)
			ws.put(*back)
		}
		ws.displace(displaces, *back)
		r.Outcome = memory.OutcomeSuperseded
	}
	return r
}

// repeat joins what a repeated statement brings to the fact.
func (ws *workspace) repeat(held *memory.Fact, f memory.Fact) {
	held.Confidence = raise(held.Confidence, f.Confidence)
	held.Entities = unite(held.Entities, f.Entities)
	held.Tags = unite(held.Tags, f.Tags)
	if f.Said.After(held.Said) {
		held.Said = f.Said
	}
	if !f.Occurred.IsZero() && (held.Occurred.IsZero() || !f.Said.Before(held.Said)) {
		held.Occurred = f.Occurred
	}
	if held.Vector == nil && f.Vector != nil {
		held.Vector, held.Model = f.Vector, f.Model
	}
	if held.State == nil {
		held.State = f.State
	}
	if held.Key == "" {
		held.Key = f.Key
	}
	if len(f.Metadata) > 0 {
		m := maps.Clone(held.Metadata)
		if m == nil {
			m = map[string]any{}
		}
		maps.Copy(m, f.Metadata)
		held.Metadata = m
	}
}

// revalidate brings the validity of a fact up to date after f repeated it. A
// fact that was superseded holds again when it is said again later, unless
// somebody decided a conflict against it.
func (ws *workspace) revalidate(held, f memory.Fact) {
	from := f.Said
	if len(f.Sources) > 0 {
		from = start(f)
	}
	ended := len(held.Valid) == 0 || held.Valid[len(held.Valid)-1].To != nil
	late := ended && (len(held.Valid) == 0 || f.Said.After(*held.Valid[len(held.Valid)-1].To))
	switch {
	case ended && held.Superseded == "" && held.State == nil:
		reopen(&held, start(held))
	case ended && held.Superseded != "" && late && !ws.lost(held.ID):
		by := ws.fact(held.Superseded)
		if held.State == nil {
			reopen(&held, from)
		} else if by == nil || by.State == nil || by.State.Value == held.State.Value {
			held.Superseded = ""
		}
	case len(held.Valid) > 0 && from.Before(held.Valid[0].From):
		held.Valid[0].From = from
	}
	if until := ws.takenBack(held); until != nil && held.State == nil {
		closeAt(&held, *until, held.Superseded)
	}
	ws.put(held)
	if held.State != nil {
		ws.retime(*held.State)
	}
}

// displace ends the fact that f takes the place of by its key.
func (ws *workspace) displace(id memory.FactID, f memory.Fact) {
	old := ws.fact(id)
	if id == "" || old == nil || old.ID == f.ID {
		return
	}
	ws.supersede(*old, f)
}

// supersede ends old where by begins: at its start, or, if old began no
// earlier, when it was said.
func (ws *workspace) supersede(old, by memory.Fact) {
	at := start(by)
	if n := len(by.Valid); n > 0 {
		at = by.Valid[n-1].From
	}
	if n := len(old.Valid); n > 0 && !at.After(old.Valid[n-1].From) {
		at = by.Said
	}
	closeAt(&old, at, by.ID)
	ws.put(old)
	ws.relate(memory.Relation{From: string(by.ID), To: string(old.ID), Type: memory.RelSupersedes, Strength: 1,
		Facts: unite([]memory.FactID{by.ID, old.ID}, nil)})
}

// mergeNear merges a new fact with the nearest live one that says the same in
// other words, and gives the fact that stays live: the one said later, or the
// pinned one. Without such a fact it is f itself, and merged is false.
func (ws *workspace) mergeNear(f memory.Fact, near []Neighbour) (root memory.FactID, merged bool) {
	for _, n := range near {
		if n.Cosine < ws.limits.Dedup {
			break
		}
		other := ws.fact(memory.FactID(n.ID))
		if other == nil || !other.Live() || !duplicates(f, *other, ws.readFact(f), ws.readFact(*other)) {
			continue
		}
		if other.Pinned || rank(f, *other) < 0 {
			ws.absorb(*other, f)
			return other.ID, true
		}
		ws.absorb(f, *other)
		return f.ID, true
	}
	return f.ID, false
}

// absorb merges old into live: its sources, entities and tags join, and old
// stays with a pointer to it and holds at no time itself.
func (ws *workspace) absorb(live, old memory.Fact) {
	addSources(&live, old.Sources)
	live.Ops = unite(live.Ops, old.Ops)
	from := start(old)
	if len(old.Valid) > 0 && old.Valid[0].From.Before(from) {
		from = old.Valid[0].From
	}
	if len(live.Valid) > 0 && from.Before(live.Valid[0].From) {
		live.Valid[0].From = from
	}
	said := live.Said
	ws.repeat(&live, old)
	if live.Said.Before(said) {
		live.Said = said
	}
	old.Merged, old.Superseded, old.Valid = live.ID, "", nil
	ws.put(live)
	ws.put(old)
	ws.moveConflicts(old.ID, live.ID)
	if live.State != nil {
		ws.retime(*live.State)
	}
}
