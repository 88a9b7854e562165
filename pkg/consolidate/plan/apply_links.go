package plan

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func (c *curator) contradict(w memory.Curation) memory.WriteResult {
	if len(w.IDs) != 2 {
		return c.refuse(400, "ids", "names %d facts; a conflict has two", len(w.IDs))
	}
	a := c.live("ids.0", w.IDs[0])
	if a == nil {
		return memory.WriteResult{}
	}
	b := c.live("ids.1", w.IDs[1])
	switch {
	case b == nil:
		return memory.WriteResult{}
	case a == b:
		return c.refuse(400, "ids.1", "a fact does not contradict itself")
	}
	id := memory.NewConflictID(c.write.Bank, min(a.id(), b.id()), max(a.id(), b.id()))
	if s := c.conflict(id); s != nil {
		return c.refuse(409, "ids", "their conflict %q is %s", string(id), s.now.State)
	}
	reason := w.Reason
	if reason == "" {
		reason = reasonByHand
	}
	c.openConflict(a.id(), b.id(), reason)
	return memory.WriteResult{ID: string(id), Outcome: memory.OutcomeAdded}
}

func (c *curator) decide(w memory.Curation) memory.WriteResult {
	id := memory.ConflictID(c.ref("id", w.ID))
	winner := memory.FactID(c.ref("winner", w.Winner))
	if c.out.Outcome.Code != 0 {
		return memory.WriteResult{}
	}
	r := memory.ConflictRequest{ID: id, Winner: winner, Dismiss: w.Op == memory.CurateDismiss}
	if s := c.conflict(id); s != nil {
		c.out.Derived = append(c.out.Derived, s.now.A, s.now.B)
		if w.Version != nil && s.now.Version > *w.Version {
			return c.refuse(409, "version", "the conflict is at version %d", s.now.Version)
		}
	}
	c.resolveConflict(r)
	if c.out.Outcome.Code != 0 {
		c.out.Outcome.Field = c.field(c.out.Outcome.Field)
		return memory.WriteResult{}
	}
	return memory.WriteResult{ID: string(id), Outcome: memory.OutcomeUpdated}
}

// link makes or ends a relation between two records.
func (c *curator) link(w memory.Curation) memory.WriteResult {
	r := memory.Relation{Type: w.Relation, Strength: 1}
	if w.Strength != nil {
		r.Strength = clamp(*w.Strength)
	}
	for _, end := range []struct {
		field, given string
		to           *string
	}{{"from", w.From, &r.From}, {"to", w.To, &r.To}} {
		id := c.ref(end.field, end.given)
		if c.out.Outcome.Code != 0 {
			return memory.WriteResult{}
		}
		if *end.to = c.relationEnd(id); *end.to == "" {
			return c.refuse(404, end.field, "no fact or entity %.60q", id)
		}
		if f := memory.FactID(*end.to); c.fact(f) != nil {
			r.Facts, c.out.Derived = append(r.Facts, f), append(c.out.Derived, f)
		}
	}
	if r.From == r.To {
		return c.refuse(400, "to", "a record has no relation to itself")
	}
	r.Facts = unite(r.Facts, nil)
	if w.Op == memory.CurateLink {
		c.relate(r)
		return memory.WriteResult{ID: r.From, Outcome: memory.OutcomeAdded}
	}
	there := slices.ContainsFunc(c.relations, func(o memory.Relation) bool { return o.From == r.From && o.To == r.To && o.Type == r.Type })
	if !there {
		if there = c.storedRelation(r) != nil; c.err != nil {
			return memory.WriteResult{}
		}
	}
	if !there || slices.ContainsFunc(c.out.RemovedRelations, func(o memory.Relation) bool { return o.From == r.From && o.To == r.To && o.Type == r.Type }) {
		return c.refuse(404, "relation", "the two are not linked by %s", r.Type)
	}
	c.relations = slices.DeleteFunc(c.relations, func(o memory.Relation) bool { return o.From == r.From && o.To == r.To && o.Type == r.Type })
	c.out.RemovedRelations = append(c.out.RemovedRelations, r)
	return memory.WriteResult{ID: r.From, Outcome: memory.OutcomeRemoved}
}

// topic says what facts are about; "" that it is not said.
func (c *curator) topic(w memory.Curation) memory.WriteResult {
	for i, id := range w.IDs {
		f := c.live(fmt.Sprintf("ids.%d", i), id)
		if f == nil {
			return memory.WriteResult{}
		}
		f.now.Topic, f.dirty = *w.Topic, true
		f.now.Ops = unite(f.now.Ops, []string{c.write.Op}) // that write holds the topic's words
	}
	return memory.WriteResult{IDs: slices.Clone(w.IDs), Outcome: memory.OutcomeUpdated}
}

// names joins names of one entity, or whole entities, or parts names again.
func (c *curator) names(w memory.Curation) memory.WriteResult {
	if w.Op == memory.CurateEntities {
		for i, id := range w.IDs {
			if entity, err := memory.ParseEntityID("ids", id); err != nil || c.entity(entity) == nil {
				return c.refuse(404, fmt.Sprintf("ids.%d", i), "no entity %.60q", id)
			}
		}
		if w.Into != "" && !slices.Contains(w.IDs, w.Into) {
			return c.refuse(400, "into", "is none of ids")
		}
	}
	r, _ := w.AliasRequest()
	if len(r.Aliases) == 0 {
		return c.refuse(400, "ids", "names %d entities; expected two or more", len(w.IDs))
	}
	c.alias(r)
	clear(c.resolved) // what a name led to before
	if c.out.Outcome.Code != 0 {
		if c.out.Outcome.Field = c.field(c.out.Outcome.Field); w.Op == memory.CurateEntities {
			c.out.Outcome.Field = c.field("ids")
		}
		return memory.WriteResult{}
	}
	if found := c.out.Outcome.Results; len(found) > 0 {
		return found[0]
	}
	return memory.WriteResult{}
}

// maxCollisions is how many collisions of a fact are told.
const maxCollisions = 5

// collisions returns the facts that a live one contradicts, and those that are near it, the nearest first; five at most.
func (ws *workspace) collisions(id memory.FactID) []memory.Collision {
	s := ws.loaded(id)
	if s == nil || !s.now.Live() {
		return nil
	}
	var out []memory.Collision
	near := map[memory.FactID]float64{}
	var order []memory.FactID
	if s.now.Vector != nil {
		for _, n := range ws.nearFacts(s.now) {
			if n.factState != s && n.now.Live() {
				near[n.id()] = n.cosine
				order = append(order, n.id())
			}
		}
	}
	told := map[memory.FactID]bool{}
	for _, x := range ws.conflictsOf(id) {
		if x.now.State == memory.ConflictOpen && !x.gone {
			other := otherParty(x.now, id)
			told[other] = true
			out = append(out, memory.Collision{ID: other, Near: near[other], Conflict: x.now.ID})
		}
	}
	for _, o := range order {
		if !told[o] {
			out = append(out, memory.Collision{ID: o, Near: near[o]})
		}
	}
	return out[:min(len(out), maxCollisions)]
}
