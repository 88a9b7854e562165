package consolidate

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// observationState is an observation as the store has it and as the write leaves it.
type observationState struct {
	before *memory.Observation
	now    memory.Observation
	gone   bool
}

// observation gives an observation as the write left it; nil if there is none.
func (ws *workspace) observation(id memory.ObservationID) *observationState {
	if s, ok := ws.observed[id]; ok {
		return s
	}
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.Observations([]memory.ObservationID{id})
	if ws.fail(err) || len(found) == 0 {
		return nil
	}
	return ws.adoptObservation(found[0])
}

func (ws *workspace) adoptObservation(o memory.Observation) *observationState {
	if s, ok := ws.observed[o.ID]; ok {
		return s
	}
	s := &observationState{before: &o, now: o}
	s.now.Facts = slices.Clone(o.Facts)
	ws.observed[o.ID] = s
	return s
}

// putObservation sets an observation's new state.
func (ws *workspace) putObservation(o memory.Observation) {
	s := ws.observation(o.ID)
	if s == nil {
		s = &observationState{}
		ws.observed[o.ID] = s
	}
	s.now, s.gone = o, false
}

// sameObservation reports whether two states are equal but for the version and
// what is filled on read.
func sameObservation(a, b memory.Observation) bool {
	norm := func(o memory.Observation) memory.Observation {
		o.Version, o.Bank, o.Sources, o.Said = 0, "", nil, o.Said.UTC()
		o.Facts, o.Entities = orNil(o.Facts), orNil(o.Entities)
		return o
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

// reviseObservations holds the observations that rest on facts which ended,
// lost a source or went against what is left: derived ones are derived anew
// from their remaining facts, given ones lose confidence in proportion, and
// those without enough left go. merged says which fact absorbed which.
func (ws *workspace) reviseObservations(facts []memory.FactID, merged map[memory.FactID]memory.FactID) {
	if len(facts) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.ObservationsOf(facts)
	if ws.fail(err) {
		return
	}
	slices.SortFunc(found, func(a, b memory.Observation) int { return cmp.Compare(a.ID, b.ID) })
	for _, o := range found {
		s := ws.adoptObservation(o)
		if s.gone {
			continue
		}
		var left []memory.Fact
		for _, id := range s.now.Facts {
			for hops := 0; merged[id] != "" && hops < 16; hops++ {
				id = merged[id]
			}
			f := ws.fact(id)
			if f != nil && f.Live() && !slices.ContainsFunc(left, func(l memory.Fact) bool { return l.ID == f.ID }) {
				left = append(left, *f)
			}
		}
		ws.revise(s, left)
	}
}

func (ws *workspace) revise(s *observationState, left []memory.Fact) {
	if len(left) == 0 || ws.bereft(s.now, left) {
		s.gone = true
		return
	}
	o := s.now
	if !o.Given {
		entity, stem := splitSubject(o.Subject)
		next, ok := ws.describe(finding{typ: o.Type, entity: entity, stem: stem, facts: left})
		s.gone = !ok
		if ok {
			s.now = next
		}
		return
	}
	o.Confidence = round(o.Confidence * float64(len(left)) / float64(len(o.Facts)))
	o.Facts = factIDs(left)
	s.now = o
}

func factIDs(facts []memory.Fact) []memory.FactID {
	ids := make([]memory.FactID, len(facts))
	for i, f := range facts {
		ids[i] = f.ID
	}
	slices.Sort(ids)
	return ids
}
