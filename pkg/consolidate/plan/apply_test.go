package plan_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// curate plans and applies changes; facts are what those that make some refer to.
func (b *bank) curate(facts []memory.Fact, changes ...memory.CurationWrite) memory.WriteOutcome {
	b.Helper()
	return b.write(memory.Write{Kind: memory.WriteApply, Facts: facts, Apply: changes}).Outcome
}

func change(op string, c memory.Curation, facts ...int) memory.CurationWrite {
	c.Op = op
	return memory.CurationWrite{Curation: c, Facts: facts}
}

func TestApply(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*bank, []string) {
		b := newBank(t)
		var ids []string
		for i, s := range []string{"Ines keeps bees on the roof.", "Otto repairs old clocks.", "Ines sings in a choir and paints boats."} {
			f := consolidatetest.Fact(t, "Ines", s)
			f.Said = at(i)
			ids = append(ids, b.one(f).ID)
		}
		return b, ids
	}
	live := func(b *bank, id string) bool { return b.m.FactsByID[memory.FactID(id)].Live() }

	t.Run("later changes refer to what earlier ones made", func(t *testing.T) {
		t.Parallel()
		b, ids := start(t)
		f := consolidatetest.Fact(t, "Ines", "Ines sold her beehives.")
		f.Said = at(50)
		out := b.curate([]memory.Fact{f}, change(memory.CurateRemember, memory.Curation{As: "$sold"}, 0),
			change(memory.CurateSupersede, memory.Curation{ID: ids[0], By: "$sold"}),
			change(memory.CurateLink, memory.Curation{From: "$sold", To: ids[1], Relation: memory.RelCauses}))
		equal(t, "refused", out.Code, 0)
		equal(t, "results", len(out.Results), 3)
		equal(t, "superseded by", string(b.m.FactsByID[memory.FactID(ids[0])].Superseded), out.Results[0].ID)
		if live(b, ids[0]) || !live(b, out.Results[0].ID) || b.m.Related[out.Results[0].ID+"|"+ids[1]+"|causes"].Strength != 1 {
			t.Errorf("facts %+v, relations %v", b.m.FactsByID, b.m.Related)
		}
		checkInvariants(t, b.m, settings())
	})
	t.Run("facts merge into the one that is named, and a fact splits into its parts", func(t *testing.T) {
		t.Parallel()
		b, ids := start(t)
		parts := []memory.Fact{consolidatetest.Fact(t, "", "Ines sings in a choir."), consolidatetest.Fact(t, "", "Ines paints boats.")}
		out := b.curate(parts, change(memory.CurateMerge, memory.Curation{IDs: []string{ids[0], ids[1]}, Into: ids[1]}),
			change(memory.CurateSplit, memory.Curation{ID: ids[2]}, 0, 1))
		equal(t, "refused", out.Code, 0)
		equal(t, "merged into", string(b.m.FactsByID[memory.FactID(ids[0])].Merged), ids[1])
		equal(t, "parts", len(out.Results[1].IDs), 2)
		for _, id := range out.Results[1].IDs {
			if f := b.m.FactsByID[memory.FactID(id)]; !f.Live() || !f.Said.Equal(at(2)) {
				t.Errorf("part %+v", f)
			}
		}
		if whole := b.m.FactsByID[memory.FactID(ids[2])]; whole.Live() || len(whole.Valid) > 0 || string(whole.Superseded) != out.Results[1].IDs[0] {
			t.Errorf("the whole %+v", whole)
		}
		checkInvariants(t, b.m, settings())
	})
	t.Run("a conflict is opened and resolved, a relation made and ended, topic and pin set", func(t *testing.T) {
		t.Parallel()
		b, ids := start(t)
		topic, pin := "trades", true
		out := b.curate(nil, change(memory.CurateConflict, memory.Curation{As: "$c", IDs: []string{ids[0], ids[1]}}),
			change(memory.CurateLink, memory.Curation{From: ids[1], To: ids[2], Relation: memory.RelPartOf}),
			change(memory.CurateUnlink, memory.Curation{From: ids[1], To: ids[2], Relation: memory.RelPartOf}),
			change(memory.CurateTopic, memory.Curation{IDs: []string{ids[1], ids[2]}, Topic: &topic}),
			change(memory.CuratePin, memory.Curation{ID: ids[2], FactInput: memory.FactInput{}, Pin: &pin}),
			change(memory.CurateResolve, memory.Curation{ID: "$c", Winner: ids[1]}))
		equal(t, "refused", out.Message, "")
		dispute := b.m.Disputes[memory.ConflictID(out.Results[0].ID)]
		if dispute.State != memory.ConflictResolved || string(dispute.Winner) != ids[1] || live(b, ids[0]) {
			t.Errorf("conflict %+v", dispute)
		}
		equal(t, "topic", b.m.FactsByID[memory.FactID(ids[1])].Topic, topic)
		equal(t, "pinned", b.m.FactsByID[memory.FactID(ids[2])].Pinned, true)
		if _, linked := b.m.Related[ids[1]+"|"+ids[2]+"|part_of"]; linked {
			t.Error("the relation is still there")
		}
		again := b.curate(nil, change(memory.CurateUnlink, memory.Curation{From: ids[1], To: ids[2], Relation: memory.RelPartOf}))
		equal(t, "ended twice", again.Field, "changes.0.relation")
	})
	for name, c := range map[string]struct {
		change memory.Curation
		op     string
		code   int
		field  string
	}{
		"an unknown fact":                 {memory.Curation{ID: "f_none", By: "A"}, memory.CurateSupersede, 404, "changes.1.id"},
		"a fact that supersedes itself":   {memory.Curation{ID: "A", By: "A"}, memory.CurateSupersede, 400, "changes.1.by"},
		"a cycle":                         {memory.Curation{ID: "A", By: "B"}, memory.CurateSupersede, 409, "changes.1.by"},
		"a reference to nothing":          {memory.Curation{ID: "A", By: "$later"}, memory.CurateSupersede, 400, "changes.1.by"},
		"a winner that is no party":       {memory.Curation{ID: "conflict", Winner: "A"}, memory.CurateResolve, 400, "changes.1.winner"},
		"an unknown conflict":             {memory.Curation{ID: "x_none", Winner: "A"}, memory.CurateResolve, 404, "changes.1.id"},
		"one fact twice in a merge":       {memory.Curation{IDs: []string{"A", "A"}}, memory.CurateMerge, 400, "changes.1.ids.1"},
		"a merge into another fact":       {memory.Curation{IDs: []string{"A", "C"}, Into: "D"}, memory.CurateMerge, 400, "changes.1.into"},
		"a relation to itself":            {memory.Curation{From: "A", To: "A", Relation: memory.RelCauses}, memory.CurateLink, 400, "changes.1.to"},
		"a relation to nothing":           {memory.Curation{From: "A", To: "place:nowhere", Relation: memory.RelCauses}, memory.CurateLink, 404, "changes.1.to"},
		"a version that has moved on":     {memory.Curation{ID: "A", Version: new(uint64), Pin: new(bool)}, memory.CuratePin, 409, "changes.1.version"},
		"a fact contradicts itself":       {memory.Curation{IDs: []string{"A", "A"}}, memory.CurateConflict, 400, "changes.1.ids.1"},
		"the fact that was ended before":  {memory.Curation{ID: "B", Pin: new(bool)}, memory.CuratePin, 409, "changes.1.id"},
		"a split whose part is the whole": {memory.Curation{ID: "A"}, memory.CurateSplit, 400, "changes.1.parts.0.text"},
	} {
		t.Run("nothing is changed for "+name, func(t *testing.T) {
			t.Parallel()
			b, ids := start(t)
			d := b.one(consolidatetest.Fact(t, "Otto", "Otto rows."))
			conflict := b.curate(nil, change(memory.CurateConflict, memory.Curation{IDs: []string{ids[2], d.ID}})).Results[0].ID
			names := map[string]string{"A": ids[0], "B": ids[1], "C": ids[2], "D": d.ID, "conflict": conflict}
			named := func(s string) string {
				if id, ok := names[s]; ok {
					return id
				}
				return s
			}
			x := c.change
			x.ID, x.By, x.Into, x.Winner, x.From, x.To = named(x.ID), named(x.By), named(x.Into), named(x.Winner), named(x.From), named(x.To)
			x.IDs = append([]string(nil), x.IDs...)
			for i, id := range x.IDs {
				x.IDs[i] = named(id)
			}
			facts := []memory.Fact{consolidatetest.Fact(t, "Ines", "Ines keeps bees on the roof."), consolidatetest.Fact(t, "", "Ines keeps geese.")}
			before := b.m.FactsByID[memory.FactID(ids[1])]
			out := b.curate(facts, change(memory.CurateSupersede, memory.Curation{ID: ids[1], By: ids[0]}), change(c.op, x, 0, 1))
			equal(t, "code of "+out.Message, out.Code, c.code)
			equal(t, "field", out.Field, c.field)
			equal(t, "the change before it", b.m.FactsByID[memory.FactID(ids[1])].Version, before.Version)
			if !live(b, ids[0]) || !live(b, ids[1]) {
				t.Error("a fact was ended")
			}
		})
	}
	t.Run("what a forget left of it goes on past what is gone", func(t *testing.T) {
		t.Parallel()
		b, ids := start(t)
		out := b.write(memory.Write{Kind: memory.WriteApply, RestOf: &memory.RestOf{Seq: 9, Kind: memory.WriteApply}, Apply: []memory.CurationWrite{
			change(memory.CurateSupersede, memory.Curation{ID: "f_gone", By: ids[0]}), change(memory.CurateSupersede, memory.Curation{ID: ids[0], By: ids[1]})}}).Outcome
		equal(t, "code", out.Code, 0)
		if live(b, ids[0]) {
			t.Error("the change that could be made was not")
		}
	})
	t.Run("what is remembered tells what it is near to and what it contradicts", func(t *testing.T) {
		t.Parallel()
		b, _ := start(t)
		out := b.curate([]memory.Fact{consolidatetest.Fact(t, "Ines", "Ines doesn't keep bees on the roof.")}, change(memory.CurateRemember, memory.Curation{}, 0))
		if x := out.Results[0].Collides; len(x) == 0 || x[0].Conflict == "" || x[0].ID != b.fact("Ines keeps bees on the roof.").ID || x[0].Near <= 0 {
			t.Errorf("collides with %+v", x)
		}
	})
}

