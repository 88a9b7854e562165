package erasure_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestWhatIsLeftOfAWriteSurvivesAnErasureThatFindsNothingMore erases a write, and then what is left of it, of which nothing
// more was forgotten.
func TestWhatIsLeftOfAWriteSurvivesAnErasureThatFindsNothingMore(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	stays, goes := consolidatetest.FactWithoutVector("Nils snickrar båtar."), consolidatetest.FactWithoutVector("Nils gömmer nyckeln i stupröret.")
	stays.ID, goes.ID = memory.NewFactID("alice", stays.Text, stays.Kind), memory.NewFactID("alice", goes.Text, goes.Kind)
	q := &queue{facts: map[memory.FactID]bool{stays.ID: true}}
	left := func() (out []events.Event) {
		t.Helper()
		_, err := ordered.Scan(t.Context(), c, c.Naming.Writes(), nil, 0, func(e events.Event) error { out = append(out, e); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	at := retained(t, c, "båt", stays, goes)
	for range 3 {
		q.entries = []erasure.Entry{{No: 1, Bank: "alice", Stream: "MEM_WRITES", Seq: at}}
		erase(t, c, q)
		writes := left()
		if len(writes) != 1 {
			t.Fatalf("the log holds %d writes", len(writes))
		}
		w, err := writes[0].Write()
		if err != nil || len(w.Facts) != 1 || w.Facts[0].ID != stays.ID || w.Op != "båt" {
			t.Fatalf("what is left is %+v, %v", w, err)
		}
		at = writes[0].Seq
	}
}
