package consolidate

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// derived are the types of observation that rules find, in order.
var derived = []memory.ObservationType{memory.ObservationPattern, memory.ObservationCausal,
	memory.ObservationGeneralization, memory.ObservationPreference}

// perEntity is how many observations of one type are kept for one entity.
const perEntity = 5

// observe derives observations from the bank's facts, or takes ready-made
// ones. An observation is keyed by its subject: a second run updates it, and on
// an unchanged bank changes nothing.
func (ws *workspace) observe(r memory.ObserveRequest) {
	if ws.write.By != nil {
		ws.takeModelObservations(r)
		return
	}
	if len(r.Observations) > 0 {
		ws.takeObservations(r)
		return
	}
	ws.ask(r, false)
	least := ws.cfg.MinConfidence
	if r.MinConfidence != nil {
		least = max(least, *r.MinConfidence)
	}
	query := setOf(analysis.ContentStems(r.Query))
	var kept []memory.Observation
	for _, e := range ws.busiest() {
		for _, f := range ws.findings(e) {
			if len(r.Types) > 0 && !slices.Contains(r.Types, f.typ) {
				continue
			}
			o, ok := ws.describe(f)
			if !ok || o.Confidence < least || len(query) > 0 && !answers(f, e, query) {
				continue
			}
			if !slices.ContainsFunc(kept, func(k memory.Observation) bool { return k.ID == o.ID }) {
				kept = append(kept, o)
			}
			ws.putObservation(o)
		}
	}
	slices.SortFunc(kept, func(a, b memory.Observation) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.ID, b.ID))
	})
	for _, o := range kept {
		ws.out.Outcome.Observations = append(ws.out.Outcome.Observations, o.ID)
	}
}

func (ws *workspace) busiest() []memory.Entity {
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.BusiestEntities(ws.cfg.ObserveEntities)
	ws.fail(err)
	return found
}

// answers reports whether a finding bears on the query's words.
func answers(f finding, e memory.Entity, query map[string]bool) bool {
	if query[f.stem] {
		return true
	}
	for _, s := range analysis.ContentStems(e.Name) {
		if query[s] {
			return true
		}
	}
	return false
}

// findings gives what the facts of one entity show together: for each type the
// words that most of them share, widest first, without those whose facts
// another covers. Observations found before are kept up to date.
func (ws *workspace) findings(e memory.Entity) []finding {
	if ws.err != nil {
		return nil
	}
	facts, err := ws.view.FactsOfEntity(e.ID, ws.cfg.ObserveFacts)
	if ws.fail(err) {
		return nil
	}
	var out []finding
	for _, typ := range derived {
		buckets := map[string][]memory.Fact{}
		for _, f := range facts {
			r := ws.readFact(f)
			if !shows(typ, f, r) || !about(e.ID, r) {
				continue
			}
			for s := range r.shared {
				if !cueStems[s] {
					buckets[s] = append(buckets[s], f)
				}
			}
		}
		out = append(out, choose(typ, e.ID, buckets)...)
	}
	before, err := ws.view.ObservationsOf(factIDs(facts))
	ws.fail(err)
	for _, o := range before {
		entity, stem := splitSubject(o.Subject)
		known := slices.ContainsFunc(out, func(f finding) bool { return f.typ == o.Type && f.stem == stem })
		if o.Given || entity != e.ID || known {
			continue
		}
		again := finding{typ: o.Type, entity: entity, stem: stem}
		for _, f := range facts {
			if r := ws.readFact(f); shows(o.Type, f, r) && about(e.ID, r) && r.shared[stem] {
				again.facts = append(again.facts, f)
			}
		}
		out = append(out, again)
	}
	return out
}

// choose keeps the widest buckets whose facts no wider one holds all of.
func choose(typ memory.ObservationType, entity memory.EntityID, buckets map[string][]memory.Fact) []finding {
	var all []finding
	for stem, facts := range buckets {
		all = append(all, finding{typ: typ, entity: entity, stem: stem, facts: facts})
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(len(b.facts), len(a.facts)), cmp.Compare(a.stem, b.stem))
	})
	var out []finding
	for _, f := range all {
		covered := slices.ContainsFunc(out, func(w finding) bool {
			have := setOf(factIDs(w.facts))
			return !slices.ContainsFunc(f.facts, func(x memory.Fact) bool { return !have[x.ID] })
		})
		if !covered && len(f.facts) > 1 {
			out = append(out, f)
		}
		if len(out) == perEntity {
			break
		}
	}
	return out
}

// takeObservations takes ready-made observations. They rest on facts alone: an
// id of anything else is dropped, and one that named ids of which none is a
// fact is refused.
func (ws *workspace) takeObservations(r memory.ObserveRequest) {
	for _, in := range r.Observations {
		var facts []memory.Fact
		for _, id := range in.Facts {
			if f := ws.fact(id); f != nil {
				facts = append(facts, *f)
			}
		}
		o := memory.Observation{ID: givenID(ws.write.Bank, in), Bank: ws.write.Bank, Type: in.Type,
			Subject: givenSubject(in), Text: in.Text, Reasoning: in.Reasoning, Given: true, Said: ws.write.Time}
		refusal := ""
		switch {
		case !in.Type.Valid():
			refusal = "its type is not one of pattern, causal, generalization, preference, risk, strategy"
		case memory.NormalText(in.Text) == "":
			refusal = "it has no text"
		case len(in.Facts) > 0 && len(facts) == 0:
			refusal = "none of the facts it names is there"
		}
		if refusal != "" {
			ws.out.Outcome.Results = append(ws.out.Outcome.Results,
				memory.WriteResult{Key: in.Subject, Outcome: memory.OutcomeRefused, Reason: refusal})
			continue
		}
		if len(facts) > 0 {
			o.Said = slices.MaxFunc(facts, rank).Said
			o.Facts = slices.Compact(factIDs(facts))
		}
		for _, f := range facts {
			o.Entities = unite(o.Entities, f.Entities)
		}
		if in.Confidence != nil {
			o.Confidence = clamp(*in.Confidence)
		} else {
			o.Confidence = ws.confidence(facts, o.Said)
		}
		ws.putObservation(o)
		ws.out.Outcome.Observations = append(ws.out.Outcome.Observations, o.ID)
	}
}

// consolidate runs what waits for a schedule: with enough facts since the last
// run, or forced and with any, it observes.
func (ws *workspace) consolidate(r memory.ConsolidateRequest) {
	last, err := ws.view.LastConsolidated()
	if ws.fail(err) {
		return
	}
	waiting, err := ws.view.FactsSince(last)
	if ws.fail(err) {
		return
	}
	ran := waiting >= ws.cfg.ConsolidateMin || r.Force && waiting > 0
	ws.out.Outcome.Ran = &ran
	if ran {
		ws.observe(memory.ObserveRequest{})
		ws.ask(memory.ObserveRequest{}, true)
		ws.out.Outcome.Facts = waiting
	}
}

// givenSubject is what an observation given ready-made is about: its own text
// where it does not say.
func givenSubject(in memory.ObservationInput) string {
	return cmp.Or(in.Subject, memory.NormalText(in.Text))
}

func givenID(bank memory.BankID, in memory.ObservationInput) memory.ObservationID {
	return memory.NewObservationID(bank, in.Type, givenSubject(in))
}
