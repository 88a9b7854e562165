package consolidate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// relate adds an edge between two records; the last word on a pair and type counts.
func (ws *workspace) relate(r memory.Relation) {
	if r.From == r.To {
		return
	}
	r.Strength = clamp(r.Strength)
	ws.relations = slices.DeleteFunc(ws.relations, func(o memory.Relation) bool {
		return o.From == r.From && o.To == r.To && o.Type == r.Type
	})
	ws.relations = append(ws.relations, r)
}

// takeRelations takes in the edges an extractor saw. An unknown type becomes
// related_to; one between a record and itself, or to a record that is not
// there, is skipped. Both are reported among the results of the write.
func (ws *workspace) takeRelations(given []memory.Relation) {
	for i, r := range given {
		report := func(outcome memory.Outcome, format string, args ...any) {
			ws.out.Outcome.Results = append(ws.out.Outcome.Results, memory.WriteResult{
				Key: fmt.Sprintf("relations.%d", i), Outcome: outcome, Reason: fmt.Sprintf(format, args...)})
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
		var facts []memory.FactID
		for _, id := range r.Facts {
			if ws.fact(id) != nil {
				facts = append(facts, id)
			}
		}
		if len(r.Facts) > 0 && len(facts) == 0 {
			report(memory.OutcomeRefused, "what the relation rests on is not there")
			continue
		}
		r.Facts = unite(facts, nil)
		ws.relate(r)
	}
}

// relationEnd gives the fact or entity that an end names; "" if it is not there.
func (ws *workspace) relationEnd(id string) string {
	if f := ws.fact(memory.FactID(id)); f != nil {
		return id
	}
	eid, err := memory.ParseEntityID("relation", id)
	if err != nil {
		return ""
	}
	if to, ok := ws.resolved[eid]; ok {
		return string(to)
	}
	if s := ws.entity(eid); s != nil {
		return string(eid)
	}
	return ""
}

// keptRelations are those whose facts are all still there, in order.
func (ws *workspace) keptRelations() []memory.Relation {
	out := slices.DeleteFunc(slices.Clone(ws.relations), func(r memory.Relation) bool {
		return slices.ContainsFunc(r.Facts, func(id memory.FactID) bool {
			s, ok := ws.facts[id]
			return ok && s.gone
		})
	})
	slices.SortFunc(out, func(a, b memory.Relation) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Type, b.Type))
	})
	return out
}

// relationsOf gives the relations that rest on one of the facts, without
// what else they rested on, and those that rested on none.
func relationsOf(given []memory.Relation, facts []memory.Fact) []memory.Relation {
	var out []memory.Relation
	for _, r := range given {
		left := slices.DeleteFunc(slices.Clone(r.Facts), func(id memory.FactID) bool {
			return !slices.ContainsFunc(facts, func(f memory.Fact) bool { return f.ID == id })
		})
		if len(r.Facts) == 0 || len(left) > 0 {
			r.Facts = left
			out = append(out, r)
		}
	}
	return out
}
