package storetest

import (
	"context"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// asked applies changes whose plan has read what they are about, which a store may not read again.
func asked(t *testing.T, h *harness) {
	named := func(name string) (n int) {
		h.view("b", func(v plan.View) {
			found, err := v.EntitiesNamed(name)
			h.must(err)
			n = len(found)
		})
		return n
	}
	f := fact("b", "Ann skis.", 1)
	f.Entities = []memory.EntityID{"person:ann"}
	ann := memory.Entity{ID: "person:ann", Type: "person", Name: "Ann", Aliases: []string{"Annie"}}
	later := ann
	later.Aliases = []string{"Anouk"}
	// read has a plan look up what it changes, and then return the changes.
	read := func(c memory.Changes) {
		t.Helper()
		h.write("b", func(v plan.View, _ memory.Write) (memory.Changes, error) {
			_, err := v.Facts([]memory.FactID{f.ID})
			h.must(err)
			_, err = v.Entities([]memory.EntityID{ann.ID})
			h.must(err)
			_, err = v.Messages([]uint64{1, 2})
			h.must(err)
			return c, nil
		})
	}
	// An entity that comes twice is as it came last.
	read(memory.Changes{Facts: []memory.Fact{f}, Entities: []memory.Entity{ann, later}})
	if n, was := named("Anouk"), named("Annie"); n != 1 || was != 0 {
		t.Errorf("the entity has the last alias %d times and the first %d; want 1 and 0", n, was)
	}
	read(memory.Changes{Facts: []memory.Fact{f}, Entities: []memory.Entity{ann}})
	if n, was := named("Anouk"), named("Annie"); n != 0 || was != 1 {
		t.Errorf("the entity has the old alias %d times and the new one %d; want 0 and 1", n, was)
	}
	// A fact that is removed takes its entity with it, which the same changes bring again.
	read(memory.Changes{RemovedFacts: []memory.FactID{f.ID}, Entities: []memory.Entity{ann}})
	if n := named("Ann"); n != 1 {
		t.Errorf("%d entities have the name; want 1", n)
	}
	// A malformed event stays dead though a window that it was in ends.
	h.messages++
	h.must(h.ApplyMessages(context.Background(), 0, 1, []consolidate.MessageEvent{{Seq: 1, Bank: "b", Session: "s", Stored: at(1), State: memory.StateDead}}))
	h.say("b", memory.Message{Content: "I ski."})
	read(memory.Changes{Ended: []memory.MessageEnd{{Seq: 1, State: memory.StateCommitted}, {Seq: 2, State: memory.StateCommitted}}})
	h.states("b", memory.Conservation{Published: 2, Dead: 1, Committed: 1})
	// One that is dead though it was stored is not.
	h.say("b", memory.Message{Content: "I ski."})
	h.put("b", memory.Changes{Ended: []memory.MessageEnd{{Seq: 3, State: memory.StateDead}}})
	h.write("b", func(v plan.View, _ memory.Write) (memory.Changes, error) {
		_, err := v.Messages([]uint64{3})
		return memory.Changes{Ended: []memory.MessageEnd{{Seq: 3, State: memory.StateCommitted}}}, err
	})
	h.states("b", memory.Conservation{Published: 3, Dead: 1, Committed: 2})
}
