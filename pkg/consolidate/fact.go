package consolidate

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// cloneFact copies a fact so that changing its lists does not change the original's.
func cloneFact(f memory.Fact) memory.Fact {
	f.Entities = slices.Clone(f.Entities)
	f.Tags = slices.Clone(f.Tags)
	f.Valid = slices.Clone(f.Valid)
	f.Sources = slices.Clone(f.Sources)
	f.Ops = slices.Clone(f.Ops)
	if f.State != nil {
		s := *f.State
		f.State = &s
	}
	return f
}

// sameFact reports whether two states of a fact are equal but for the version.
// Empty and absent lists are equal.
func sameFact(a, b memory.Fact) bool {
	if a.Text != b.Text || a.Superseded != b.Superseded || !slices.Equal(a.Vector, b.Vector) {
		return false // what differs mostly, and what reflection is slow at
	}
	norm := func(f memory.Fact) memory.Fact {
		f = cloneFact(f)
		f.Version, f.Bank, f.Vector = 0, "", nil
		f.Said, f.Recorded = f.Said.UTC(), f.Recorded.UTC()
		for i := range f.Sources {
			f.Sources[i].Said, f.Sources[i].Start = f.Sources[i].Said.UTC(), f.Sources[i].Start.UTC()
		}
		for i := range f.Valid {
			f.Valid[i].From = f.Valid[i].From.UTC()
			f.Valid[i].To = utc(f.Valid[i].To)
		}
		f.Occurred.From, f.Occurred.To = utc(f.Occurred.From), utc(f.Occurred.To)
		f.Entities, f.Tags, f.Ops = orNil(f.Entities), orNil(f.Tags), orNil(f.Ops)
		f.Sources, f.Valid = orNil(f.Sources), orNil(f.Valid)
		if len(f.Metadata) == 0 {
			f.Metadata = nil
		}
		return f
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func orNil[S ~[]E, E any](s S) S {
	if len(s) == 0 {
		return nil
	}
	return s
}

// clamp holds a share in [0, 1]; NaN is 0.
func clamp(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(0, min(1, v))
}

// raise is the confidence of a statement that another source repeats: of what
// was missing to certainty, half of the new source's confidence is taken away,
// so that it grows towards 1, never falls, and a source of confidence 0 adds nothing.
func raise(c, by float64) float64 {
	return clamp(1 - (1-clamp(c))*(1-clamp(by)/2))
}

// unite gives the sorted set of both lists.
func unite[T cmp.Ordered](a, b []T) []T {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// addSources adds the sources whose message the fact does not rest on yet and
// reports whether there was one. Sources stay in order of sequence.
func addSources(f *memory.Fact, more []memory.Source) bool {
	added := false
	for _, s := range more {
		if slices.ContainsFunc(f.Sources, func(h memory.Source) bool { return h.Seq == s.Seq }) {
			continue
		}
		f.Sources = append(f.Sources, s)
		added = true
	}
	slices.SortFunc(f.Sources, func(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) })
	if said := lastSaid(f.Sources); said.After(f.Said) {
		f.Said = said
	}
	return added
}

func lastSaid(sources []memory.Source) time.Time {
	var t time.Time
	for _, s := range sources {
		if s.Said.After(t) {
			t = s.Said
		}
	}
	return t
}

// start is from when a fact holds by its sources: their earliest start, or,
// without sources, its occurrence where it gives a state, else when it was said.
func start(f memory.Fact) time.Time {
	if len(f.Sources) == 0 {
		if f.State != nil && f.Occurred.From != nil {
			return *f.Occurred.From
		}
		return f.Said
	}
	t := f.Sources[0].Start
	for _, s := range f.Sources[1:] {
		if s.Start.Before(t) {
			t = s.Start
		}
	}
	return t
}

// rank is the order of event time in which of two facts one is newer: by when
// it was last said, then by sequence of the message, then by when it was
// recorded, then by id. It is total.
func rank(a, b memory.Fact) int {
	return cmp.Or(a.Said.Compare(b.Said), cmp.Compare(lastSeq(a), lastSeq(b)), a.Recorded.Compare(b.Recorded), cmp.Compare(a.ID, b.ID))
}

func lastSeq(f memory.Fact) uint64 {
	if len(f.Sources) == 0 {
		return 0
	}
	return f.Sources[len(f.Sources)-1].Seq
}

// closeAt ends the fact's last interval at t and says what took its place, ""
// for nothing. An interval that would be empty is dropped.
func closeAt(f *memory.Fact, t time.Time, by memory.FactID) {
	f.Superseded = by
	for n := len(f.Valid); n > 0; n-- {
		last := f.Valid[n-1]
		if t.After(last.From) {
			if last.To == nil || t.Before(*last.To) {
				f.Valid[n-1].To = &t
			}
			return
		}
		f.Valid = f.Valid[:n-1]
	}
}

// reopen makes a fact hold from t on again; where its last interval reaches t
// it goes on.
func reopen(f *memory.Fact, t time.Time) {
	f.Superseded = ""
	if n := len(f.Valid); n > 0 && (f.Valid[n-1].To == nil || !t.After(*f.Valid[n-1].To)) {
		f.Valid[n-1].To = nil
		return
	}
	f.Valid = append(f.Valid, memory.Interval{From: t})
}

// tidy brings a fact of an event into its stored form. Without a kind it is of
// the world, without a type a fact.
func (ws *workspace) tidy(f memory.Fact) memory.Fact {
	f = cloneFact(f)
	f.Bank = ws.write.Bank
	f.Kind, f.Type = cmp.Or(f.Kind, memory.KindWorld), cmp.Or(f.Type, memory.TypeFact)
	f.ID = memory.NewFactID(f.Bank, f.Text, f.Kind)
	f.Confidence = clamp(f.Confidence)
	f.Recorded = ws.write.Time
	f.Superseded, f.Merged, f.Valid = "", "", nil
	f.Ops = nil
	for i := range f.Tags {
		f.Tags[i] = strings.ToLower(strings.TrimSpace(f.Tags[i]))
	}
	f.Tags = unite(f.Tags, nil)
	f.Tags = slices.DeleteFunc(f.Tags, func(t string) bool { return t == "" })
	f.Occurred.From, f.Occurred.To = instant(f.Occurred.From), instant(f.Occurred.To)
	if len(f.Entities) == 0 && ws.write.Kind == memory.WriteRetain {
		f.Entities = namesIn(f)
	}
	f.Entities = ws.resolveAll(f.Entities, f.Text)
	if f.State == nil {
		f.State = stateOf(f)
	}
	if f.State != nil {
		s := *f.State
		s.Subject = ws.resolve(s.Subject, f.Text)
		s.Attribute = attributeName(s.Attribute)
		s.Value = memory.NormalText(s.Value)
		if s.Attribute == "residence" { // "Paris, France" is Paris
			s.Value, _, _ = strings.Cut(s.Value, ",")
		}
		f.State = &s
		if s.Subject == "" || s.Attribute == "" || s.Value == "" {
			f.State = nil
		}
	}
	for i, s := range f.Sources {
		if s.Start.IsZero() {
			s.Start = s.Said
			if f.State != nil && f.Occurred.From != nil {
				s.Start = *f.Occurred.From
			}
		}
		f.Sources[i].Said, f.Sources[i].Start = memory.At(s.Said), memory.At(s.Start)
	}
	if len(f.Sources) > 0 {
		f.Said = lastSaid(f.Sources)
	} else if f.Said.IsZero() {
		f.Said = ws.write.Time
	}
	f.Said = memory.At(f.Said)
	if f.Vector != nil && f.Vector.Check("vector") == nil {
		f.Vector = f.Vector.Unit()
	} else {
		f.Vector = nil
	}
	return f
}

func instant(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := memory.At(*t)
	return &at
}
