package plan_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// undo takes the apply of an op back.
func (b *bank) undo(op string) memory.WriteOutcome {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteUndo, Op: "undo " + op, Undo: op}).Outcome
}

// contents returns what a bank holds, without the versions, the ops and the vectors of facts, and without the facts in drop.
func (b *bank) contents(drop ...memory.FactID) string {
	b.Helper()
	facts := maps.Clone(b.m.FactsByID)
	for id, f := range facts {
		f.Version, f.Ops, f.Vector = 0, nil, nil
		facts[id] = f
		if slices.Contains(drop, id) {
			delete(facts, id)
		}
	}
	disputes, observed := maps.Clone(b.m.Disputes), maps.Clone(b.m.Observed)
	for id, c := range disputes {
		c.Version = 0
		disputes[id] = c
	}
	for id, o := range observed {
		o.Version = 0
		observed[id] = o
	}
	out, err := json.MarshalIndent([]any{facts, disputes, observed, b.m.Related, b.m.Named}, "", " ")
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	text := func(s string) memory.Fact { return memory.Fact{Text: s} }
	// start makes a bank with three facts, two of which contradict each other and are linked, and a state.
	start := func(t *testing.T) (*bank, []string) {
		b := newBank(t)
		var ids []string
		for i, s := range []string{"Ines keeps bees on the roof.", "Otto repairs old clocks.", "Ines sings in a choir and paints boats."} {
			f := consolidatetest.Fact(t, "Ines", s)
			f.Said, f.Tags = at(i), []string{"seen"}
			ids = append(ids, b.one(f).ID)
		}
		b.curate(nil, change(memory.CurateConflict, memory.Curation{IDs: []string{ids[0], ids[1]}}),
			change(memory.CurateLink, memory.Curation{From: ids[1], To: ids[2], Relation: memory.RelPartOf}))
		lives := consolidatetest.Fact(t, "Ines", "Ines lives in Faro.")
		lives.Said, lives.State = at(3), &memory.State{Subject: "person:ines", Attribute: "residence", Value: "faro"}
		ids = append(ids, b.one(lives).ID)
		return b, ids
	}
	topic, pin := "trades", true
	weak := .3
	for name, c := range map[string]struct {
		facts   []memory.Fact
		changes func(ids []string, conflict string) []memory.CurationWrite
	}{
		"a fact that was remembered and superseded another": {[]memory.Fact{text("Ines sold her beehives.")}, func(ids []string, _ string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateRemember, memory.Curation{As: "$s"}, 0), change(memory.CurateSupersede, memory.Curation{ID: ids[0], By: "$s"})}
		}},
		"a fact that was said again": {[]memory.Fact{text("Otto repairs old clocks.")}, func([]string, string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateRemember, memory.Curation{}, 0)}
		}},
		"another value of a state": {[]memory.Fact{{Text: "Ines lives in Tavira.", Said: at(9), State: &memory.State{Subject: "person:ines", Attribute: "residence", Value: "tavira"}}},
			func([]string, string) []memory.CurationWrite {
				return []memory.CurationWrite{change(memory.CurateRemember, memory.Curation{}, 0)}
			}},
		"another wording, type, tags and pin": {[]memory.Fact{text("Ines keeps wasps.")}, func(ids []string, _ string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateEdit, memory.Curation{ID: ids[0]}, 0),
				change(memory.CurateEdit, memory.Curation{ID: ids[1], FactInput: memory.FactInput{Type: memory.TypeDecision, Tags: []string{"work"}}}),
				change(memory.CuratePin, memory.Curation{ID: ids[2], Pin: &pin}), change(memory.CurateTopic, memory.Curation{IDs: ids[1:3], Topic: &topic})}
		}},
		"facts that became one, and one that became several": {[]memory.Fact{text("Ines sings in a choir."), text("Ines paints boats.")}, func(ids []string, _ string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateMerge, memory.Curation{IDs: ids[:2]}), change(memory.CurateSplit, memory.Curation{ID: ids[2]}, 0, 1)}
		}},
		"a conflict that was opened, and one that was resolved": {nil, func(ids []string, conflict string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateConflict, memory.Curation{IDs: ids[1:3]}), change(memory.CurateResolve, memory.Curation{ID: conflict, Winner: ids[1]})}
		}},
		"a conflict that was dismissed": {nil, func(_ []string, conflict string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateDismiss, memory.Curation{ID: conflict})}
		}},
		"relations that were made, changed and ended": {nil, func(ids []string, _ string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateLink, memory.Curation{From: ids[0], To: ids[1], Relation: memory.RelCauses}),
				change(memory.CurateLink, memory.Curation{From: ids[1], To: ids[2], Relation: memory.RelPartOf, Strength: &weak}),
				change(memory.CurateUnlink, memory.Curation{From: min(ids[0], ids[1]), To: max(ids[0], ids[1]), Relation: memory.RelContradicts})}
		}},
		"names that were joined": {nil, func([]string, string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateAlias, memory.Curation{Entity: "Ines", Aliases: []string{"Nessa"}})}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, ids := start(t)
			var conflict string
			for id := range b.m.Disputes {
				conflict = string(id)
			}
			var facts []memory.Fact
			for _, given := range c.facts {
				f := consolidatetest.Fact(t, "Ines", given.Text)
				f.State, f.Said = given.State, given.Said
				if f.Said.IsZero() {
					f.Said = at(50)
				}
				facts = append(facts, f)
			}
			before, had := b.contents(), maps.Clone(b.m.FactsByID)
			out := b.write(memory.Write{Kind: memory.WriteApply, Op: "a", Facts: facts, Apply: c.changes(ids, conflict)}).Outcome
			equal(t, "refused", out.Message, "")
			var made []memory.FactID
			for id := range b.m.FactsByID {
				if _, ok := had[id]; !ok {
					made = append(made, id)
				}
			}
			if b.contents() == before {
				t.Fatal("the apply changed nothing")
			}
			equal(t, "refused", b.undo("a").Message, "")
			if after := b.contents(made...); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			for _, id := range made {
				if f := b.m.FactsByID[id]; len(f.Valid) > 0 || f.Superseded != "" {
					t.Errorf("%q holds still: %+v", f.Text, f)
				}
			}
			checkInvariants(t, b.m, settings())
			equal(t, "a second time", b.undo("a").Code, 0) // the same op: nothing is done again
			equal(t, "another time", b.write(memory.Write{Kind: memory.WriteUndo, Op: "again", Undo: "a"}).Outcome.Code, 409)
			// What was taken back can be made again.
			equal(t, "made again", b.write(memory.Write{Kind: memory.WriteApply, Op: "b", Facts: facts, Apply: c.changes(ids, conflict)}).Outcome.Message, "")
			for _, id := range made {
				if f := b.m.FactsByID[id]; !f.Live() && f.Merged == "" {
					t.Errorf("%q does not hold again: %+v", f.Text, f)
				}
			}
			checkInvariants(t, b.m, settings())
		})
	}
	t.Run("facts that had been about another entity are about it again", func(t *testing.T) {
		t.Parallel()
		b, _ := start(t)
		sasha := b.one(consolidatetest.Fact(t, "Sasha", "Sasha sells kites.")).ID
		out := b.write(memory.Write{Kind: memory.WriteApply, Op: "a", Apply: []memory.CurationWrite{
			change(memory.CurateEntities, memory.Curation{IDs: []string{"person:ines", "person:sasha"}})}}).Outcome
		equal(t, "refused", out.Message, "")
		equal(t, "joined", b.m.FactsByID[memory.FactID(sasha)].Entities, []memory.EntityID{"person:ines"})
		equal(t, "refused", b.undo("a").Message, "")
		equal(t, "parted", b.m.FactsByID[memory.FactID(sasha)].Entities, []memory.EntityID{"person:sasha"})
		equal(t, "leads to", b.m.Named["person:sasha"].Redirect, memory.EntityID(""))
		checkInvariants(t, b.m, settings())
	})
	for name, c := range map[string]struct {
		facts   []memory.Fact
		changes func(ids []string) []memory.CurationWrite
		then    func(b *bank, ids []string)
	}{
		"a fact has changed since": {nil, func(ids []string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateMerge, memory.Curation{IDs: ids[:2]}), change(memory.CuratePin, memory.Curation{ID: ids[2], Pin: &pin})}
		}, func(b *bank, ids []string) {
			b.curate(nil, change(memory.CurateTopic, memory.Curation{IDs: ids[2:3], Topic: &topic}))
		}},
		"a conflict was decided since": {nil, func(ids []string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateConflict, memory.Curation{IDs: ids[1:3]})}
		}, func(b *bank, ids []string) {
			id := memory.NewConflictID("alice", memory.FactID(min(ids[1], ids[2])), memory.FactID(max(ids[1], ids[2])))
			b.curate(nil, change(memory.CurateDismiss, memory.Curation{ID: string(id)}))
		}},
		"a relation has changed since": {nil, func(ids []string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateLink, memory.Curation{From: ids[0], To: ids[2], Relation: memory.RelCauses})}
		}, func(b *bank, ids []string) {
			b.curate(nil, change(memory.CurateLink, memory.Curation{From: ids[0], To: ids[2], Relation: memory.RelCauses, Strength: &weak}))
		}},
		"another fact has ended by what was made": {[]memory.Fact{text("Ines sold her beehives.")}, func([]string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateRemember, memory.Curation{}, 0)}
		}, func(b *bank, ids []string) {
			made := b.fact("Ines sold her beehives.")
			b.write(memory.Write{Kind: memory.WriteApply, Op: "later", Apply: []memory.CurationWrite{change(memory.CurateSupersede, memory.Curation{ID: ids[0], By: string(made.ID)})}})
		}},
		"a fact about the joined entity has come since": {nil, func([]string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CurateAlias, memory.Curation{Entity: "Ines", Aliases: []string{"Nessa"}})}
		}, func(b *bank, _ []string) {
			b.one(consolidatetest.Fact(b.T, "Nessa", "Nessa grows figs."))
		}},
		"something was forgotten since": {nil, func(ids []string) []memory.CurationWrite {
			return []memory.CurationWrite{change(memory.CuratePin, memory.Curation{ID: ids[0], Pin: &pin})}
		}, func(b *bank, ids []string) { b.forget(memory.ForgetRequest{ID: ids[2]}) }},
	} {
		t.Run("nothing is taken back where "+name, func(t *testing.T) {
			t.Parallel()
			b, ids := start(t)
			var facts []memory.Fact
			for _, given := range c.facts {
				f := consolidatetest.Fact(t, "Ines", given.Text)
				f.Said = at(50)
				facts = append(facts, f)
			}
			equal(t, "refused", b.write(memory.Write{Kind: memory.WriteApply, Op: "a", Facts: facts, Apply: c.changes(ids)}).Outcome.Message, "")
			c.then(b, ids)
			before := b.contents()
			out := b.write(memory.Write{Kind: memory.WriteUndo, Op: "undo", Undo: "a"})
			equal(t, "code of "+out.Outcome.Message, out.Outcome.Code, 409)
			equal(t, "field", out.Outcome.Field, "apply")
			equal(t, "goes from the log", out.Stale, true)
			equal(t, "the bank", b.contents(), before)
		})
	}
	t.Run("an op that no apply has is unknown", func(t *testing.T) {
		t.Parallel()
		b, _ := start(t)
		equal(t, "code", b.undo("nobody").Code, 404)
	})
}
