package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// wording is a statement as it is kept: secrets redacted, white space folded.
func wording(text string, redact Redactor) string {
	return strings.Join(strings.FieldsFunc(redact.Redact(text), blank), " ")
}

// ends gives the entities that edges join.
func ends(edges []Edge) []memory.EntityID {
	var out []memory.EntityID
	for _, e := range edges {
		out = append(out, e.From, e.To)
	}
	return out
}

// Relations gives the edges of the drafts that became facts, each with the
// facts it rests on, ordered by ends and type. An edge with an end that names
// nothing, with one end twice or with a malformed type is left out; an edge two
// facts tell of is one, with the greater strength.
func Relations(in Input, drafts []Draft, facts []memory.Fact, redact Redactor) []memory.Relation {
	made := make(map[memory.FactID]bool, len(facts))
	for _, f := range facts {
		made[f.ID] = true
	}
	var out []memory.Relation
	for _, d := range drafts {
		id := memory.NewFactID(in.Bank, wording(d.Text, redact), cmp.Or(d.Kind, memory.KindWorld))
		if d.Refused != "" || !made[id] {
			continue
		}
		for _, e := range d.Relations {
			if r, ok := e.relation(id); ok {
				out = join(out, r)
			}
		}
	}
	slices.SortFunc(out, byEnds)
	return out
}

func (e Edge) relation(id memory.FactID) (memory.Relation, bool) {
	from, err := memory.ParseEntityID("relations.from", string(e.From))
	if err != nil {
		return memory.Relation{}, false
	}
	to, err := memory.ParseEntityID("relations.to", string(e.To))
	if err != nil || from == to || !memory.Type(e.Type).Valid() || e.Strength < 0 || e.Strength > 1 {
		return memory.Relation{}, false
	}
	return memory.Relation{From: string(from), To: string(to), Type: e.Type, Strength: cmp.Or(e.Strength, 1), Facts: []memory.FactID{id}}, true
}

// join adds a relation to a list in which each pair and type stands once.
func join(list []memory.Relation, r memory.Relation) []memory.Relation {
	for i, o := range list {
		if byEnds(o, r) == 0 {
			list[i].Strength = max(o.Strength, r.Strength)
			list[i].Facts = sortedUnique(append(list[i].Facts, r.Facts...))
			return list
		}
	}
	return append(list, r)
}

func byEnds(a, b memory.Relation) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Type, b.Type))
}