func TestApplyJoinsNames(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	old := b.one(consolidatetest.Fact(t, "Misaki", "Misaki plays the koto.")).ID
	next := consolidatetest.Fact(t, "美咲", "美咲 repairs kites.")
	out := b.curate([]memory.Fact{next}, change(memory.CurateAlias, memory.Curation{Entity: "Misaki", Aliases: []string{"美咲"}}),
		change(memory.CurateRemember, memory.Curation{As: "$n"}, 0))
	equal(t, "refused", out.Message, "")
	equal(t, "entity", out.Results[0].ID, "person:misaki")
	equal(t, "facts", [2]memory.EntityID{b.m.FactsByID[memory.FactID(old)].Entities[0], b.m.FactsByID[memory.FactID(out.Results[1].ID)].Entities[0]},
		[2]memory.EntityID{"person:misaki", "person:misaki"})

	b.one(consolidatetest.Fact(t, "Sasha", "Sasha sells kites."))
	out = b.curate(nil, change(memory.CurateEntities, memory.Curation{IDs: []string{"person:sasha", "person:misaki"}, Into: "person:misaki"}))
	equal(t, "refused", out.Message, "")
	equal(t, "leads to", b.m.Named["person:sasha"].Redirect, memory.EntityID("person:misaki"))
	out = b.curate(nil, change(memory.CurateAlias, memory.Curation{Entity: "Misaki", Aliases: []string{"Sasha"}, Remove: true}))
	equal(t, "refused", out.Message, "")
	equal(t, "leads to", b.m.Named["person:sasha"].Redirect, memory.EntityID(""))
	checkInvariants(t, b.m, settings())

	for field, c := range map[string]memory.Curation{
		"changes.0.ids.1":     {Op: memory.CurateEntities, IDs: []string{"person:misaki", "person:nobody"}},
		"changes.0.into":      {Op: memory.CurateEntities, IDs: []string{"person:misaki", "person:sasha"}, Into: "person:otto"},
		"changes.0.aliases.0": {Op: memory.CurateAlias, Entity: "Misaki", Aliases: []string{"Otto"}, Remove: true},
		"changes.0.entity":    {Op: memory.CurateAlias, Entity: "Otto", Aliases: []string{"Otti"}, Remove: true},
	} {
		equal(t, field, b.curate(nil, change(c.Op, c)).Field, field)
	}
}
