// Package request holds what the requests of all endpoints have in common: the checks of their fields, and waiting for
// the store.
//
// Every check names the field in its error, which is memory.ErrInvalid unless it says otherwise. Poll is how a request
// waits until the store has applied what it asks for.
package request

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Waits bounds how long a request may wait.
type Waits struct {
	Default time.Duration // used by a request that does not say
	Max     time.Duration // the longest wait a request may ask for
}

// Of returns the given wait of a field, or the default if it is nil.
func (w Waits) Of(field string, given *memory.Duration) (time.Duration, error) {
	if given == nil {
		return w.Default, nil
	}
	wait := time.Duration(*given)
	if wait < 0 || wait > w.Max {
		return 0, memory.Invalid(field, "is %s; expected 0s to %s", wait, w.Max)
	}
	return wait, nil
}

// Element names element i of a list field, "tags.3".
func Element(list string, i int) string { return fmt.Sprintf("%s.%d", list, i) }

// Limit returns the given number, which must be from 1 to most, or the default if it is nil.
func Limit(field string, given *int, byDefault, most int) (int, error) {
	if given == nil {
		return byDefault, nil
	}
	if *given < 1 || *given > most {
		return 0, memory.Invalid(field, "is %d; expected 1 to %d", *given, most)
	}
	return *given, nil
}

// Share checks a number from 0 to 1; nil passes.
func Share(field string, v *float64) error {
	if v != nil && (math.IsNaN(*v) || *v < 0 || *v > 1) {
		return memory.Invalid(field, "is %g; expected 0 to 1", *v)
	}
	return nil
}

// Time checks that a time lies in the years 1 to 9999.
func Time(field string, t time.Time) error {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return memory.Invalid(field, "year %d is outside 1 to 9999", y)
	}
	return nil
}

// Names checks a list of names: at most memory.MaxEntities, none of them empty or longer than memory.MaxName bytes.
func Names(field string, values []string) error {
	if len(values) > memory.MaxEntities {
		return memory.Invalid(field, "has %d values; at most %d are allowed", len(values), memory.MaxEntities)
	}
	for i, v := range values {
		if strings.TrimSpace(v) == "" {
			return memory.Invalid(Element(field, i), "must not be empty")
		}
		if len(v) > memory.MaxName {
			return memory.Invalid(Element(field, i), "is %d bytes long; at most %d are allowed", len(v), memory.MaxName)
		}
	}
	return nil
}

// Tags checks a list of tags and returns them trimmed and in lower case, in their order.
func Tags(field string, tags []string) ([]string, error) {
	if len(tags) > memory.MaxTags {
		return nil, memory.Invalid(field, "has %d tags; at most %d are allowed", len(tags), memory.MaxTags)
	}
	if err := Names(field, tags); err != nil {
		return nil, err
	}
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = strings.ToLower(strings.TrimSpace(t))
	}
	return out, nil
}

// Weights checks weights by name: each name is one of those allowed, each weight from 0 to 1000, and one is above 0.
func Weights(field string, given map[string]float64, allowed []string) error {
	total := 0.0
	for _, name := range slices.Sorted(maps.Keys(given)) {
		w := given[name]
		if !slices.Contains(allowed, name) {
			return memory.Invalid(field+"."+name, "is not a strategy; expected one of %s", strings.Join(allowed, ", "))
		}
		if math.IsNaN(w) || w < 0 || w > 1000 {
			return memory.Invalid(field+"."+name, "is %g; expected a weight from 0 to 1000", w)
		}
		total += w
	}
	if total == 0 {
		return memory.Invalid(field, "gives no strategy any weight")
	}
	return nil
}

// Dimension is the memory.ErrConflict of a vector whose size is not that of the embedder's vectors, nil if it is.
func Dimension(field string, v memory.Vector, e memory.Embedder) error {
	if len(v) == e.Dimension() {
		return nil
	}
	return &memory.FieldError{Field: field, Meaning: memory.ErrConflict,
		Message: fmt.Sprintf("has %d dimensions; the vectors here are %s with %d: give one of that model, or none, and the text is embedded",
			len(v), e.Name(), e.Dimension())}
}

// Filter refuses a filter that no record can pass because of its form.
func Filter(f memory.Filter) error {
	if f.Session != "" {
		if _, err := memory.ParseSessionID(string(f.Session)); err != nil {
			return err
		}
	}
	for i, r := range f.Records {
		if !slices.Contains(memory.Records, r) {
			return memory.Invalid(Element("records", i), "is not a record; expected fact, composite, observation or message")
		}
	}
	for i, k := range f.Kinds {
		if !k.Valid() && k != memory.KindObservation {
			return memory.Invalid(Element("kinds", i), "is not a kind; expected world, experience, opinion or observation")
		}
	}
	for i, t := range f.Types {
		if !t.Valid() {
			return memory.Invalid(Element("types", i), "is not the form of a type; expected 1 to 64 of a-z, 0-9 and _")
		}
	}
	for _, l := range []struct {
		field  string
		values []string
	}{{"speakers", f.Speakers}, {"entities", f.Entities}, {"topics", f.Topics}, {"tags", f.Tags}} {
		if err := Names(l.field, l.values); err != nil {
			return err
		}
	}
	for i, e := range f.Entities {
		if _, err := memory.ParseEntityID(Element("entities", i), e); err != nil {
			return err
		}
	}
	for _, t := range []struct {
		field string
		at    *time.Time
	}{{"from", f.From}, {"to", f.To}, {"as_of", f.AsOf}} {
		if t.at != nil {
			if err := Time(t.field, *t.at); err != nil {
				return err
			}
		}
	}
	if f.From != nil && f.To != nil && f.To.Before(*f.From) {
		return memory.Invalid("to", "lies before from")
	}
	return exclude(f.Exclude)
}

// maxExcluded bounds each list of what a filter leaves out.
const maxExcluded = 1000

// exclude refuses what a filter leaves out where it is malformed.
func exclude(x *memory.Exclude) error {
	if x == nil {
		return nil
	}
	for _, l := range []struct {
		field string
		n     int
	}{{"exclude.sessions", len(x.Sessions)}, {"exclude.ids", len(x.IDs)}} {
		if l.n > maxExcluded {
			return memory.Invalid(l.field, "has %d values; at most %d are allowed", l.n, maxExcluded)
		}
	}
	for i, s := range x.Sessions {
		if err := memory.CheckID(Element("exclude.sessions", i), string(s)); err != nil {
			return err
		}
	}
	for i, id := range x.IDs {
		if err := memory.CheckID(Element("exclude.ids", i), id); err != nil {
			return err
		}
	}
	return Names("exclude.speakers", x.Speakers)
}
