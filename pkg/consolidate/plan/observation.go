package plan

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// observationState is an observation as the store has it and as the write leaves it.
type observationState struct {
	before *memory.Observation // nil = not stored
	now    memory.Observation
	gone   bool
}

// observation returns an observation as the write left it; nil if there is none.
func (ws *workspace) observation(id memory.ObservationID) *observationState {
	if s, ok := ws.observations[id]; ok {
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
	if s, ok := ws.observations[o.ID]; ok {
		return s
	}
	s := &observationState{before: &o, now: o}
	s.now.Facts = slices.Clone(o.Facts)
	ws.observations[o.ID] = s
	return s
}

// putObservation sets an observation's new state.
func (ws *workspace) putObservation(o memory.Observation) {
	s := ws.observation(o.ID)
	if s == nil {
		s = &observationState{}
		ws.observations[o.ID] = s
	}
	s.now, s.gone = o, false
}

// observationsOf returns the observations that rest on one of the facts, by id.
func (ws *workspace) observationsOf(facts []memory.FactID) []memory.Observation {
	if len(facts) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.ObservationsOf(facts)
	if ws.fail(err) {
		return nil
	}
	slices.SortFunc(found, func(a, b memory.Observation) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// sameObservation reports whether two states are equal but for the version and what is filled on read.
func sameObservation(a, b memory.Observation) bool {
	norm := func(o memory.Observation) memory.Observation {
		o.Version, o.Bank, o.Sources, o.Said = 0, "", nil, o.Said.UTC()
		o.Facts, o.Entities = orNil(o.Facts), orNil(o.Entities)
		return o
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

// reviseObservations revises the observations that rest on facts which ended, were removed or lost a source. Derived
// ones are derived again from their remaining facts, given ones lose confidence in proportion, and those without enough
// facts left go. merged says which fact absorbed which.
func (ws *workspace) reviseObservations(facts []memory.FactID, merged map[memory.FactID]memory.FactID) {
	for _, o := range ws.observationsOf(facts) {
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
		ws.reviseObservation(s, left)
	}
}

func (ws *workspace) reviseObservation(s *observationState, left []memory.Fact) {
	if len(left) == 0 || ws.lostEvidence(s.now, left) {
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

// lostEvidence reports whether an observation of a language model has lost what it rests on: a fact whose words may
// stand in it is gone, or too few are left.
func (ws *workspace) lostEvidence(o memory.Observation, left []memory.Fact) bool {
	return o.By != nil && (len(left) < minEvidence || slices.ContainsFunc(o.Facts, ws.isGone))
}

func factIDs(facts []memory.Fact) []memory.FactID {
	ids := make([]memory.FactID, len(facts))
	for i, f := range facts {
		ids[i] = f.ID
	}
	slices.Sort(ids)
	return ids
}

// ObservationID is the id of an observation that was given: by its type and subject.
func ObservationID(bank memory.BankID, in memory.ObservationInput) memory.ObservationID {
	return memory.NewObservationID(bank, in.Type, givenSubject(in))
}

// givenSubject is what a given observation is about: its own text where it does not say.
func givenSubject(in memory.ObservationInput) string {
	return cmp.Or(in.Subject, memory.NormalText(in.Text))
}

// newObservation returns a given observation that rests on these facts, without its confidence.
func (ws *workspace) newObservation(in memory.ObservationInput, facts []memory.Fact) memory.Observation {
	o := memory.Observation{ID: ObservationID(ws.write.Bank, in), Bank: ws.write.Bank, Type: in.Type, Subject: givenSubject(in),
		Text: in.Text, Reasoning: in.Reasoning, Given: true, By: ws.write.By, Said: ws.write.Time}
	if len(facts) > 0 {
		o.Said = slices.MaxFunc(facts, compareAge).Said
		o.Facts = slices.Compact(factIDs(facts))
	}
	for _, f := range facts {
		o.Entities = unite(o.Entities, f.Entities)
	}
	return o
}

// addGivenObservations adds ready-made observations. They rest on facts alone: an id of anything else is dropped, and
// an observation that named ids of which none is a fact is refused.
func (ws *workspace) addGivenObservations(r memory.ObserveRequest) {
	for _, in := range r.Observations {
		var facts []memory.Fact
		for _, id := range in.Facts {
			if f := ws.fact(id); f != nil {
				facts = append(facts, *f)
			}
		}
		reason := ""
		switch {
		case !in.Type.Valid():
			reason = "its type is not one of pattern, causal, generalization, preference, risk, strategy"
		case memory.NormalText(in.Text) == "":
			reason = "it has no text"
		case len(in.Facts) > 0 && len(facts) == 0:
			reason = "none of the facts it names is there"
		}
		if reason != "" {
			ws.addResult(memory.WriteResult{Key: in.Subject, Outcome: memory.OutcomeRefused, Reason: reason})
			continue
		}
		o := ws.newObservation(in, facts)
		if in.Confidence != nil {
			o.Confidence = clamp(*in.Confidence)
		} else {
			o.Confidence = ws.confidence(facts, o.Said)
		}
		ws.putObservation(o)
		ws.out.Derived = append(ws.out.Derived, o.Facts...) // a forget finds the write by them, though the observation may be gone by then
		ws.out.Outcome.Observations = append(ws.out.Outcome.Observations, o.ID)
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// minEvidence is how many facts an observation of a language model takes.
const minEvidence = 2

// addModelObservations adds the observations of a language model. Each rests on facts that are there and hold, two at
// least and more for a sceptical bank, and is keyed by its subject. One that rests on the same facts as before stays as
// it is, whatever its wording now. Its confidence c is shaped by what the facts show: confidence(facts) · (1+c)/2.
func (ws *workspace) addModelObservations(r memory.ObserveRequest) {
	ws.resolveRequest()
	least := ws.leastConfidence(r)
	for _, in := range r.Observations {
		facts, reason := ws.evidence(in)
		o := ws.newObservation(in, facts)
		if reason == "" {
			given := 0.5
			if in.Confidence != nil {
				given = clamp(*in.Confidence)
			}
			o.Confidence = round(ws.confidence(facts, o.Said) * (1 + given) / 2)
			if o.Confidence < least {
				reason = fmt.Sprintf("its confidence is below %g", least)
			}
		}
		if reason != "" {
			ws.addResult(memory.WriteResult{Key: string(o.ID), Outcome: memory.OutcomeRefused, Reason: reason})
			continue
		}
		ws.out.Derived = append(ws.out.Derived, o.Facts...)
		if s := ws.observation(o.ID); s == nil || s.gone || !slices.Equal(s.now.Facts, o.Facts) {
			ws.putObservation(o)
		}
		if !slices.Contains(ws.out.Outcome.Observations, o.ID) {
			ws.out.Outcome.Observations = append(ws.out.Outcome.Observations, o.ID)
		}
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// leastConfidence is the confidence below which a request keeps no observation.
func (ws *workspace) leastConfidence(r memory.ObserveRequest) float64 {
	if r.MinConfidence == nil {
		return ws.cfg.MinConfidence
	}
	return max(ws.cfg.MinConfidence, *r.MinConfidence)
}

// evidence returns the facts that hold of those an observation names, each once, or why it is refused.
func (ws *workspace) evidence(in memory.ObservationInput) (facts []memory.Fact, reason string) {
	ws.load(in.Facts)
	for _, id := range unite(in.Facts, nil) {
		f := ws.fact(id)
		if f == nil {
			ws.out.Stale = true // its words may come from what is gone
			return nil, "a fact it names is not there"
		}
		if f.Live() {
			facts = append(facts, *f)
		}
	}
	least := minEvidence + max(0, cmp.Or(ws.bank.Disposition.Skepticism, 3)-3)
	switch {
	case !in.Type.Valid():
		return nil, "its type is none of observations"
	case memory.NormalText(in.Text) == "":
		return nil, "it has no text"
	case len(facts) < least:
		return nil, fmt.Sprintf("it rests on %d facts that hold; %d are needed", len(facts), least)
	}
	return facts, ""
}

// collectObservations adds the observations that the write changed to the plan.
func (ws *workspace) collectObservations() {
	for _, id := range slices.Sorted(maps.Keys(ws.observations)) {
		s := ws.observations[id]
		switch {
		case s.gone && s.before != nil:
			ws.out.RemovedObservations = append(ws.out.RemovedObservations, id)
			ws.announce(memory.ChangeObservation, memory.OutcomeRemoved, string(id))
		case !s.gone && (s.before == nil || !sameObservation(*s.before, s.now)):
			o := s.now
			o.Version, o.Bank, o.Sources = ws.write.Seq, ws.write.Bank, nil
			ws.out.Observations = append(ws.out.Observations, o)
			ws.announce(memory.ChangeObservation, addedOrUpdated(s.before == nil), string(id))
		}
	}
}
