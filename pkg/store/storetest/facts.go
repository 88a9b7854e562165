package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// fullFact returns a fact with every field set.
func fullFact(bank memory.BankID) memory.Fact {
	from, to := at(-86400), at(-3600)
	text := "  Zoë's  r\u00e9sum\u00e9 is at /tmp/it's \"here\"; \u4f60\u597d\n"
	return memory.Fact{
		ID: memory.NewFactID(bank, text, memory.KindOpinion), Bank: bank, Key: "cv", Text: text, Kind: memory.KindOpinion, Type: "custom_type",
		Entities: []memory.EntityID{"file:/tmp/it's", "person:zoë"}, Topic: "work", Tags: []string{"a,b", "c"}, Speaker: "Zoë", Role: memory.RoleAssistant,
		Session: "sess", Occurred: memory.Span{From: &from, To: &to}, Said: at(5).Add(123456 * time.Microsecond), Recorded: at(6),
		Valid:      []memory.Interval{{From: at(-5), To: &to}, {From: at(5)}},
		Bounds:     &memory.Bounds{From: at(-5), To: &to, Said: at(6)},
		State:      &memory.State{Subject: "person:zoë", Attribute: "résumé", Value: "here"},
		Confidence: 0.123456789012345,
		Sources:    []memory.Source{{Message: "m\"1", Seq: 3, Said: at(3), Start: at(2)}, {Message: "m2", Seq: 4, Said: at(5), Start: at(5)}},
		Ops:        []string{"op'1", "op2"}, Outcome: &memory.Result{Strategy: "try", Result: "partial", Surprise: 0.25},
		Metadata: map[string]any{"n": 1.5, "list": []any{"x", nil, true}}, Version: 7, Pinned: true, Extractor: "rules/1", Model: "test",
		Vector: vector(8, 3, 0.5),
	}
}

func statesSince(t *testing.T, h *harness) {
	told := func(value string, n int, valid ...memory.Interval) memory.Fact {
		f := fact("b", "Ann lives in "+value+".", uint64(n))
		f.State, f.Said, f.Valid = &memory.State{Subject: "person:ann", Attribute: "lives_in", Value: value}, at(n), valid
		return f
	}
	end := func(n int, d time.Duration) *memory.Instant { to := at(n).Add(d); return &to }
	facts := []memory.Fact{
		told("Rome", 1, memory.Interval{From: at(1), To: end(2, 0)}), told("Oslo", 2, memory.Interval{From: at(2), To: end(5, time.Millisecond)}),
		told("Lima", 3, memory.Interval{From: at(3), To: end(3, 0)}, memory.Interval{From: at(4)}), told("Bonn", 4), told("Kiel", 9, memory.Interval{From: at(1), To: end(2, 0)}),
		told("Graz", 5, memory.Interval{From: at(5), To: end(9, 0)}),
	}
	other := told("Turku", 5, memory.Interval{From: at(5)})
	other.State = &memory.State{Subject: "person:ann", Attribute: "works_at", Value: "Turku"}
	h.put("b", memory.Changes{Facts: append(facts, other)})
	h.view("b", func(v plan.View) {
		found, err := v.FactsOfStateSince("person:ann", "lives_in", at(5), at(9), 9)
		h.must(err)
		var got []string
		for _, f := range found {
			got = append(got, f.State.Value)
		}
		slices.Sort(got)
		if want := []string{"Bonn", "Graz", "Kiel", "Lima", "Oslo"}; !slices.Equal(got, want) {
			t.Errorf("%v; want %v", got, want)
		}
		some, err := v.FactsOfStateSince("person:ann", "lives_in", at(5), at(9), 2)
		if h.must(err); len(some) != 2 {
			t.Errorf("%d facts; no more than 2 were asked for", len(some))
		}
	})
}

