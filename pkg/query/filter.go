package query

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// checkFilter refuses what no record can have and gives the canonical form:
// tags in lower case, times in UTC.
func checkFilter(f memory.Filter) (memory.Filter, error) {
	if f.Session != "" {
		if _, err := memory.ParseSessionID(string(f.Session)); err != nil {
			return f, err
		}
	}
	for i, r := range f.Records {
		if !slices.Contains(memory.Records, r) {
			return f, memory.Invalid(fieldOf("records", i), "is not a record; expected fact, composite, observation or message")
		}
	}
	for i, k := range f.Kinds {
		if !k.Valid() && k != memory.KindObservation {
			return f, memory.Invalid(fieldOf("kinds", i), "is not a kind; expected world, experience, opinion or observation")
		}
	}
	for i, t := range f.Types {
		if !t.Valid() {
			return f, memory.Invalid(fieldOf("types", i), "is not the form of a type; expected 1 to 64 of a-z, 0-9 and _")
		}
	}
	for _, l := range []struct {
		field  string
		values []string
	}{{"speakers", f.Speakers}, {"entities", f.Entities}, {"topics", f.Topics}, {"tags", f.Tags}} {
		if err := checkNames(l.field, l.values); err != nil {
			return f, err
		}
	}
	for i, e := range f.Entities {
		if _, err := memory.ParseEntityID(fieldOf("entities", i), e); err != nil {
			return f, err
		}
	}
	return checkRange(f)
}

func checkNames(field string, values []string) error {
	if len(values) > memory.MaxEntities {
		return memory.Invalid(field, "has %d values; at most %d are allowed", len(values), memory.MaxEntities)
	}
	for i, v := range values {
		if strings.TrimSpace(v) == "" {
			return memory.Invalid(fieldOf(field, i), "must not be empty")
		}
		if len(v) > memory.MaxName {
			return memory.Invalid(fieldOf(field, i), "is %d bytes long; at most %d are allowed", len(v), memory.MaxName)
		}
	}
	return nil
}

func checkRange(f memory.Filter) (memory.Filter, error) {
	if f.From != nil {
		if err := checkTime("from", *f.From); err != nil {
			return f, err
		}
	}
	if f.To != nil {
		if err := checkTime("to", *f.To); err != nil {
			return f, err
		}
	}
	if f.AsOf != nil {
		if err := checkTime("as_of", *f.AsOf); err != nil {
			return f, err
		}
	}
	if f.From != nil && f.To != nil && f.To.Before(*f.From) {
		return f, memory.Invalid("to", "lies before from")
	}
	return f, nil
}
