package consolidate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The collect methods put what changed into the plan, each record once, by id,
// with its change event. Nothing that is as it was is written.

func (ws *workspace) collectFacts(facts []*factState) {
	for _, s := range facts {
		id := string(s.id())
		if s.gone {
			ws.out.RemovedFacts = append(ws.out.RemovedFacts, s.id())
			ws.tell(memory.ChangeFact, memory.OutcomeRemoved, id)
			continue
		}
		f := s.now
		f.Version, f.Bank = ws.write.Seq, ws.write.Bank
		if s.before != nil && slices.Equal(s.before.Vector, f.Vector) {
			f.Vector = nil
		}
		if s.embedded() {
			f.Version = s.before.Version
			ws.out.Facts = append(ws.out.Facts, f)
			continue
		}
		ws.out.Facts = append(ws.out.Facts, f)
		newly := s.before == nil
		switch {
		case f.Merged != "" && (newly || s.before.Merged == ""):
			ws.tell(memory.ChangeFact, memory.OutcomeMerged, id, string(f.Merged))
		case newly:
			ws.tell(memory.ChangeFact, memory.OutcomeAdded, id)
		case f.Superseded != "" && s.before.Superseded != f.Superseded:
			ws.tell(memory.ChangeFact, memory.OutcomeSuperseded, id, string(f.Superseded))
		default:
			ws.tell(memory.ChangeFact, memory.OutcomeUpdated, id)
		}
	}
}

func (ws *workspace) collectComposites() {
	ids := slices.Sorted(mapKeys(ws.composites))
	for _, id := range ids {
		if s := ws.composites[id]; s.gone && s.before != nil {
			ws.out.RemovedComposites = append(ws.out.RemovedComposites, id)
			ws.tell(memory.ChangeComposite, memory.OutcomeRemoved, string(id))
		}
	}
	for _, id := range ids {
		if s := ws.composites[id]; s.dirty {
			ws.queueSummary(s)
		}
	}
	slices.SortStableFunc(ids, func(a, b memory.CompositeID) int {
		return cmp.Compare(ws.composites[a].now.Level, ws.composites[b].now.Level)
	})
	for _, id := range ids {
		s := ws.composites[id]
		if s.gone || !s.dirty || s.before != nil && sameComposite(*s.before, s.now) {
			continue
		}
		c := s.now
		c.Version, c.Bank = ws.write.Seq, ws.write.Bank
		ws.out.Composites = append(ws.out.Composites, c)
		op := memory.OutcomeAdded
		if s.before != nil {
			op = memory.OutcomeUpdated
		} else if was := ws.composites[s.was]; was != nil && was.gone && was.before != nil {
			if ws.out.Renewed == nil {
				ws.out.Renewed = map[memory.CompositeID]memory.CompositeID{}
			}
			ws.out.Renewed[id] = s.was
		}
		ws.tell(memory.ChangeComposite, op, string(id), c.Children...)
	}
}

func (ws *workspace) collectObservations() {
	for _, id := range slices.Sorted(mapKeys(ws.observed)) {
		s := ws.observed[id]
		switch {
		case s.gone && s.before != nil:
			ws.out.RemovedObservations = append(ws.out.RemovedObservations, id)
			ws.tell(memory.ChangeObservation, memory.OutcomeRemoved, string(id))
		case !s.gone && (s.before == nil || !sameObservation(*s.before, s.now)):
			o := s.now
			o.Version, o.Bank, o.Sources = ws.write.Seq, ws.write.Bank, nil
			ws.out.Observations = append(ws.out.Observations, o)
			op := memory.OutcomeAdded
			if s.before != nil {
				op = memory.OutcomeUpdated
			}
			ws.tell(memory.ChangeObservation, op, string(id))
		}
	}
}

func (ws *workspace) collectEntities(facts []*factState) {
	named := map[memory.EntityID]bool{}
	naming := map[memory.EntityID][]string{}
	var lost []memory.EntityID
	for _, s := range facts {
		if !s.gone {
			for _, e := range s.now.Entities {
				named[e] = true
				naming[e] = append(naming[e], string(s.id()))
			}
		} else if s.before != nil {
			lost = append(lost, s.before.Entities...)
		}
	}
	for _, id := range slices.Sorted(mapKeys(ws.entities)) {
		s := ws.entities[id]
		if s == nil || s.before != nil && slices.Equal(s.before.Aliases, s.now.Aliases) && s.before.Redirect == s.now.Redirect {
			continue
		}
		ws.out.Entities = append(ws.out.Entities, s.now)
		op := memory.OutcomeUpdated
		if s.before == nil {
			op = memory.OutcomeAdded
		}
		ws.tell(memory.ChangeEntity, op, ws.entityRecord(id), naming[id]...)
	}
	for _, id := range unite(lost, nil) {
		if !named[id] {
			ws.out.RemovedEntities = append(ws.out.RemovedEntities, id)
		}
	}
}

// entityRecord names an entity in a change event: by a hash of its id, for the
// id is a name that somebody said, and the log of changes outlives a forget.
func (ws *workspace) entityRecord(id memory.EntityID) string {
	sum := sha256.Sum256([]byte(string(ws.write.Bank) + "\x00" + string(id)))
	return "n_" + hex.EncodeToString(sum[:16])
}

func (ws *workspace) collectConflicts() {
	for _, id := range slices.Sorted(mapKeys(ws.conflicts)) {
		s := ws.conflicts[id]
		switch {
		case s.gone && s.before != nil:
			ws.out.RemovedConflicts = append(ws.out.RemovedConflicts, id)
			ws.tell(memory.ChangeConflict, memory.OutcomeRemoved, string(id))
		case !s.gone && (s.before == nil || s.before.State != s.now.State || s.before.Winner != s.now.Winner):
			c := s.now
			c.Version = ws.write.Seq
			ws.out.Conflicts = append(ws.out.Conflicts, c)
			op := memory.OutcomeAdded
			if s.before != nil {
				op = memory.OutcomeUpdated
			}
			ws.tell(memory.ChangeConflict, op, string(id), string(c.A), string(c.B))
		}
	}
}
