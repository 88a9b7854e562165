package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestAlias(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	alias := func(t *testing.T, m *consolidatetest.Memory, op string, r memory.AliasRequest) memory.Changes {
		t.Helper()
		return write(t, m, settings(), memory.Write{Kind: memory.WriteAlias, Op: op, Time: day, Alias: &r})
	}
	lives := func(t *testing.T, m *consolidatetest.Memory, at time.Time, who, where string) memory.FactID {
		t.Helper()
		f := consolidatetest.Fact(t, who, who+" lives in "+where+".")
		f.State = &memory.State{Subject: f.Entities[0], Attribute: "home", Value: where}
		write(t, m, settings(), memory.Write{Kind: memory.WriteRetain, Op: f.Text, Time: at, Facts: []memory.Fact{f}})
		return memory.NewFactID(m.ID, f.Text, f.Kind)
	}

	t.Run("facts of both names are facts of one entity, whose newer state ends the older", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		old := lives(t, m, day, "Misaki", "Osaka")
		lives(t, m, day.AddDate(0, 1, 0), "美咲", "Nara")
		if !m.FactsByID[old].Live() {
			t.Fatal("two entities share a state before they are joined")
		}
		c := alias(t, m, "join", memory.AliasRequest{Entity: "Misaki", Aliases: []string{"美咲"}})
		if c.Outcome.Code != 0 || m.FactsByID[old].Live() {
			t.Errorf("the older home still holds: %+v", c.Outcome)
		}
		for id, f := range m.FactsByID {
			if !slices.Equal(f.Entities, []memory.EntityID{"person:misaki"}) || f.State.Subject != "person:misaki" {
				t.Errorf("%s names %v, its state %v", id, f.Entities, f.State.Subject)
			}
		}
		if e := m.Named["person:misaki"]; !slices.Contains(e.Aliases, "美咲") {
			t.Errorf("aliases %v", e.Aliases)
		}
		retain(t, m, settings(), "later", day, "美咲", "美咲 plays the koto.")
		if f := m.FactsByID[memory.NewFactID(m.ID, "美咲 plays the koto.", memory.KindWorld)]; !slices.Equal(f.Entities, []memory.EntityID{"person:misaki"}) {
			t.Errorf("a later fact names %v", f.Entities)
		}

		alias(t, m, "part", memory.AliasRequest{Aliases: []string{"person:美咲"}, Remove: true})
		if !m.FactsByID[old].Live() || len(m.Named["person:misaki"].Aliases) != 0 {
			t.Errorf("parted: the old home %v, aliases %v", m.FactsByID[old].Valid, m.Named["person:misaki"].Aliases)
		}
		for _, f := range m.FactsByID {
			if want := memory.NewEntityID(memory.EntityPerson, f.Speaker); !slices.Equal(f.Entities, []memory.EntityID{want}) {
				t.Errorf("%q names %v", f.Text, f.Entities)
			}
		}
		checkInvariants(t, m, settings())
	})
	t.Run("a name that is not known yet is joined in advance, and an entity of another type stays", func(t *testing.T) {
		t.Parallel()
		m := consolidatetest.New("alice")
		f := consolidatetest.Fact(t, "Ann", "Ann was in Paris.")
		f.Entities = append(f.Entities, "place:paris")
		write(t, m, settings(), memory.Write{Kind: memory.WriteRetain, Op: "r", Time: day, Facts: []memory.Fact{f}})
		alias(t, m, "join", memory.AliasRequest{Entity: "Ann", Aliases: []string{"Paris"}})
		if e := m.Named["place:paris"]; e.Redirect != "" {
			t.Errorf("the place became %v", e.Redirect)
		}
		if e := m.Named["person:paris"]; e.Redirect != "person:ann" {
			t.Errorf("the name leads to %q", e.Redirect)
		}
		alias(t, m, "chain", memory.AliasRequest{Entity: "Annabel", Aliases: []string{"Ann"}})
		if a, b := m.Named["person:ann"].Redirect, m.Named["person:paris"].Redirect; a != "person:annabel" || b != "person:annabel" {
			t.Errorf("the names lead to %q and %q", a, b)
		}
	})
	for _, c := range []struct {
		name  string
		r     memory.AliasRequest
		code  int
		field string
	}{
		{"the entity's own name", memory.AliasRequest{Entity: "Ann", Aliases: []string{"ann"}}, 400, "aliases.0"},
		{"to part what is no alias", memory.AliasRequest{Entity: "Ann", Aliases: []string{"Bo"}, Remove: true}, 404, "aliases.0"},
		{"to part from nobody", memory.AliasRequest{Aliases: []string{"Cy"}, Remove: true}, 404, "entity"},
		{"a name of two entities", memory.AliasRequest{Entity: "Florence", Aliases: []string{"Flo"}}, 409, "entity"},
	} {
		t.Run("refused: "+c.name, func(t *testing.T) {
			t.Parallel()
			m := consolidatetest.New("alice")
			f := consolidatetest.Fact(t, "Ann", "Ann met Florence in Florence.")
			f.Entities = append(f.Entities, "place:florence", "person:florence")
			write(t, m, settings(), memory.Write{Kind: memory.WriteRetain, Op: "r", Time: day, Facts: []memory.Fact{f}})
			out := alias(t, m, "a", c.r).Outcome
			if out.Code != c.code || out.Field != c.field {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}
