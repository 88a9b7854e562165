package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// conflictState is a conflict as the store has it and as the write leaves it.
type conflictState struct {
	before *memory.Conflict // nil = not stored
	now    memory.Conflict
	gone   bool
}

// Reasons of conflicts; they hold no text that somebody said.
const (
	reasonOfAnother = "one is what another speaker says of who said the other"
	reasonDenied    = "one denies what the other states"
	reasonByHand    = "who curates the memory says that they cannot both hold"
	reasonByModel   = "a language model judged that they cannot both hold"
)

// openConflict opens a conflict between two facts, unless the pair had one before.
func (ws *workspace) openConflict(a, b memory.FactID, reason string) {
	a, b = min(a, b), max(a, b)
	id := memory.NewConflictID(ws.write.Bank, a, b)
	if ws.conflict(id) != nil {
		return
	}
	ws.conflicts[id] = &conflictState{now: memory.Conflict{ID: id, A: a, B: b, Reason: reason, State: memory.ConflictOpen}}
	ws.relate(memory.Relation{From: string(a), To: string(b), Type: memory.RelContradicts, Strength: 1, Facts: []memory.FactID{a, b}})
}

// conflict returns a conflict as the write left it; nil if there is none.
func (ws *workspace) conflict(id memory.ConflictID) *conflictState {
	if s, ok := ws.conflicts[id]; ok {
		return s
	}
	c, err := ws.view.Conflict(id)
	if ws.fail(err) || c == nil {
		return nil
	}
	s := &conflictState{before: c, now: *c}
	ws.conflicts[id] = s
	return s
}

// conflictsOf returns the conflicts that one of the facts is party to, by id.
func (ws *workspace) conflictsOf(facts ...memory.FactID) []*conflictState {
	if len(facts) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.Conflicts(facts)
	if ws.fail(err) {
		return nil
	}
	for _, c := range found {
		ws.conflict(c.ID)
	}
	var out []*conflictState
	for _, id := range slices.Sorted(maps.Keys(ws.conflicts)) {
		if s := ws.conflicts[id]; slices.Contains(facts, s.now.A) || slices.Contains(facts, s.now.B) {
			out = append(out, s)
		}
	}
	return out
}

// lostConflict reports whether a conflict was resolved against the fact.
func (ws *workspace) lostConflict(id memory.FactID) bool {
	return slices.ContainsFunc(ws.conflictsOf(id), func(s *conflictState) bool {
		return s.now.State == memory.ConflictResolved && s.now.Winner != id
	})
}

// otherParty returns the party of a conflict that is not the given one.
func otherParty(c memory.Conflict, one memory.FactID) memory.FactID {
	if c.A == one {
		return c.B
	}
	return c.A
}

// moveConflicts passes the conflicts of a merged fact on to the one that absorbed it.
func (ws *workspace) moveConflicts(from, to memory.FactID) {
	for _, s := range ws.conflictsOf(from) {
		other := otherParty(s.now, from)
		if other == to || s.gone {
			continue
		}
		moved := memory.Conflict{ID: memory.NewConflictID(ws.write.Bank, to, other), A: min(to, other), B: max(to, other),
			Reason: s.now.Reason, State: s.now.State, Winner: s.now.Winner}
		if moved.Winner == from {
			moved.Winner = to
		}
		if ws.conflict(moved.ID) == nil {
			ws.conflicts[moved.ID] = &conflictState{now: moved}
		}
		if s.now.State == memory.ConflictOpen {
			s.now.State = memory.ConflictDismissed
		}
	}
}

// settleConflicts resolves open conflicts in which one party no longer holds, in favour of the other. Conflicts of
// forgotten facts go with them.
func (ws *workspace) settleConflicts(ended, forgotten []memory.FactID) {
	for _, s := range ws.conflictsOf(forgotten...) {
		s.gone = true
	}
	live := func(id memory.FactID) bool { f := ws.fact(id); return f != nil && f.Live() }
	for _, s := range ws.conflictsOf(ended...) {
		if s.gone || s.now.State != memory.ConflictOpen {
			continue
		}
		winner := s.now.A
		if !live(winner) {
			winner = s.now.B
		}
		if live(winner) {
			s.now.State, s.now.Winner = memory.ConflictResolved, winner
		}
	}
}

