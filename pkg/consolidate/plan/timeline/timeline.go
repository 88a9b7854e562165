// Package timeline computes when the values of an attribute hold.
//
// Each source of a fact makes an Assertion: from its start on, the attribute has this value. Of two assertions that
// speak of one time the one said later is believed. Intervals returns what is left to a fact's value after all later
// assertions. Rebuild computes it for all facts of an attribute; Insert updates them for one new assertion, without the
// whole history. All functions are pure. What they return depends on the set of assertions alone, not on the order in
// which they arrived.
package timeline

import (
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Rebuild returns the facts of one attribute of one subject with the validity that follows from all they assert. Those
// in closed were ended by something else than an assertion: they assert nothing of the time after, and stay ended; such
// a fact without an interval is left out. A message in replaced asserts nothing from its replacement on.
func Rebuild(facts []memory.Fact, closed map[memory.FactID]bool, replaced map[memory.MessageID]memory.Replacement) []memory.Fact {
	h, out := historyOf(facts, closed, replaced), make([]memory.Fact, 0, len(facts))
	for _, f := range facts {
		own := h.own[f.ID]
		if own == nil {
			continue
		}
		f.Valid = Intervals(own, h.all)
		if !closed[f.ID] {
			f.Superseded, _ = successor(f, own, h.all)
		}
		out = append(out, f)
	}
	return out
}

// Insert returns the facts of a state that a new one, f, changes, f first. f has one source, whose message stands. others
// are the facts that hold when f begins or later, or were said after it; closed and replaced are those of Rebuild. ok is
// false where others do not decide everything.
func Insert(f memory.Fact, others []memory.Fact, closed map[memory.FactID]bool,
	replaced map[memory.MessageID]memory.Replacement) (changed []memory.Fact, ok bool) {
	h, newest := historyOf(others, closed, replaced), assertionsOf(f, nil, nil)[0]
	later := slices.DeleteFunc(h.all, func(a Assertion) bool { return ByBelief(a, newest) <= 0 })
	since := append([]Assertion{newest}, later...)
	f.Valid = Intervals(since[:1], later)
	f.Superseded, _ = successor(f, since[:1], later)
	changed = []memory.Fact{f}
	for _, o := range others {
		own, n := h.own[o.ID], len(o.Valid)
		ended := n > 0 && o.Valid[n-1].To != nil && o.Valid[n-1].To.Before(newest.Start)
		if own == nil || ended || ByBelief(slices.MinFunc(own, ByBelief), newest) > 0 {
			continue // it was said wholly after, or had ended
		}
		o, ok := truncate(o, own, since, !closed[o.ID])
		if !ok {
			return nil, false
		}
		changed = append(changed, o)
	}
	return changed, true
}

// Start is from when a fact holds by its bounds or its sources, whichever begin earlier. Without either that is its
// occurrence where it asserts a state, else when it was said.
func Start(f memory.Fact) time.Time {
	if len(f.Sources) == 0 {
		if f.Bounds != nil {
			return f.Bounds.From
		}
		if f.State != nil && f.Occurred.From != nil {
			return *f.Occurred.From
		}
		return f.Said
	}
	start := slices.MinFunc(f.Sources, func(a, b memory.Source) int { return a.Start.Compare(b.Start) }).Start
	if f.Bounds != nil {
		start = *earlier(&start, &f.Bounds.From)
	}
	return start
}

// held returns when a fact holds by its own sources and bounds, whatever other facts say.
func held(f memory.Fact) []memory.Interval {
	if f.Bounds == nil {
		return []memory.Interval{{From: Start(f)}}
	}
	return Intervals(assertionsOf(f, nil, nil), nil)
}

// Open makes a new fact hold within its bounds or, without bounds, from its start on, until a time if that is not nil.
func Open(f *memory.Fact, until *time.Time) {
	f.Valid, f.Superseded = held(*f), ""
	Close(f, until, "")
}

// Close ends the fact's last interval at t and names what superseded it, "" for nothing. An interval that would be
// empty is dropped. A nil t changes nothing.
func Close(f *memory.Fact, t *time.Time, by memory.FactID) {
	if t == nil {
		return
	}
	f.Superseded = by
	for n := len(f.Valid); n > 0; n-- {
		last := f.Valid[n-1]
		if t.After(last.From) {
			if last.To == nil || t.Before(*last.To) {
				f.Valid[n-1].To = t
			}
			return
		}
		f.Valid = f.Valid[:n-1]
	}
}

// Reopen makes a fact hold again from t on; if its last interval reaches t, that one goes on.
func Reopen(f *memory.Fact, t time.Time) {
	f.Superseded = ""
	if n := len(f.Valid); n > 0 && (f.Valid[n-1].To == nil || !t.After(*f.Valid[n-1].To)) {
		f.Valid[n-1].To = nil
		return
	}
	f.Valid = append(f.Valid, memory.Interval{From: t})
}

// Extend makes a fact that holds begin no later than another one, old, that says the same.
func Extend(f *memory.Fact, old memory.Fact) {
	from := Start(old)
	if len(old.Valid) > 0 && old.Valid[0].From.Before(from) {
		from = old.Valid[0].From
	}
	if len(f.Valid) > 0 && from.Before(f.Valid[0].From) {
		f.Valid[0].From = from
	}
}

// Before returns when a fact holds before another one, by, begins.
func Before(f, by memory.Fact) []memory.Interval {
	if len(by.Valid) == 0 {
		return nil
	}
	f.Valid = slices.Clone(f.Valid)
	Close(&f, &by.Valid[0].From, "")
	return f.Valid
}

// Repeat updates when a fact holds after by repeated it: from the start of by on if it is revived, from its own start if
// nothing superseded it and it asserts no state, else no later than by begins. until, where it is not nil, ends a fact
// without a state.
func Repeat(f *memory.Fact, by memory.Fact, revived bool, until *time.Time) {
	from, n := by.Said, len(f.Valid)
	if len(by.Sources) > 0 {
		from = Start(by)
	}
	switch {
	case revived:
		Reopen(f, from)
	case f.Bounds != nil && f.Superseded == "" && f.State == nil:
		f.Valid = held(*f)
	case f.Superseded == "" && f.State == nil && (n == 0 || f.Valid[n-1].To != nil):
		Reopen(f, Start(*f))
	case n > 0 && from.Before(f.Valid[0].From):
		f.Valid[0].From = from
	}
	if f.State == nil {
		Close(f, until, f.Superseded)
	}
}

// Supersede ends a fact where by begins: at its start or, if the fact began no earlier, when by was said.
func Supersede(f *memory.Fact, by memory.Fact) {
	at := Start(by)
	if n := len(by.Valid); n > 0 {
		at = by.Valid[n-1].From
	}
	if n := len(f.Valid); n > 0 && !at.After(f.Valid[n-1].From) {
		at = by.Said
	}
	Close(f, &at, by.ID)
}
