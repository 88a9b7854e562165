package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// TestHeldVectorsAreThoseOfTheStateThatIsRead searches in a process that holds the vectors of a bank while another one changes
// and forgets some of them. A search that began before sees what was then; every one after it what is now; and what was
// forgotten is no longer held. What is held is not fetched again.
func TestHeldVectorsAreThoseOfTheStateThatIsRead(t *testing.T) {
	t.Parallel()
	const facts, dimension = 1300, 64
	dsn := newSchema(t)
	writer := open(t, postgres.DefaultConfig(dsn))
	rng, seq := rand.New(rand.NewPCG(5, 8)), uint64(0)
	random := func() memory.Vector {
		v := make(memory.Vector, dimension)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v.Unit()
	}
	apply := func(c memory.Changes) {
		t.Helper()
		seq++
		w := memory.Write{Bank: "b", Kind: memory.WriteRetain, Seq: seq, Op: fmt.Sprint("op ", seq), Time: said}
		err := writer.ApplyWrites(t.Context(), seq-1, seq, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	var all []memory.Fact
	for i := range facts {
		f := memory.Fact{Bank: "b", Text: fmt.Sprintf("Zeile %d im Heft.", i), Kind: memory.KindWorld, Type: memory.TypeFact, Speaker: "Ole",
			Said: said, Recorded: said, Session: "s", Valid: []memory.Interval{{From: said}}, Version: 1, Confidence: .6, Vector: random()}
		if i%2 == 1 {
			f.Type = memory.TypePreference
		}
		f.ID = memory.NewFactID("b", f.Text, f.Kind)
		all = append(all, f)
	}
	apply(memory.Changes{Facts: all})

	cfg := postgres.DefaultConfig(dsn)
	cfg.SketchFrom, cfg.ReadOnly = 1000, true
	reader := open(t, cfg)
	reader.Warm()
	natstest.Eventually(t, "the vectors are held", func() bool { return reader.Sketches().Held == facts })

	search := func(s recall.Searcher, v memory.Vector, exact bool) []recall.Near {
		t.Helper()
		found, err := s.Nearest(t.Context(), v, 5, exact)
		if err != nil {
			t.Error(err)
		}
		return found
	}
	state := func(fn func(recall.Searcher)) {
		t.Helper()
		err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error { fn(s); return nil })
		if err != nil {
			t.Error(err)
		}
	}
	// check compares what is found by what is held with what all vectors tell.
	check := func(what string, v memory.Vector, same bool) {
		t.Helper()
		state(func(s recall.Searcher) {
			quick, full := search(s, v, false), search(s, v, true)
			if same && quick[0] != full[0] {
				t.Errorf("%s: the nearest is %v, and of all vectors %v", what, quick[0], full[0])
			}
			if quick[0].Cosine > .999 != same || full[0].Cosine > .999 != same {
				t.Errorf("%s: the nearest is %v, and of all vectors %v", what, quick[0], full[0])
			}
			var nos []int64
			for _, n := range full {
				nos = append(nos, n.No)
			}
			slices.Sort(nos)
			compared, err := s.Compare(t.Context(), memory.RecordFact, v, nos)
			if err != nil {
				t.Error(err)
			}
			slices.SortFunc(full, func(a, b recall.Near) int { return int(a.No - b.No) })
			if diff := cmp.Diff(full, compared); diff != "" {
				t.Errorf("%s: compared by number they differ:\n%s", what, diff)
			}
		})
	}
	check("at first", all[3].Vector, true)

	ended := all[40]
	to := said.Add(time.Hour)
	ended.Valid, ended.Version = []memory.Interval{{From: said, To: &to}}, 2
	apply(memory.Changes{Facts: []memory.Fact{ended}})
	within := said.Add(time.Minute)
	for range 3 { // the last time it is held again
		check("ended", ended.Vector, false)
		for name, c := range map[string]struct {
			filter memory.Filter
			fact   memory.Fact
			passes bool
		}{
			"as of a time at which it held": {memory.Filter{AsOf: &within}, ended, true},
			"of its type":                   {memory.Filter{Types: []memory.Type{memory.TypePreference}}, all[41], true},
			"of another type":               {memory.Filter{Types: []memory.Type{memory.TypePreference}}, all[42], false},
			"said later":                    {memory.Filter{From: &to}, all[42], false},
		} {
			err := reader.Search(t.Context(), "b", c.filter, func(s recall.Searcher) error {
				if got := search(s, c.fact.Vector, false); len(got) > 0 && got[0].Cosine > .999 != c.passes || len(got) == 0 && c.passes {
					t.Errorf("%s, the nearest to a fact are %v", name, got)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	for i := range 12 {
		f, was, now := all[100+i], all[100+i].Vector, random()
		f.Vector = now
		f.Version += uint64(i) + 1 //nolint:gosec // a few
		state(func(s recall.Searcher) {
			no := search(s, was, false)[0].No
			// is checks that the row is as near as can be to one vector and far from another, in this state.
			is := func(when string, v, other memory.Vector) {
				for far, asked := range []memory.Vector{v, other} {
					near, err := s.Compare(t.Context(), memory.RecordFact, asked, []int64{no})
					if err != nil || len(near) != 1 || near[0].Cosine > .999 != (far == 0) {
						t.Errorf("%s the fact is as near as %v to vector %d, %v", when, near, far, err)
					}
				}
			}
			is("before the change", was, now)
			apply(memory.Changes{Facts: []memory.Fact{f}})
			check("changed, in another search", now, true)
			check("the vector of before", was, false)
			is("in the state of before the change", was, now)
		})
		check("changed", now, true)
		apply(memory.Changes{Forgotten: &memory.Forgotten{Facts: []memory.FactID{f.ID}}})
		check("forgotten", now, false)
	}
	natstest.Eventually(t, "what was forgotten is not held", func() bool { return reader.Sketches().Held <= facts-12 })
	apply(memory.Changes{Forgotten: &memory.Forgotten{Bank: true}})
	natstest.Eventually(t, "nothing is held of a bank that is gone", func() bool { return reader.Sketches().Held == 0 })
}

// TestAVectorThatIsHeldIsNotFetched compares what the server sends for the same search before and after the vectors are held.
func TestAVectorThatIsHeldIsNotFetched(t *testing.T) {
	t.Parallel()
	server, dsn := count(t, newSchema(t))
	writer := open(t, postgres.DefaultConfig(dsn))
	var c memory.Changes
	for i := range 1100 {
		v := make(memory.Vector, 64)
		v[i%64], v[i*7%64] = 1, .5
		f := memory.Fact{Bank: "b", Text: fmt.Sprintf("Rad nummer %d.", i), Kind: memory.KindWorld, Type: memory.TypeFact, Said: said, Recorded: said,
			Valid: []memory.Interval{{From: said}}, Version: 1, Confidence: .6, Vector: v.Unit()}
		f.ID = memory.NewFactID("b", f.Text, f.Kind)
		c.Facts = append(c.Facts, f)
	}
	w := memory.Write{Bank: "b", Kind: memory.WriteRetain, Seq: 1, Op: "o", Time: said}
	err := writer.ApplyWrites(t.Context(), 0, 1, []memory.Write{w}, func(plan.View, memory.Write) (memory.Changes, error) { return c, nil })
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(sketchFrom int) int64 {
		cfg := postgres.DefaultConfig(dsn)
		cfg.SketchFrom, cfg.ReadOnly = sketchFrom, true
		reader := open(t, cfg)
		reader.Warm()
		if sketchFrom < 1100 {
			natstest.Eventually(t, "the vectors are held", func() bool { return reader.Sketches().Held == 1100 })
		}
		nos := make([]int64, 400)
		for i := range nos {
			nos[i] = int64(i + 1)
		}
		least := int64(1 << 40)
		for range 6 { // background reads go by the same connections
			before := server.answered.Load()
			err := reader.Search(t.Context(), "b", memory.Filter{}, func(s recall.Searcher) error {
				near, err := s.Compare(t.Context(), memory.RecordFact, c.Facts[9].Vector, nos)
				if len(near) != len(nos) {
					t.Errorf("%d of %d are compared", len(near), len(nos))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, server.answered.Load()-before)
		}
		return least
	}
	fetched, held := bytes(5000), bytes(1000)
	t.Logf("the server sends %d bytes, and %d where the vectors are held", fetched, held)
	if held*2 > fetched {
		t.Errorf("the server sends %d bytes where the vectors are held, and %d where they are not", held, fetched)
	}
}
