package storetest

import (
	"fmt"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func busyEntity(t *testing.T, h *harness) {
	var facts []memory.Fact
	for i := range 400 {
		f := fact("b", fmt.Sprintf("Ann counted sheep %d.", i), uint64(i+1))
		f.Entities, f.Vector = []memory.EntityID{"person:ann"}, vector(8, i, float64(i)/400)
		facts = append(facts, f)
	}
	h.put("b", memory.Changes{Facts: facts, Entities: []memory.Entity{{ID: "person:ann", Type: "person", Name: "Ann"}}})
	h.view("b", func(v plan.View) {
		of, err := v.FactsOfEntity("person:ann", 3)
		if err != nil || len(of) != 3 || of[0].ID != facts[399].ID || of[2].ID != facts[397].ID {
			t.Errorf("the newest of the entity are %v, %v", of, err)
		}
		near, err := v.Nearest(0, facts[399].Vector, []string{"ann", "counted", "sheep"}, []memory.EntityID{"person:ann"}, -1, 1000)
		if err != nil || len(near) == 0 || len(near) > 128 {
			t.Errorf("%d candidates, %v; want at most 128", len(near), err)
		}
		if n, err := v.FactsSince(0); err != nil || n != 400 {
			t.Errorf("%d facts since the start, %v", n, err)
		}
		if n, err := v.FactsSince(398); err != nil || n != 2 {
			t.Errorf("%d facts since 398, %v; want 2", n, err)
		}
	})
}

func nearest(t *testing.T, h *harness) {
	texts := []string{"Ann is allergic to shellfish.", "Ann repaired her bicycles.", "The generously funded museum opened.", "Bob reads \u732b about cats."}
	var facts []memory.Fact
	for i, s := range texts {
		f := fact("b", s, uint64(i+1))
		f.Vector = vector(8, 0, float64(i)/4)
		facts = append(facts, f)
	}
	facts[3].Entities = []memory.EntityID{"person:bob"}
	ended := fact("b", "Ann ate shellfish once.", 5)
	to := at(9)
	ended.Valid[0].To, ended.Vector = &to, vector(8, 0, 0)
	bare := fact("b", "Shellfish without a vector.", 6)
	h.put("b", memory.Changes{Facts: append(facts, ended, bare)})
	find := func(terms []string, entities []memory.EntityID, want ...int) {
		t.Helper()
		h.view("b", func(v plan.View) {
			near, err := v.Nearest(0, vector(8, 0, 0), terms, entities, -1, 10)
			h.must(err)
			ok := len(near) == len(want)
			for i := 0; ok && i < len(want); i++ {
				ok = near[i].ID == string(facts[want[i]].ID) && near[i].Vector != nil && (i == 0 || near[i].Cosine <= near[i-1].Cosine)
			}
			if !ok {
				t.Errorf("nearest by %q, %q are %+v; want facts %v", terms, entities, near, want)
			}
		})
	}
	find([]string{"shellfish"}, nil, 0)
	find([]string{"bicycle"}, nil, 1)
	find([]string{"generous", "ann"}, nil, 0, 1, 2)
	find([]string{"\u732b"}, nil, 3)
	find(nil, []memory.EntityID{"person:bob", "person:none"}, 3)
	find([]string{`"`, "AND", "NEAR(", "*", "", "none", "x\x00y"}, nil)
	h.view("b", func(v plan.View) {
		near, err := v.Nearest(0, vector(8, 0, 0), []string{"ann"}, nil, -1, 1)
		if err != nil || len(near) != 1 || near[0].ID != string(facts[0].ID) {
			t.Errorf("the nearest one is %v, %v", near, err)
		}
		// Their cosines are 1, .97 and .88.
		for least, want := range map[float64]int{.96: 2, .975: 1, .8: 3, 1.1: 0} {
			if near, err := v.Nearest(0, vector(8, 0, 0), []string{"generous", "ann"}, nil, least, 10); err != nil || len(near) != want {
				t.Errorf("of a cosine of %v and more there are %d, %v; want %d", least, len(near), err, want)
			}
		}
		if near, err := v.Nearest(1, vector(8, 0, 0), []string{"ann"}, []memory.EntityID{"person:bob"}, -1, 5); err != nil || len(near) != 0 {
			t.Errorf("level 1 holds %v, %v; want nothing", near, err)
		}
		if near, err := v.Nearest(0, vector(4, 0, 0), []string{"ann"}, nil, -1, 5); err != nil || len(near) != 0 {
			t.Errorf("a vector of another size is near %v, %v", near, err)
		}
	})
}

func emptyView(t *testing.T, h *harness) {
	h.view("none", func(v plan.View) {
		b, err := v.Bank()
		if err != nil || b.ID != "none" || b.Disposition != memory.DefaultDisposition() {
			t.Errorf("the profile is %+v, %v; want the default", b, err)
		}
		check := func(what string, n int, err error) {
			t.Helper()
			if n != 0 || err != nil {
				t.Errorf("%s: %d, %v; want nothing", what, n, err)
			}
		}
		facts, err := v.Facts([]memory.FactID{"f_1"})
		check("facts", len(facts), err)
		facts, err = v.FactsOfState("person:ann", "a", 5)
		check("facts of a state", len(facts), err)
		facts, err = v.FactsOfStateSince("person:ann", "a", at(0), at(0), 9)
		check("facts of a state since a time", len(facts), err)
		facts, err = v.FactsOfEntity("person:ann", 5)
		check("facts of an entity", len(facts), err)
		facts, err = v.FactsOfMessages(nil)
		check("facts of no messages", len(facts), err)
		facts, err = v.FactsPointingTo(nil)
		check("facts pointing to nothing", len(facts), err)
		key, err := v.FactByKey("k")
		check("a key", count(key), err)
		near, err := v.Nearest(0, vector(8, 1, 0), []string{"a"}, []memory.EntityID{"person:ann"}, -1, 5)
		check("nearest", len(near), err)
		messages, err := v.MessagesOf("", "", 99)
		check("messages", len(messages), err)
		tombs, err := v.Tombstoned([]uint64{1})
		check("tombstones", len(tombs), err)
		window, err := v.Window("w_1")
		check("a window", count(window), err)
		conflict, err := v.Conflict("x_1")
		check("a conflict", count(conflict), err)
		busiest, err := v.BusiestEntities(5)
		check("entities", len(busiest), err)
		since, err := v.FactsSince(0)
		check("facts since", since, err)
		last, err := v.LastConsolidated()
		check("the last consolidation", int(last), err)
	})
	ran := true
	h.must(h.tryWrite(memory.Write{Bank: "b", Kind: memory.WriteConsolidate}, func(plan.View, memory.Write) (memory.Changes, error) {
		return memory.Changes{Outcome: memory.WriteOutcome{Ran: &ran}}, nil
	}))
	h.view("b", func(v plan.View) {
		if last, err := v.LastConsolidated(); err != nil || last != 2 {
			t.Errorf("the last consolidation is %d, %v; want 2", last, err)
		}
	})
}

func count[T any](p *T) int {
	if p == nil {
		return 0
	}
	return 1
}