func factRoundTrip(t *testing.T, h *harness) {
	plain := fact("b", "A plain fact.", 1)
	ended := fact("b", "A fact that never held.", 1)
	ended.Valid, ended.Merged = nil, plain.ID
	full := fullFact("b")
	h.put("b", memory.Changes{Facts: []memory.Fact{full, plain, ended}})
	check := func() {
		t.Helper()
		h.view("b", func(v plan.View) {
			found, err := v.Facts([]memory.FactID{ended.ID, "f_none", full.ID, plain.ID})
			h.must(err)
			if d := cmp.Diff([]memory.Fact{ended, full, plain}, found, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			byKey, err := v.FactByKey("cv")
			if err != nil || byKey == nil || byKey.ID != full.ID {
				t.Errorf("the key gives %v, %v", byKey, err)
			}
			of, err := v.FactsOfState("person:zoë", "résumé", 5)
			if err != nil || len(of) != 1 || of[0].ID != full.ID {
				t.Errorf("the state gives %v, %v", of, err)
			}
			resting, err := v.FactsOfMessages([]uint64{3, 4})
			if err != nil || len(resting) != 1 || resting[0].ID != full.ID {
				t.Errorf("the messages give %v, %v", resting, err)
			}
			pointing, err := v.FactsPointingTo([]memory.FactID{plain.ID})
			if err != nil || len(pointing) != 1 || pointing[0].ID != ended.ID {
				t.Errorf("pointing are %v, %v", pointing, err)
			}
		})
	}
	check()
	before := h.dump()
	h.put("b", memory.Changes{Facts: []memory.Fact{full, plain, ended}})
	check()
	// Storing the same state again changes nothing but the ops.
	if d := cmp.Diff(without(before, "ops"), without(h.dump(), "ops")); d != "" {
		t.Error(d)
	}
}

func vectorKept(t *testing.T, h *harness) {
	f := fullFact("b")
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	bare := f
	bare.Vector, bare.Confidence = nil, 1
	h.put("b", memory.Changes{Facts: []memory.Fact{bare}})
	f.Confidence = 1
	h.view("b", func(v plan.View) {
		found, err := v.Facts([]memory.FactID{f.ID})
		h.must(err)
		if d := cmp.Diff([]memory.Fact{f}, found); d != "" {
			t.Error(d)
		}
	})
}

func factParts(t *testing.T, h *harness) {
	f := fact("b", "Ann met Bob.", 1)
	f.Entities = []memory.EntityID{"person:ann", "person:bob"}
	entities := []memory.Entity{{ID: "person:ann", Type: "person", Name: "Ann", Aliases: []string{"ANN", "Annie"}}, {ID: "person:bob", Type: "person", Name: "Bob"},
		{ID: "person:cy", Type: "person", Name: "Cy"}}
	h.put("b", memory.Changes{Facts: []memory.Fact{f}, Entities: entities})
	busiest := func(want string) {
		t.Helper()
		h.view("b", func(v plan.View) {
			found, err := v.BusiestEntities(10)
			h.must(err)
			list := ""
			for _, e := range found {
				list += fmt.Sprintf("%s=%d ", e.ID, e.Facts)
			}
			if list != want {
				t.Errorf("busiest are %q; want %q", list, want)
			}
		})
	}
	busiest("person:ann=1 person:bob=1 ")
	f.Entities = []memory.EntityID{"person:bob", "person:cy"}
	f.Sources = append(f.Sources, memory.Source{Message: "m9", Seq: 9, Said: at(9), Start: at(9)})
	f.Sources[0].Said = at(2)
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	busiest("person:bob=1 person:cy=1 ")
	f.Sources = f.Sources[1:]
	end := at(20)
	f.Valid[0].To = &end
	h.put("b", memory.Changes{Facts: []memory.Fact{f}})
	busiest("")
	h.view("b", func(v plan.View) {
		found, err := v.Facts([]memory.FactID{f.ID})
		h.must(err)
		if d := cmp.Diff([]memory.Fact{f}, found, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
		live, err := v.FactsOfEntity("person:bob", 5)
		if err != nil || len(live) != 0 {
			t.Errorf("an ended fact is live: %v, %v", live, err)
		}
		named, err := v.EntitiesNamed("  aNN ")
		if err != nil || len(named) != 1 || !slices.Equal(named[0].Aliases, []string{"ANN", "Annie"}) || named[0].Name != "Ann" {
			t.Errorf("the name gives %v, %v", named, err)
		}
	})
}

func tree(t *testing.T, h *harness) {
	var facts []memory.Fact
	for i := range 4 {
		f := fact("b", fmt.Sprintf("Leaf number %d.", i), uint64(i+1))
		f.Vector = vector(8, i, 0.1)
		facts = append(facts, f)
	}
	id := func(list ...memory.Fact) (out []string) {
		for _, f := range list {
			out = append(out, string(f.ID))
		}
		slices.Sort(out)
		return out
	}
	node := func(level int, text string, children []string) memory.Composite {
		return memory.Composite{ID: memory.NewCompositeID("b", level, children), Bank: "b", Level: level, Text: text, Representative: children[0],
			Children: children, Entities: []memory.EntityID{"person:ann"}, Tags: []string{"t"}, Said: at(9), Confidence: 0.5, Version: 1, Vector: vector(8, 2, 0.3)}
	}
	low := node(1, "Leaves one and two.", id(facts[0], facts[1]))
	top := node(2, "All of them.", []string{string(low.ID)})
	h.put("b", memory.Changes{Facts: facts, Composites: []memory.Composite{low, top}})
	parents := func(level int, ids []string, want ...memory.CompositeID) {
		t.Helper()
		h.view("b", func(v plan.View) {
			nodes, err := v.Nodes(level, ids)
			h.must(err)
			var found []memory.CompositeID
			for _, n := range nodes {
				found = append(found, n.Parent)
			}
			if !slices.Equal(found, want) {
				t.Errorf("parents are %q; want %q", found, want)
			}
		})
	}
	all := []string{string(facts[0].ID), string(facts[1].ID), string(facts[2].ID), string(facts[3].ID)}
	parents(0, all, low.ID, low.ID, "", "")
	parents(1, []string{string(low.ID)}, top.ID)
	h.view("b", func(v plan.View) {
		found, err := v.Composites([]memory.CompositeID{top.ID, low.ID})
		h.must(err)
		if d := cmp.Diff([]memory.Composite{top, low}, found, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
	// A member leaves: both composites are replaced in one transaction.
	next := node(1, "Leaves one, three and four.", id(facts[0], facts[2], facts[3]))
	above := node(2, "All of them again.", []string{string(next.ID)})
	h.put("b", memory.Changes{RemovedComposites: []memory.CompositeID{top.ID, low.ID}, Composites: []memory.Composite{next, above}})
	parents(0, all, next.ID, "", next.ID, next.ID)
	parents(1, []string{string(low.ID), string(next.ID)}, above.ID)
	next.Children = id(facts[0], facts[1])
	h.put("b", memory.Changes{Composites: []memory.Composite{next}})
	parents(0, all, next.ID, next.ID, "", "")
	h.absent("one and two")
}

// without leaves a table out of a dump.
func without(dump, table string) string {
	var out []byte
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `["`+table+`"`) {
			out = append(out, line...)
		}
	}
	return string(out)
}
