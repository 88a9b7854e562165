package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// Assertion is the statement of one source about the value of an attribute.
type Assertion struct {
	Fact     memory.FactID
	Value    string
	Start    time.Time  // from when the value holds
	Said     time.Time  // of two assertions the one said later is believed,
	Seq      uint64     // then the one with the higher sequence,
	Recorded time.Time  // then the one recorded later
	Until    *time.Time // when the assertion was withdrawn; nil = it stands
}

// ByBelief orders assertions: the later one in this order is believed. The order is total.
func ByBelief(a, b Assertion) int {
	return cmp.Or(a.Said.Compare(b.Said), cmp.Compare(a.Seq, b.Seq), a.Recorded.Compare(b.Recorded), a.Start.Compare(b.Start),
		cmp.Compare(a.Fact, b.Fact))
}

// covers reports whether the assertion speaks of t.
func (a Assertion) covers(t time.Time) bool {
	return !t.Before(a.Start) && (a.Until == nil || t.Before(*a.Until))
}

// opposed reports whether two values of one attribute cannot hold at one time: two different ones, or one and its
// denial. Two denials do not oppose: where somebody lives no longer says nothing of where else.
func opposed(a, b string) bool {
	x, deniesX := strings.CutPrefix(a, state.DeniedPrefix)
	y, deniesY := strings.CutPrefix(b, state.DeniedPrefix)
	if deniesX == deniesY {
		return !deniesX && a != b
	}
	return x == y
}

// assertionsOf returns the assertions of a fact, one for each source and one for its bounds. A fact with neither asserts
// by its intervals and by when it was last said. until ends each of them, nil = they are open; a message that was
// replaced ends its own, and the end of the bounds those that began before it.
func assertionsOf(f memory.Fact, until *time.Time, replaced map[memory.MessageID]memory.Replacement) []Assertion {
	base := Assertion{Fact: f.ID, Recorded: f.Recorded, Until: until}
	if f.State != nil {
		base.Value = f.State.Value
	}
	at := func(start, said time.Time) Assertion {
		a := base
		a.Start, a.Said = start, said
		if b := f.Bounds; b != nil && b.To != nil && start.Before(*b.To) {
			a.Until = earlier(until, b.To)
		}
		return a
	}
	var out []Assertion
	for _, s := range f.Sources {
		a := at(s.Start, s.Said)
		a.Seq = s.Seq
		if r, ok := replaced[s.Message]; ok {
			a.Until = earlier(a.Until, &r.Time)
		}
		out = append(out, a)
	}
	if f.Bounds != nil {
		out = append(out, at(f.Bounds.From, f.Bounds.Said))
	}
	if len(out) > 0 {
		return out
	}
	began := f.Said
	if f.Occurred.From != nil {
		began = *f.Occurred.From
	}
	for _, i := range f.Valid {
		said := i.From
		if i.From.Equal(began) { // a change of state, told when the fact was said
			said = f.Said
		}
		out = append(out, at(i.From, said))
	}
	if len(out) == 0 {
		return []Assertion{at(began, f.Said)}
	}
	if f.Said.After(out[len(out)-1].Said) {
		out = append(out, at(f.Said, f.Said))
	}
	return out
}

// history is what facts of one attribute of one subject assert.
type history struct {
	own map[memory.FactID][]Assertion // by fact; none for one that was closed before it began
	all []Assertion                   // sorted by ByBelief
}

func historyOf(facts []memory.Fact, closed map[memory.FactID]bool, replaced map[memory.MessageID]memory.Replacement) history {
	h := history{own: make(map[memory.FactID][]Assertion, len(facts))}
	for _, f := range facts {
		var until *time.Time
		if closed[f.ID] {
			if len(f.Valid) == 0 {
				continue
			}
			until = f.Valid[len(f.Valid)-1].To
		}
		h.own[f.ID] = assertionsOf(f, until, replaced)
		h.all = append(h.all, h.own[f.ID]...)
	}
	slices.SortFunc(h.all, ByBelief)
	return h
}

