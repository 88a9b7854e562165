package plan_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// statement is one thing that somebody says in a random story.
type statement struct {
	seq  uint64
	days int
	text string
}

func story(t *rapid.T) []statement {
	people := []string{"Alice", "Bob"}
	places := []string{"Paris", "London", "Rome"}
	things := []string{"sushi", "chess", "hiking", "opera"}
	n := rapid.IntRange(1, 14).Draw(t, "statements")
	var out []statement
	for i := range n {
		who := rapid.SampledFrom(people).Draw(t, "who")
		text := ""
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			text = who + " lives in " + rapid.SampledFrom(places).Draw(t, "where") + "."
		case 1:
			text = who + " moved to " + rapid.SampledFrom(places).Draw(t, "where") + "."
		case 2:
			text = who + " likes " + rapid.SampledFrom(things).Draw(t, "what") + "."
		case 4:
			text = who + rapid.SampledFrom([]string{" bought a red racing bicycle with wide tyres for the summer race.",
				" bought a red racing bicycle with very wide tyres for the long summer race.", " bought a red racing bicycle with wide tyres for the long summer race."}).Draw(t, "wording")
		case 5:
			text = who + rapid.SampledFrom([]string{" eats raw fish.", " does not eat raw fish.", " no longer eats raw fish."}).Draw(t, "diet")
		case 3:
			text = who + " played " + rapid.SampledFrom(things).Draw(t, "what") + fmt.Sprintf(" on trip %d.", rapid.IntRange(1, 30).Draw(t, "trip"))
		}
		out = append(out, statement{uint64(i + 1), rapid.IntRange(0, 6).Draw(t, "day"), text})
	}
	return out
}

// tell returns a bank that was told the story, message by message, in this order.
func tell(t testing.TB, cfg plan.Config, story []statement, order []int) *consolidatetest.Memory {
	m := consolidatetest.New("alice")
	for _, s := range story {
		m.Say(s.seq, memory.MessageID(fmt.Sprintf("m%d", s.seq)), "s1", "Alice", at(s.days), "")
	}
	for n, i := range order {
		if _, err := m.Write(windowOf(t, m, story[i], uint64(n+1)), cfg); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func windowOf(t testing.TB, m *consolidatetest.Memory, s statement, write uint64) memory.Write {
	f := consolidatetest.Fact(t, "", s.text)
	f.Entities = []memory.EntityID{"person:alice"}
	f.Sources = []memory.Source{{Message: memory.MessageID(fmt.Sprintf("m%d", s.seq)), Seq: s.seq, Said: at(s.days), Start: at(s.days)}}
	w := memory.Window{ID: memory.NewWindowID(m.ID, "s1", s.seq, s.seq, 0), New: []memory.WindowMessage{{Seq: s.seq}}}
	return memory.Write{Kind: memory.WriteWindow, Seq: write, Op: string(w.ID), Time: at(50), Upto: 1000,
		Window: &memory.WindowEnd{Window: w, SessionID: "s1", Outcome: memory.WindowFacts}, Facts: []memory.Fact{f}}
}

func TestAnyOrderOfArrival(t *testing.T) {
	t.Parallel()
	cfg := settings()
	rapid.Check(t, func(rt *rapid.T) {
		told := story(rt)
		inOrder := make([]int, len(told))
		for i := range inOrder {
			inOrder[i] = i
		}
		shuffled := rapid.Permutation(inOrder).Draw(rt, "order")
		a, b := tell(t, cfg, told, inOrder), tell(t, cfg, told, shuffled)
		checkInvariants(t, a, cfg)
		checkInvariants(t, b, cfg)
		if x, y := slices.Sorted(maps.Keys(a.FactsByID)), slices.Sorted(maps.Keys(b.FactsByID)); !slices.Equal(x, y) {
			rt.Fatalf("facts %v and %v", x, y)
		}
		for id, f := range a.FactsByID {
			g := b.FactsByID[id]
			if f.Merged == "" && g.Merged == "" && !slices.Equal(f.MessageIDs(), g.MessageIDs()) {
				rt.Fatalf("sources of %q: %v and %v", f.Text, f.MessageIDs(), g.MessageIDs())
			}
			if f.State != nil && (!reflect.DeepEqual(f.Valid, g.Valid) || f.Superseded != g.Superseded) {
				rt.Fatalf("%q holds %v and %v, superseded by %q and %q", f.Text, f.Valid, g.Valid, f.Superseded, g.Superseded)
			}
		}
	})
}

func TestPlanningAgainChangesNothing(t *testing.T) {
	t.Parallel()
	cfg := settings()
	rapid.Check(t, func(rt *rapid.T) {
		told := story(rt)
		order := make([]int, len(told))
		for i := range order {
			order[i] = i
		}
		m := tell(t, cfg, told, order)
		facts := make([]memory.Fact, 0, len(told))
		for _, s := range told {
			facts = append(facts, windowOf(t, m, s, 0).Facts...)
		}
		c, err := plan.Plan(m, memory.Write{Bank: m.ID, Kind: memory.WriteWindow, Seq: 99, Op: "again", Time: at(60), Facts: facts,
			Window: &memory.WindowEnd{Window: memory.Window{ID: "w_again", New: []memory.WindowMessage{{Seq: 1}}}, SessionID: "s1", Outcome: memory.WindowFacts}}, cfg)
		if err != nil {
			rt.Fatal(err)
		}
		if len(c.Facts)+len(c.Composites)+len(c.RemovedComposites)+len(c.Entities)+len(c.Conflicts) > 0 {
			rt.Fatalf("the same facts again change %+v", c)
		}
	})
}

func TestForgettingLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	cfg := settings()
	rapid.Check(t, func(rt *rapid.T) {
		told := story(rt)
		order := make([]int, len(told))
		for i := range order {
			order[i] = i
		}
		m := tell(t, cfg, told, order)
		victim := rapid.SampledFrom(told).Draw(rt, "victim")
		id := fmt.Sprintf("m%d", victim.seq)
		if _, err := m.Write(memory.Write{Kind: memory.WriteForget, Op: "f", Seq: 500, Time: at(70), Upto: 1000, Forget: &memory.ForgetRequest{ID: id}}, cfg); err != nil {
			rt.Fatal(err)
		}
		checkInvariants(t, m, cfg)
		rest := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return told[i].seq == victim.seq })
		want := tell(t, cfg, told, rest)
		if x, y := slices.Sorted(maps.Keys(m.FactsByID)), slices.Sorted(maps.Keys(want.FactsByID)); !slices.Equal(x, y) {
			rt.Fatalf("after forgetting %s the facts are %v, without it they are %v", id, x, y)
		}
		for fid, f := range m.FactsByID {
			w := want.FactsByID[fid]
			if f.Merged == "" && w.Merged == "" && !slices.Equal(f.MessageIDs(), w.MessageIDs()) {
				rt.Fatalf("%q rests on %v, without the message on %v", f.Text, f.MessageIDs(), w.MessageIDs())
			}
			if f.State != nil && !reflect.DeepEqual(f.Valid, w.Valid) {
				rt.Fatalf("%q holds %v, without the message %v", f.Text, f.Valid, w.Valid)
			}
		}
	})
}
