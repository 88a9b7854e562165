package plan

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// sameFact reports whether two states of a fact are equal but for the version. Empty and absent lists are equal.
func sameFact(a, b memory.Fact) bool {
	if a.Text != b.Text || a.Superseded != b.Superseded || !slices.Equal(a.Vector, b.Vector) || !slices.EqualFunc(a.Sources, b.Sources, sameSource) {
		return false // what mostly differs, before the slow reflection
	}
	norm := func(f memory.Fact) memory.Fact {
		f.Sources = nil
		f = cloneFact(f)
		f.Version, f.Bank, f.Vector = 0, "", nil
		f.Said, f.Recorded = f.Said.UTC(), f.Recorded.UTC()
		for i := range f.Valid {
			f.Valid[i].From = f.Valid[i].From.UTC()
			f.Valid[i].To = utc(f.Valid[i].To)
		}
		if f.Bounds != nil {
			f.Bounds.From, f.Bounds.To, f.Bounds.Said = f.Bounds.From.UTC(), utc(f.Bounds.To), f.Bounds.Said.UTC()
		}
		f.Occurred.From, f.Occurred.To = utc(f.Occurred.From), utc(f.Occurred.To)
		f.Entities, f.Tags, f.Ops = orNil(f.Entities), orNil(f.Tags), orNil(f.Ops)
		f.Valid = orNil(f.Valid)
		if len(f.Metadata) == 0 {
			f.Metadata = nil
		}
		return f
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

func sameSource(a, b memory.Source) bool {
	return a.Seq == b.Seq && a.Message == b.Message && a.Said.Equal(b.Said) && a.Start.Equal(b.Start)
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

// compareAge orders facts by event time, the older one first: by when they were last said, then by sequence of the
// message, then by when they were recorded, then by id. The order is total.
func compareAge(a, b memory.Fact) int {
	return cmp.Or(a.Said.Compare(b.Said), cmp.Compare(lastSeq(a), lastSeq(b)), a.Recorded.Compare(b.Recorded), cmp.Compare(a.ID, b.ID))
}

func lastSeq(f memory.Fact) uint64 {
	if len(f.Sources) == 0 {
		return 0
	}
	return f.Sources[len(f.Sources)-1].Seq
}

// mayBeOne reports whether nothing but their wording may tell two facts apart. Facts that give different times or
// states, or one of which gives a time, are two.
func mayBeOne(a, b memory.Fact) bool {
	return a.Type == b.Type && a.Kind == b.Kind && (a.Key == "" || b.Key == "" || a.Key == b.Key) &&
		sameInstant(a.Occurred.From, b.Occurred.From) && sameInstant(a.Occurred.To, b.Occurred.To) &&
		(a.State == nil || b.State == nil || *a.State == *b.State)
}

func sameInstant(a, b *memory.Instant) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// raise is the confidence of a statement that another source of confidence by repeats: half of by is taken off what was
// missing to certainty. It grows towards 1, never falls, and a source of confidence 0 adds nothing.
func raise(c, by float64) float64 {
	return clamp(1 - (1-clamp(c))*(1-clamp(by)/2))
}

// addSources adds the sources whose message the fact does not rest on yet, in order of sequence, and reports whether
// there was one. The list that the fact had stays as it is.
func addSources(f *memory.Fact, more []memory.Source) bool {
	added := false
	for _, s := range more {
		newest := len(f.Sources) == 0 || s.Seq > f.Sources[len(f.Sources)-1].Seq // as nearly always: they are in order
		if !newest && slices.ContainsFunc(f.Sources, func(h memory.Source) bool { return h.Seq == s.Seq }) {
			continue
		}
		if !added {
			f.Sources, added = slices.Grow(slices.Clip(f.Sources), len(more)), true
		}
		f.Sources = append(f.Sources, s)
	}
	bySeq := func(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) }
	if !slices.IsSortedFunc(f.Sources, bySeq) {
		f.Sources = slices.Clone(f.Sources)
		slices.SortFunc(f.Sources, bySeq)
	}
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

// joinStatement adds to a fact what another wording or a repetition of it, f, says.
func joinStatement(existing *memory.Fact, f memory.Fact) {
	existing.Confidence = raise(existing.Confidence, f.Confidence)
	existing.Entities = unite(existing.Entities, f.Entities)
	existing.Tags = unite(existing.Tags, f.Tags)
	if f.Said.After(existing.Said) {
		existing.Said = f.Said
	}
	if !f.Occurred.IsZero() && (existing.Occurred.IsZero() || !f.Said.Before(existing.Said)) {
		existing.Occurred = f.Occurred
	}
	if existing.Vector == nil && f.Vector != nil {
		existing.Vector, existing.Model = f.Vector, f.Model
	}
	if existing.State == nil {
		existing.State = f.State
	}
	if existing.Key == "" {
		existing.Key = f.Key
	}
	if len(f.Metadata) > 0 {
		m := map[string]any{}
		maps.Copy(m, existing.Metadata)
		maps.Copy(m, f.Metadata)
		existing.Metadata = m
	}
}

// unite returns the sorted set of both lists.
func unite[T cmp.Ordered](a, b []T) []T {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// clamp limits a share to [0, 1]; NaN is 0.
func clamp(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(0, min(1, v))
}
