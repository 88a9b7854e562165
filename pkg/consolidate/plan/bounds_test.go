package plan_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// between returns a fact of Alice that is retained as holding from one day until another one, or open if to is 0.
func between(t *testing.T, text string, from, to int) memory.Fact {
	f := consolidatetest.Fact(t, "Alice", text)
	f.Said, f.Bounds = at(100), &memory.Bounds{From: at(from), Said: at(100)}
	if to != 0 {
		end := at(to)
		f.Bounds.To = &end
	}
	return f
}

func TestRetainedValidity(t *testing.T) {
	t.Parallel()
	const painting, rome, oslo = "Alice paints boats.", "Alice lives in Rome.", "Alice lives in Oslo."
	t.Run("a fact without a state holds within its bounds", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.one(between(t, painting, 10, 20))
		for day, want := range map[int][]string{5: nil, 15: {painting}, 25: nil, 105: nil} {
			equal(t, "on that day", heldAt(b.m, at(day)), want)
		}
		b.say(3, "m3", 12, "Alice", painting) // what is said within the bounds does not outlast them
		equal(t, "after the end", heldAt(b.m, at(25)), nil)
		b.say(4, "m4", 30, "Alice", painting) // said after them, it holds again
		for day, want := range map[int][]string{5: nil, 15: {painting}, 25: nil, 31: {painting}} {
			equal(t, "said again", heldAt(b.m, at(day)), want)
		}
		b.one(between(t, painting, 8, 22)) // the last word on the bounds counts
		for day, want := range map[int][]string{9: {painting}, 21: {painting}, 25: nil, 31: {painting}} {
			equal(t, "other bounds", heldAt(b.m, at(day)), want)
		}
	})
	t.Run("states follow one another within their bounds, in whichever order they are retained", func(t *testing.T) {
		t.Parallel()
		for _, first := range []int{0, 1} {
			b := newBank(t)
			facts := []memory.Fact{between(t, rome, 10, 20), between(t, oslo, 20, 0)}
			b.one(facts[first])
			b.one(facts[1-first])
			for day, want := range map[int][]string{5: nil, 15: {rome}, 25: {oslo}, 105: {oslo}} {
				equal(t, "on that day", heldAt(b.m, at(day)), want)
			}
			b.say(3, "m3", 30, "Alice", "Alice lives in Cork.")
			equal(t, "retained last, and about now", heldAt(b.m, at(35)), []string{oslo})
			b.say(4, "m4", 110, "Alice", "Alice lives in Cork.")
			equal(t, "said later", heldAt(b.m, at(115)), []string{"Alice lives in Cork."})
			equal(t, "before", heldAt(b.m, at(15)), []string{rome})
		}
	})
	t.Run("what was said keeps its own time beside a bounded past", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.say(3, "m3", 1, "Alice", rome)
		b.one(between(t, oslo, 10, 20))
		for day, want := range map[int][]string{5: {rome}, 15: {oslo}, 25: {rome}} {
			equal(t, "on that day", heldAt(b.m, at(day)), want)
		}
		later := between(t, rome, 2, 30)
		later.Said, later.Bounds.Said = at(101), at(101)
		b.one(later)
		b.say(4, "m4", 40, "Alice", rome)
		for day, want := range map[int][]string{1: {rome}, 15: {rome}, 35: nil, 45: {rome}} {
			equal(t, "bounds of what was said", heldAt(b.m, at(day)), want)
		}
	})
	t.Run("its messages support it within the bounds", func(t *testing.T) {
		t.Parallel()
		b := newBank(t)
		b.m.Say(7, "m7", "s1", "Alice", at(30), "")
		f := between(t, painting, 10, 20)
		f.Sources = []memory.Source{{Message: "m7"}}
		b.one(f)
		for day, want := range map[int][]string{5: nil, 15: {painting}, 25: nil, 35: nil} {
			equal(t, "on that day", heldAt(b.m, at(day)), want)
		}
	})
}
