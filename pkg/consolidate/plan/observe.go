package plan

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// derivedTypes are the types of observation that rules find, in order.
var derivedTypes = []memory.ObservationType{memory.ObservationPattern, memory.ObservationCausal,
	memory.ObservationGeneralization, memory.ObservationPreference}

// perEntity is how many observations of one type are kept for one entity.
const perEntity = 5

// observe derives observations from the bank's facts, or adds given ones. An observation is keyed by its subject: a
// second run updates it, and on an unchanged bank changes nothing.
func (ws *workspace) observe(r memory.ObserveRequest) {
	if ws.write.By != nil {
		ws.addModelObservations(r)
		return
	}
	if len(r.Observations) > 0 {
		ws.addGivenObservations(r)
		return
	}
	ws.askModel(r, false)
	least := ws.leastConfidence(r)
	asked, words := memory.AskedWords(ws.write.Bank, r.Query, text.ContentStems)
	var kept []memory.Observation
	for _, e := range ws.busiest() {
		for _, f := range ws.findings(e) {
			if len(r.Types) > 0 && !slices.Contains(r.Types, f.typ) {
				continue
			}
			o, ok := ws.describe(f)
			if !ok || o.Confidence < least || words > 0 && !answers(f, e, asked) {
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

// answers reports whether a finding bears on the words of a query.
func answers(f finding, e memory.Entity, asked func(stem string) bool) bool {
	return asked(f.stem) || slices.ContainsFunc(text.ContentStems(e.Name), asked)
}

// findings returns what the facts of one entity show together: for each type the words that most of them share, widest
// first, without those whose facts another covers. Observations found before are kept up to date.
func (ws *workspace) findings(e memory.Entity) []finding {
	if ws.err != nil {
		return nil
	}
	facts, err := ws.view.FactsOfEntity(e.ID, ws.cfg.ObserveFacts)
	if ws.fail(err) {
		return nil
	}
	var out []finding
	for _, typ := range derivedTypes {
		buckets := map[string][]memory.Fact{}
		for _, f := range facts {
			r := ws.readFact(f)
			if !shows(typ, f, r) || !about(e.ID, r) {
				continue
			}
			for s := range topics(f, r) {
				buckets[s] = append(buckets[s], f)
			}
		}
		out = append(out, choose(typ, e.ID, buckets)...)
	}
	before, err := ws.view.ObservationsOf(factIDs(facts))
	ws.fail(err)
	for _, o := range before {
		entity, stem := splitSubject(o.Subject)
		found := slices.ContainsFunc(out, func(f finding) bool { return f.typ == o.Type && f.stem == stem })
		if o.Given || entity != e.ID || found {
			continue
		}
		again := finding{typ: o.Type, entity: entity, stem: stem}
		for _, f := range facts {
			if r := ws.readFact(f); shows(o.Type, f, r) && about(e.ID, r) && topics(f, r)[stem] {
				again.facts = append(again.facts, f)
			}
		}
		out = append(out, again)
	}
	return out
}

// choose returns the widest buckets, at most perEntity of them, whose facts no wider one holds all of.
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

// consolidate observes where enough facts are new since the last run, or where it is forced and any is.
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
		ws.askModel(memory.ObserveRequest{}, true)
		ws.out.Outcome.Facts = waiting
	}
}
