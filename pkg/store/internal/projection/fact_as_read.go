package projection

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// keepFact caches a fact that was put, with the sources that it has now, as it would be read. stored says that it was
// stored before; then a nil vector stands for the one that it has, and before is the fact as it was last read, if that is
// known. One that would have to be read is not cached.
func (a *applier) keepFact(bank int64, f memory.Fact, sources []memory.Source, stored bool, before *memory.Fact) {
	if f.Vector == nil && stored {
		if before == nil {
			return
		}
		f.Vector = before.Vector
	} else if f.Vector != nil {
		n, ok := a.cache.NodeByID(bank, 0, string(f.ID))
		if !ok || n.Vector == nil {
			return
		}
		f.Vector = n.Vector
	}
	if f, ok := asRead(f); ok {
		f.Sources = slices.Clip(engine.NilIfEmpty(sources))
		a.cache.KeepFact(bank, f)
	}
}

// asRead returns a fact as it is read from the store, but for its vector and its sources. It is false for one with parts
// that reading may change.
func asRead(f memory.Fact) (memory.Fact, bool) {
	if len(f.Metadata) > 0 || f.Outcome != nil || f.Bounds != nil ||
		!plain(f.Key, f.Text, f.Topic, f.Speaker, string(f.Session), f.Extractor, f.Model) {
		return f, false
	}
	f.Metadata = nil
	f.Entities, f.Tags, f.Ops = copied(f.Entities), copied(f.Tags), copied(f.Ops)
	f.Said, f.Recorded, f.Occurred = engine.AsStored(f.Said), engine.AsStored(f.Recorded), engine.SpanAsStored(f.Occurred)
	f.Valid = copied(f.Valid)
	for i, v := range f.Valid {
		if v.From.Nanosecond()%1000 != 0 || v.To != nil && v.To.Nanosecond()%1000 != 0 { // kept to the nanosecond
			return f, false
		}
		stored := engine.SpanAsStored(memory.Span{From: &v.From, To: v.To})
		f.Valid[i] = memory.Interval{From: *stored.From, To: stored.To}
	}
	if f.State != nil {
		s := *f.State
		f.State = &s
		return f, plain(string(s.Subject), s.Attribute, s.Value)
	}
	return f, true
}

// plain reports whether texts are stored as they are given.
func plain(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return engine.Text(s) != s })
}

func copied[T any](list []T) []T { return engine.NilIfEmpty(slices.Clone(list)) }
