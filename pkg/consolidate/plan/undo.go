package plan

import (
	"reflect"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxUndo is how many facts an apply may change and still be taken back.
const maxUndo = 1000

// recordUndo returns what it takes to take an apply back: the records that it changed as they were, and those that it
// made. It is nil for one that changed too much. facts are those that the write changed.
func (ws *workspace) recordUndo(facts []*factState) *memory.Undo {
	if len(facts) > maxUndo {
		return nil
	}
	u := &memory.Undo{Op: ws.write.Op, Write: ws.write.Seq}
	for _, s := range facts {
		if s.before == nil {
			u.MadeFacts = append(u.MadeFacts, s.id())
			continue
		}
		f := *s.before
		f.Vector, f.Model = nil, ""
		u.Facts = append(u.Facts, f)
	}
	for _, c := range ws.out.Conflicts {
		if before := ws.conflicts[c.ID].before; before != nil {
			u.Conflicts = append(u.Conflicts, *before)
		} else {
			u.MadeConflicts = append(u.MadeConflicts, c.ID)
		}
	}
	for _, o := range ws.out.Observations {
		if before := ws.observations[o.ID].before; before != nil {
			u.Observations = append(u.Observations, *before)
		}
	}
	for _, id := range ws.out.RemovedObservations {
		u.Observations = append(u.Observations, *ws.observations[id].before)
	}
	for _, r := range ws.out.Relations {
		u.Relations = append(u.Relations, memory.UndoRelation{Before: ws.storedRelation(r), After: &r})
	}
	for _, r := range ws.out.RemovedRelations {
		if before := ws.storedRelation(r); before != nil {
			u.Relations = append(u.Relations, memory.UndoRelation{Before: before})
		}
	}
	joins := func(c memory.CurationWrite) bool { return c.Op == memory.CurateAlias || c.Op == memory.CurateEntities }
	if slices.ContainsFunc(ws.write.Apply, joins) {
		for _, e := range ws.out.Entities {
			u.Entities = append(u.Entities, memory.UndoEntity{Before: ws.entities[e.ID].before, After: e})
		}
	}
	return u
}

// storedRelation returns the relation of the same ends and type as the store has it; nil if there is none.
func (ws *workspace) storedRelation(r memory.Relation) *memory.Relation {
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.Relation(r.From, r.To, r.Type)
	ws.fail(err)
	return found
}

// undo takes back what an apply did, all of it or nothing: the records that it changed are as they were before it, and
// what it made holds at no time. It is refused where a record has changed since or something new rests on one. Facts
// that the apply made stay as records, so that a forget finds their words here and in the log.
func (ws *workspace) undo(op string) {
	u, err := ws.view.Undo(op)
	if ws.fail(err) {
		return
	}
	if u == nil {
		ws.refuseUndo(op)
		return
	}
	ws.undoFacts(u)
	ws.undoConflicts(u)
	ws.undoRelations(u)
	ws.undoEntities(u)
	if ws.out.Outcome.Code != 0 || ws.err != nil {
		ws.out.Outcome.Results = nil
		ws.out.Stale = true // it changed nothing, and a rebuild must not find that it could
		return
	}
	for _, o := range u.Observations {
		if s := ws.observation(o.ID); s == nil || s.now.Version == u.Write {
			ws.putObservation(o)
		}
	}
	ws.out.Undone, ws.out.Outcome.Version = op, ws.write.Seq
}

// refuseUndo says why an apply is not there to be taken back.
func (ws *workspace) refuseUndo(op string) {
	switch out, err := ws.view.Outcome(op); {
	case ws.fail(err):
	case out == nil:
		ws.refuse(404, "apply", "no apply with the op %.60q", op)
	default:
		ws.refuse(409, "apply", "the op %.60q is no apply that can be taken back: it was taken back already, a forget or many other applies came after it, or it changed too much", op)
		ws.out.Stale = true
	}
}

// asLeft reports whether a record has the version that the apply gave it, and refuses the undo if not.
func (ws *workspace) asLeft(u *memory.Undo, what, id string, version uint64) bool {
	if version != u.Write {
		ws.refuse(409, "apply", "the %s %q has changed since", what, id)
	}
	return version == u.Write
}

func (ws *workspace) undoFacts(u *memory.Undo) {
	named := slices.Clone(u.MadeFacts)
	for _, f := range u.Facts {
		named = append(named, f.ID)
	}
	ws.load(named)
	var states []memory.State
	for _, id := range named {
		s := ws.loaded(id)
		if !ws.asLeft(u, "fact", string(id), versionOf(s)) {
			return
		}
		if s.now.State != nil {
			states = append(states, *s.now.State)
		}
	}
	for _, f := range ws.factsPointingTo(u.MadeFacts) {
		if !slices.Contains(named, f.ID) {
			ws.refuse(409, "apply", "the fact %q has ended by what the apply made", f.ID)
			return
		}
	}
	for _, before := range u.Facts {
		s := ws.loaded(before.ID)
		f := cloneFact(before)
		// That write still holds words of it, and the vector is of the same text.
		f.Ops, f.Vector, f.Model = unite(f.Ops, s.now.Ops), s.now.Vector, s.now.Model
		s.now, s.dirty = f, true
		if f.State != nil {
			states = append(states, *f.State)
		}
		ws.addResult(memory.WriteResult{ID: string(f.ID), Outcome: memory.OutcomeUpdated})
	}
	for _, id := range u.MadeFacts {
		s := ws.loaded(id)
		s.now.Valid, s.now.State, s.now.Superseded, s.now.Key, s.now.Pinned, s.dirty = nil, nil, "", "", false, true
		ws.addResult(memory.WriteResult{ID: string(id), Outcome: memory.OutcomeRemoved})
	}
	for _, s := range states {
		ws.retime(s)
	}
}

// versionOf returns the version of a fact; 0 if there is none.
func versionOf(s *factState) uint64 {
	if s == nil {
		return 0
	}
	return s.now.Version
}

func (ws *workspace) undoConflicts(u *memory.Undo) {
	there := func(id memory.ConflictID) *conflictState {
		s := ws.conflict(id)
		if s == nil {
			s = &conflictState{}
		}
		if !ws.asLeft(u, "conflict", string(id), s.now.Version) {
			return nil
		}
		return s
	}
	for _, before := range u.Conflicts {
		s := there(before.ID)
		if s == nil {
			return
		}
		s.now = before
	}
	for _, id := range u.MadeConflicts {
		s := there(id)
		if s == nil {
			return
		}
		s.gone = true
	}
}

func (ws *workspace) undoRelations(u *memory.Undo) {
	for _, r := range u.Relations {
		at := r.Before
		if r.After != nil {
			at = r.After
		}
		now := ws.storedRelation(*at)
		if (now == nil) != (r.After == nil) || now != nil && !sameRelation(*now, *r.After) {
			ws.refuse(409, "apply", "the relation %s of %q and %q has changed since", at.Type, at.From, at.To)
			return
		}
		if r.Before != nil {
			ws.relate(*r.Before)
		} else {
			ws.out.RemovedRelations = append(ws.out.RemovedRelations, *at)
		}
	}
}

func sameRelation(a, b memory.Relation) bool {
	a.Facts, b.Facts = orNil(a.Facts), orNil(b.Facts)
	return reflect.DeepEqual(a, b)
}

// undoEntities parts the names that the apply joined, and joins those that it parted. Facts that came to be about a
// joined entity since would be left with it, so they refuse the undo.
func (ws *workspace) undoEntities(u *memory.Undo) {
	for _, e := range u.Entities {
		s := ws.entity(e.After.ID)
		if s == nil || s.now.Redirect != e.After.Redirect || !slices.Equal(s.now.Aliases, e.After.Aliases) {
			ws.refuse(409, "apply", "the entity %q has changed since", string(e.After.ID))
			return
		}
		found, err := ws.view.FactsNaming(e.After.ID)
		if ws.fail(err) {
			return
		}
		for _, f := range found {
			if f.Version > u.Write {
				ws.refuse(409, "apply", "the fact %q, stored since, is about the entity %q", f.ID, string(e.After.ID))
				return
			}
		}
	}
	for _, e := range u.Entities {
		s := ws.entity(e.After.ID)
		if e.Before == nil {
			s.now.Aliases, s.now.Redirect = nil, ""
			ws.out.RemovedEntities = append(ws.out.RemovedEntities, e.After.ID) // unless a fact names it
			continue
		}
		s.now.Aliases, s.now.Redirect = slices.Clone(e.Before.Aliases), e.Before.Redirect
	}
}
