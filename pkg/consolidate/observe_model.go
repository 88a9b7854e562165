package consolidate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// leastFacts is how many facts an observation of a language model takes.
const leastFacts = 2

// takeModelObservations takes the observations of a language model. Each rests
// on facts that are there and hold, two at least and more for a sceptical bank,
// and is keyed by its subject. One that rests on the same facts as before stays
// as it is, whatever its wording now. Its confidence c is shaped by what the
// facts show: confidence(facts) · (1+c)/2.
func (ws *workspace) takeModelObservations(r memory.ObserveRequest) {
	ws.answered()
	least := ws.cfg.MinConfidence
	if r.MinConfidence != nil {
		least = max(least, *r.MinConfidence)
	}
	for _, in := range r.Observations {
		facts, refusal := ws.evidence(in)
		o := memory.Observation{ID: givenID(ws.write.Bank, in), Bank: ws.write.Bank, Type: in.Type, Subject: givenSubject(in),
			Text: in.Text, Reasoning: in.Reasoning, Given: true, By: ws.write.By, Said: ws.write.Time}
		if refusal == "" {
			o.Said = slices.MaxFunc(facts, rank).Said
			o.Facts = factIDs(facts)
			for _, f := range facts {
				o.Entities = unite(o.Entities, f.Entities)
			}
			given := 0.5
			if in.Confidence != nil {
				given = clamp(*in.Confidence)
			}
			o.Confidence = round(ws.confidence(facts, o.Said) * (1 + given) / 2)
			if o.Confidence < least {
				refusal = fmt.Sprintf("its confidence is below %g", least)
			}
		}
		if refusal != "" {
			ws.out.Outcome.Results = append(ws.out.Outcome.Results,
				memory.WriteResult{Key: string(o.ID), Outcome: memory.OutcomeRefused, Reason: refusal})
			continue
		}
		ws.out.Derived = append(ws.out.Derived, o.Facts...)
		if held := ws.observation(o.ID); held == nil || held.gone || !slices.Equal(held.now.Facts, o.Facts) {
			ws.putObservation(o)
		}
		if !slices.Contains(ws.out.Outcome.Observations, o.ID) {
			ws.out.Outcome.Observations = append(ws.out.Outcome.Observations, o.ID)
		}
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// evidence gives the facts that hold of those an observation names, each once,
// or why it is refused.
func (ws *workspace) evidence(in memory.ObservationInput) (facts []memory.Fact, refusal string) {
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
	least := leastFacts + max(0, cmp.Or(ws.bank.Disposition.Skepticism, 3)-3)
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

// bereft reports whether an observation of a language model has lost what it
// rests on: a fact whose words may stand in it is gone, or too few are left.
func (ws *workspace) bereft(o memory.Observation, left []memory.Fact) bool {
	if o.By == nil {
		return false
	}
	return len(left) < leastFacts || slices.ContainsFunc(o.Facts, func(id memory.FactID) bool {
		s, ok := ws.facts[id]
		return ok && s.gone
	})
}
