package plan_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// lives says where Alice lives, as told on a day and true from another on.
func lives(t testing.TB, form, where string, seq uint64, said, since time.Time) memory.Write {
	w := windowOf(t, consolidatetest.New("alice"), statement{seq: seq, text: fmt.Sprintf("Alice %s %s.", form, where)}, seq)
	s := &w.Facts[0].Sources[0]
	s.Said, s.Start = said, since
	w.Facts[0].Said = said
	return w
}

func TestANewValueIsSetAsTheWholeTimelineWouldBe(t *testing.T) {
	t.Parallel()
	cfg := settings()
	rapid.Check(t, func(rt *rapid.T) {
		m := consolidatetest.New("alice")
		n := rapid.IntRange(1, 16).Draw(rt, "told")
		for i := range n {
			seq := uint64(i + 1)
			m.Say(seq, memory.MessageID(fmt.Sprintf("m%d", seq)), "s1", "Alice", at(0), "")
			form := rapid.SampledFrom([]string{"lives in", "moved to", "no longer lives in"}).Draw(rt, "form")
			where := rapid.SampledFrom([]string{"Paris", "London", "Rome", "Oslo", "Lima"}).Draw(rt, "where")
			said := rapid.IntRange(0, 12).Draw(rt, "said")
			since := said - rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(rt, "since")
			if _, err := m.Write(lives(t, form, where, seq, at(said), at(since)), cfg); err != nil {
				rt.Fatal(err)
			}
			for _, f := range m.FactsByID {
				if f.State == nil {
					rt.Fatalf("%q is no state", f.Text)
				}
				changed, err := plan.Retimed(m, *f.State, cfg)
				if err != nil {
					rt.Fatal(err)
				}
				for _, c := range changed {
					is := m.FactsByID[c.ID]
					rt.Fatalf("after %d %q holds %v, superseded by %q; by the whole timeline %v and %q", i+1, c.Text, is.Valid, is.Superseded, c.Valid, c.Superseded)
				}
			}
		}
	})
}

// A value that was told before more others than a timeline is computed over, and that arrives last, has ended.
func TestAnOldValueThatArrivesLastHasEnded(t *testing.T) {
	t.Parallel()
	cfg := settings()
	cfg.StateFacts = 8
	m := consolidatetest.New("alice")
	for i := range 30 {
		seq := uint64(i + 1)
		day := i + 1
		if i == 29 {
			day = 0
		}
		m.Say(seq, memory.MessageID(fmt.Sprintf("m%d", seq)), "s1", "Alice", at(day), "")
		if _, err := m.Write(lives(t, "lives in", fmt.Sprintf("Town%d", i), seq, at(day), at(day)), cfg); err != nil {
			t.Fatal(err)
		}
	}
	var live []string
	for _, f := range m.FactsByID {
		if f.Live() {
			live = append(live, f.Text)
		}
	}
	if len(live) != 1 || live[0] != "Alice lives in Town28." {
		t.Errorf("%q hold; expected the last that was told alone", live)
	}
}
