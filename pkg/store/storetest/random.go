package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// randomOperations writes, changes and erases at random, and checks that every index agrees with its rows.
func randomOperations(t *testing.T, h *harness) {
	rapid.Check(t, func(r *rapid.T) {
		bank := memory.BankID(fmt.Sprintf("bank-%d", h.writes))
		var live []memory.Fact
		var nodes []memory.CompositeID
		r.Repeat(map[string]func(*rapid.T){
			"say": func(r *rapid.T) {
				h.say(bank, memory.Message{ID: memory.MessageID(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "id")), Content: words(r),
					Replaces: memory.MessageID(rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "replaces"))})
			},
			"put facts": func(r *rapid.T) {
				f := randomFact(r, bank)
				live = append(slices.DeleteFunc(live, func(o memory.Fact) bool { return o.ID == f.ID }), f)
				h.put(bank, memory.Changes{Facts: []memory.Fact{f}})
			},
			"put a composite": func(r *rapid.T) {
				c := memory.Composite{Level: 1, Text: words(r), Said: at(1), Entities: []memory.EntityID{entity(r)}, Vector: vector(8, 1, 0)}
				for _, f := range live {
					if rapid.Bool().Draw(r, "child") {
						c.Children = append(c.Children, string(f.ID))
					}
				}
				c.ID = memory.NewCompositeID(bank, 1, []string{rapid.SampledFrom([]string{"x", "y"}).Draw(r, "node")})
				nodes = append(nodes, c.ID)
				h.put(bank, memory.Changes{Composites: []memory.Composite{c}})
			},
			"remove": func(r *rapid.T) {
				if len(live) == 0 {
					r.Skip("nothing to remove")
				}
				i := rapid.IntRange(0, len(live)-1).Draw(r, "which")
				ids := []memory.FactID{live[i].ID}
				live = slices.Delete(live, i, i+1)
				c := memory.Changes{RemovedComposites: nodes}
				if nodes = nil; rapid.Bool().Draw(r, "for good") {
					c.Forgotten = &memory.Forgotten{Facts: ids, Messages: []uint64{h.messages}}
				} else {
					c.RemovedFacts = ids
				}
				h.put(bank, c)
			},
			"observe": func(r *rapid.T) {
				o := memory.Observation{ID: memory.NewObservationID(bank, memory.ObservationPattern, "s"), Type: memory.ObservationPattern, Text: words(r)}
				for _, f := range live {
					o.Facts = append(o.Facts, f.ID)
				}
				h.put(bank, memory.Changes{Observations: []memory.Observation{o}})
			},
			"ask for many words": func(r *rapid.T) {
				h.checkManyForms(bank, memory.Filter{}, randomWords)
				if rapid.Bool().Draw(r, "of then") {
					then := at(60)
					h.checkManyForms(bank, memory.Filter{AsOf: &then}, randomWords)
				}
			},
			"erase the bank": func(*rapid.T) {
				live, nodes = nil, nil
				h.put(bank, memory.Changes{Forgotten: &memory.Forgotten{Bank: true, Upto: h.messages}})
			},
		})
		if err := h.Check(context.Background()); err != nil {
			r.Fatal(err)
		}
		h.view(bank, func(v plan.View) {
			var ids []memory.FactID
			for _, f := range live {
				ids = append(ids, f.ID)
			}
			found, err := v.Facts(ids)
			if err != nil || len(found) != len(live) {
				r.Fatalf("%d facts of %d are there, %v", len(found), len(live), err)
			}
		})
	})
}

var randomWords = []string{"Ann", "likes", "tea", "allergies", "running", "\u732b\u304c\u597d\u304d", "42", "x\x00y", "'\""}

func words(r *rapid.T) string {
	list := rapid.SliceOfN(rapid.SampledFrom(randomWords), 0, 5).Draw(r, "words")
	return fmt.Sprint(list)
}

func entity(r *rapid.T) memory.EntityID {
	return rapid.SampledFrom([]memory.EntityID{"person:ann", "person:bob", "place:rome"}).Draw(r, "entity")
}

func randomFact(r *rapid.T, bank memory.BankID) memory.Fact {
	f := fact(bank, words(r), uint64(rapid.IntRange(1, 5).Draw(r, "source")))
	f.ID = memory.NewFactID(bank, rapid.SampledFrom([]string{"one", "two", "three"}).Draw(r, "fact"), memory.KindWorld)
	f.Entities = slices.Compact(slices.Sorted(slices.Values([]memory.EntityID{entity(r), entity(r)})))
	if rapid.Bool().Draw(r, "ended") {
		to := at(50)
		f.Valid[0].To = &to
	}
	if rapid.Bool().Draw(r, "vector") {
		f.Vector = vector(8, 2, 0.5)
	}
	return f
}
