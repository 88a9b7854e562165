package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// conformChunks checks that the result does not depend on the batches in which facts arrive.
func conformChunks(t *testing.T) {
	t.Run("640 facts give one composite and one observation for each insight, not for each chunk", func(t *testing.T) {
		t.Parallel()
		const insights, each, chunk = 80, 8, 64
		b := planeBank(t)
		b.cfg.Cap = each
		places := []string{"by the river", "before breakfast", "in the rain", "up the castle hill", "along the coast", "through the forest", "past the mill", "over the bridge"}
		observe := memory.Write{Kind: memory.WriteObserve, Observe: &memory.ObserveRequest{}}
		var facts []memory.Fact
		for k := range insights * each { // the facts of one insight lie further apart than a chunk is long
			insight, member := k%insights, k/insights
			v := make([]float32, insights+each)
			v[insight], v[insights+member] = .9, .44 // .81 within an insight, at most .19 between two
			name := fmt.Sprintf("Runner%02d", insight)
			f := placed(fmt.Sprintf("%s went running %s.", name, places[member]), .8, v...)
			f.Type, f.Speaker, f.Said = memory.TypeEvent, name, at(member)
			f.Entities = []memory.EntityID{memory.NewEntityID(memory.EntityPerson, name)}
			if facts = append(facts, f); len(facts) == chunk {
				b.give(0, facts...)
				b.write(observe)
				facts = nil
			}
		}
		equal(t, "live facts", len(b.m.Live()), insights*each)
		found := level(b, 1)
		equal(t, "composites", len(found), insights)
		for _, c := range found {
			var names []string
			for _, id := range c.Children {
				names = append(names, b.m.FactsByID[memory.FactID(id)].Speaker)
			}
			if slices.Sort(names); len(names) != each || names[0] != names[each-1] {
				t.Errorf("a composite over %v", names)
			}
		}
		seen := map[string]int{}
		for _, o := range b.m.Observed {
			seen[fmt.Sprint(o.Type, " ", o.Subject)]++
		}
		for what, n := range seen {
			if n != 1 {
				t.Errorf("%d observations of %s", n, what)
			}
		}
		patterns := 0
		for _, o := range b.m.Observed {
			if o.Type == memory.ObservationPattern {
				patterns++
			}
		}
		if patterns == 0 || len(seen) > insights*2 {
			t.Errorf("%d observations, %d of them patterns, of %d insights", len(seen), patterns, insights)
		}
		equal(t, "observations changed by another look", len(b.write(observe).Observations), 0)
		checkInvariants(t, b.m, b.cfg)
	})
}