// resolveConflict resolves or dismisses one open conflict, as a request asks.
func (ws *workspace) resolveConflict(r memory.ConflictRequest) {
	s := ws.conflict(r.ID)
	switch {
	case s == nil:
		ws.refuse(404, "id", "no conflict %q", r.ID)
		return
	case r.Version != nil && *r.Version != s.now.Version:
		ws.refuse(409, "version", "the conflict is at version %d", s.now.Version)
		return
	case s.now.State != memory.ConflictOpen:
		ws.refuse(409, "id", "the conflict is %s and does not open again", s.now.State)
		return
	case r.Dismiss:
		s.now.State = memory.ConflictDismissed
		ws.out.Outcome.Version = ws.write.Seq
		return
	case r.Winner != s.now.A && r.Winner != s.now.B:
		ws.refuse(400, "winner", "must be %s or %s", s.now.A, s.now.B)
		return
	}
	s.now.State, s.now.Winner = memory.ConflictResolved, r.Winner
	ws.out.Outcome.Version = ws.write.Seq
	loser, winner := ws.fact(otherParty(s.now, r.Winner)), ws.fact(r.Winner)
	if loser == nil || winner == nil || loser.Merged != "" {
		return
	}
	at := ws.write.Time
	if n := len(loser.Valid); n > 0 && !at.After(loser.Valid[n-1].From) {
		at = loser.Valid[n-1].From.Add(time.Microsecond)
	}
	timeline.Close(loser, &at, winner.ID)
	ws.put(*loser)
	ws.addResult(memory.WriteResult{ID: string(loser.ID), Outcome: memory.OutcomeSuperseded, Reason: "superseded by " + string(winner.ID)})
}

// collectConflicts adds the conflicts that the write changed to the plan.
func (ws *workspace) collectConflicts() {
	for _, id := range slices.Sorted(maps.Keys(ws.conflicts)) {
		s := ws.conflicts[id]
		switch {
		case s.gone && s.before != nil:
			ws.out.RemovedConflicts = append(ws.out.RemovedConflicts, id)
			ws.announce(memory.ChangeConflict, memory.OutcomeRemoved, string(id))
		case !s.gone && (s.before == nil || s.before.State != s.now.State || s.before.Winner != s.now.Winner):
			c := s.now
			c.Version = ws.write.Seq
			ws.out.Conflicts = append(ws.out.Conflicts, c)
			ws.announce(memory.ChangeConflict, addedOrUpdated(s.before == nil), string(id), string(c.A), string(c.B))
		}
	}
}

// addRelations adds the edges that an extractor or a model saw. An unknown type becomes related_to; an edge between a
// record and itself, or to a record that is not there, is skipped. Both are reported among the results of the write.
func (ws *workspace) addRelations() {
	for i, r := range ws.write.Relations {
		report := func(outcome memory.Outcome, format string, args ...any) {
			ws.addResult(memory.WriteResult{Key: fmt.Sprintf("relations.%d", i), Outcome: outcome, Reason: fmt.Sprintf(format, args...)})
		}
		r.From, r.To = ws.relationEnd(r.From), ws.relationEnd(r.To)
		if r.From == "" || r.To == "" {
			report(memory.OutcomeRefused, "one end of the relation is not there")
			continue
		}
		if r.From == r.To {
			report(memory.OutcomeRefused, "a record has no relation to itself")
			continue
		}
		if !slices.Contains(memory.RelationTypes, r.Type) {
			report(memory.OutcomeUpdated, "relation type %.40q is not known; kept as related_to", string(r.Type))
			r.Type = memory.RelRelatedTo
		}
		facts := slices.DeleteFunc(slices.Clone(r.Facts), func(id memory.FactID) bool { return ws.fact(id) == nil })
		if len(r.Facts) > 0 && len(facts) == 0 {
			report(memory.OutcomeRefused, "what the relation rests on is not there")
			continue
		}
		r.Facts = orNil(unite(facts, nil))
		r.Strength = clamp(r.Strength)
		ws.relate(r)
	}
}

// relationEnd returns the fact or entity that an end of a relation names; "" if it is not there.
func (ws *workspace) relationEnd(id string) string {
	if ws.fact(memory.FactID(id)) != nil {
		return id
	}
	entity, err := memory.ParseEntityID("relation", id)
	if err != nil {
		return ""
	}
	if to, ok := ws.resolved[entity]; ok {
		return string(to)
	}
	if ws.entity(entity) != nil {
		return string(entity)
	}
	return ""
}

// relate adds an edge between two records; the last one of a pair and type counts.
func (ws *workspace) relate(r memory.Relation) {
	if r.From == r.To {
		return
	}
	ws.relations = slices.DeleteFunc(ws.relations, func(o memory.Relation) bool {
		return o.From == r.From && o.To == r.To && o.Type == r.Type
	})
	ws.relations = append(ws.relations, r)
}

// keptRelations returns the relations whose facts are all still there, in order.
func (ws *workspace) keptRelations() []memory.Relation {
	out := slices.DeleteFunc(slices.Clone(ws.relations), func(r memory.Relation) bool { return slices.ContainsFunc(r.Facts, ws.isGone) })
	slices.SortFunc(out, func(a, b memory.Relation) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Type, b.Type))
	})
	return out
}