// Intervals returns when the value of one fact holds: each of its own assertions from its start on, less what later
// opposed assertions take away. all must be sorted by ByBelief. The result is sorted and disjoint.
func Intervals(own, all []Assertion) []memory.Interval {
	var out []memory.Interval
	for _, a := range own {
		parts := []memory.Interval{{From: a.Start, To: a.Until}}
		at, _ := slices.BinarySearchFunc(all, a, ByBelief)
		for _, later := range all[at:] {
			if opposed(later.Value, a.Value) && ByBelief(later, a) > 0 {
				parts = subtract(parts, later)
			}
		}
		out = append(out, parts...)
	}
	return union(out)
}

// subtract removes the time that an assertion covers from intervals.
func subtract(parts []memory.Interval, a Assertion) []memory.Interval {
	var out []memory.Interval
	for _, i := range parts {
		if i.From.Before(a.Start) {
			out = append(out, memory.Interval{From: i.From, To: earlier(i.To, &a.Start)})
		}
		if a.Until != nil && (i.To == nil || i.To.After(*a.Until)) {
			from := i.From
			if from.Before(*a.Until) {
				from = *a.Until
			}
			out = append(out, memory.Interval{From: from, To: i.To})
		}
	}
	return out
}

// union sorts intervals, drops empty ones and joins those that touch.
func union(in []memory.Interval) []memory.Interval {
	in = slices.DeleteFunc(in, func(i memory.Interval) bool { return i.To != nil && !i.To.After(i.From) })
	slices.SortFunc(in, func(a, b memory.Interval) int { return a.From.Compare(b.From) })
	var out []memory.Interval
	for _, i := range in {
		if n := len(out); n > 0 && (out[n-1].To == nil || !i.From.After(*out[n-1].To)) {
			if out[n-1].To != nil && (i.To == nil || i.To.After(*out[n-1].To)) {
				out[n-1].To = i.To
			}
			continue
		}
		out = append(out, i)
	}
	return out
}

// successor returns the fact whose value replaced that of f, which holds in f.Valid: the one believed at the end of its
// last interval. by is "" where f still holds or nothing replaced it; decided is false where none of all, sorted by
// ByBelief, says so. own are f's assertions.
func successor(f memory.Fact, own, all []Assertion) (by memory.FactID, decided bool) {
	n := len(f.Valid)
	if n > 0 && f.Valid[n-1].To == nil {
		return "", true
	}
	last := slices.MaxFunc(own, ByBelief)
	end := last.Start
	if n > 0 {
		end = *f.Valid[n-1].To
	}
	for _, a := range slices.Backward(all) {
		if ByBelief(a, last) <= 0 {
			break
		}
		switch {
		case !a.covers(end):
		case a.Value == f.State.Value:
			return "", true
		case opposed(a.Value, f.State.Value):
			return a.Fact, true
		}
	}
	return "", false
}

// truncate removes from a fact's intervals what a new assertion, the first of since, takes away; the fact's own later
// assertions keep theirs. own are the fact's assertions, and since all of the attribute from the new one on, sorted by
// ByBelief. With succeeds, assertions alone decide what replaced the fact, and f.Superseded is updated. ok is false,
// with f to be discarded, where assertions before the new one decide that.
func truncate(f memory.Fact, own, since []Assertion, succeeds bool) (_ memory.Fact, ok bool) {
	newest, was := since[0], f.Valid
	later := slices.DeleteFunc(slices.Clone(own), func(a Assertion) bool { return ByBelief(a, newest) <= 0 })
	if opposed(newest.Value, f.State.Value) {
		f.Valid = union(append(subtract(f.Valid, newest), Intervals(later, since)...))
	}
	if !succeeds {
		return f, true
	}
	by, decided := successor(f, own, since)
	if decided || len(later) > 0 {
		f.Superseded = by
		return f, true
	}
	if len(f.Valid) == 0 || len(was) == 0 {
		return f, len(f.Valid) == len(was)
	}
	end := was[len(was)-1].To
	return f, end != nil && end.Equal(*f.Valid[len(f.Valid)-1].To)
}

// earlier returns the earlier of two times, of which nil is the latest.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}
