package query

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// retainedFact checks a fact given by hand and fills in what it leaves out:
// kind world, type fact, said now, confidence 1.
func (s *Service) retainedFact(bank memory.BankID, in memory.FactInput, i int, now time.Time) (memory.Fact, error) {
	field := func(name string) string { return fmt.Sprintf("facts.%d.%s", i, name) }
	f := memory.Fact{Bank: bank, Key: in.Key, Text: strings.TrimSpace(s.redact(in.Text)), Kind: in.Kind, Type: in.Type, Speaker: in.Speaker,
		Said: memory.At(now), Confidence: 1, Metadata: in.Metadata, Sources: []memory.Source{}}
	if f.Kind == "" {
		f.Kind = memory.KindWorld
	}
	if f.Type == "" {
		f.Type = memory.TypeFact
	}
	switch {
	case f.Text == "":
		return f, memory.Invalid(field("text"), "must not be empty")
	case len(in.Text) > memory.MaxFactText:
		return f, memory.Invalid(field("text"), "is %d bytes long; at most %d are allowed", len(in.Text), memory.MaxFactText)
	case !utf8.ValidString(in.Text):
		return f, memory.Invalid(field("text"), "is not valid UTF-8")
	case !f.Kind.Valid():
		return f, memory.Invalid(field("kind"), "is not a kind of fact; expected world, experience or opinion")
	case !f.Type.Valid():
		return f, memory.Invalid(field("type"), "is not the form of a type; expected 1 to 64 of a-z, 0-9 and _")
	case len(in.Speaker) > memory.MaxName:
		return f, memory.Invalid(field("speaker"), "is %d bytes long; at most %d are allowed", len(in.Speaker), memory.MaxName)
	case len(in.Sources) > memory.MaxEntities:
		return f, memory.Invalid(field("sources"), "has %d sources; at most %d are allowed", len(in.Sources), memory.MaxEntities)
	}
	if in.Key != "" {
		if err := memory.CheckID(field("key"), in.Key); err != nil {
			return f, err
		}
	}
	for j, id := range in.Sources {
		if err := memory.CheckID(fieldOf(field("sources"), j), string(id)); err != nil {
			return f, err
		}
	}
	if in.Confidence != nil {
		f.Confidence = *in.Confidence
		if math.IsNaN(f.Confidence) || f.Confidence < 0 || f.Confidence > 1 {
			return f, memory.Invalid(field("confidence"), "is %g; expected 0 to 1", f.Confidence)
		}
	}
	if err := retainedTimes(&f, in, field); err != nil {
		return f, err
	}
	if err := s.retainedLists(&f, in, field); err != nil {
		return f, err
	}
	f.ID = memory.NewFactID(bank, f.Text, f.Kind)
	return f, nil
}

func retainedTimes(f *memory.Fact, in memory.FactInput, field func(string) string) error {
	if in.Said != nil {
		if err := checkTime(field("said"), *in.Said); err != nil {
			return err
		}
		f.Said = memory.At(*in.Said)
	}
	start := f.Said
	if in.Occurred != nil {
		for _, end := range []struct {
			name  string
			given *time.Time
			into  **time.Time
		}{{"occurred.from", in.Occurred.From, &f.Occurred.From}, {"occurred.to", in.Occurred.To, &f.Occurred.To}} {
			if end.given == nil {
				continue
			}
			if err := checkTime(field(end.name), *end.given); err != nil {
				return err
			}
			t := memory.At(*end.given)
			*end.into = &t
		}
		if f.Occurred.From != nil && f.Occurred.To != nil && f.Occurred.To.Before(*f.Occurred.From) {
			return memory.Invalid(field("occurred.to"), "lies before occurred.from")
		}
	}
	f.Valid = []memory.Interval{{From: start}}
	return nil
}

func (s *Service) retainedLists(f *memory.Fact, in memory.FactInput, field func(string) string) error {
	if len(in.Tags) > memory.MaxTags {
		return memory.Invalid(field("tags"), "has %d tags; at most %d are allowed", len(in.Tags), memory.MaxTags)
	}
	if err := checkNames(field("tags"), in.Tags); err != nil {
		return err
	}
	if err := checkNames(field("entities"), in.Entities); err != nil {
		return err
	}
	for _, t := range in.Tags {
		f.Tags = append(f.Tags, strings.ToLower(strings.TrimSpace(t)))
	}
	for j, e := range in.Entities {
		id, err := memory.ParseEntityID(fieldOf(field("entities"), j), e)
		if err != nil {
			return err
		}
		f.Entities = append(f.Entities, id)
	}
	slices.Sort(f.Tags)
	slices.Sort(f.Entities)
	f.Tags, f.Entities = slices.Compact(f.Tags), slices.Compact(f.Entities)
	if in.Metadata != nil {
		raw, err := json.Marshal(in.Metadata)
		if err != nil || len(raw) > memory.MaxFactText {
			return memory.Invalid(field("metadata"), "is %d bytes of JSON; at most %d are allowed", len(raw), memory.MaxFactText)
		}
	}
	if in.Vector == nil {
		return nil
	}
	if err := in.Vector.Check(field("vector")); err != nil {
		return err
	}
	if s.embedder != nil && len(in.Vector) != s.embedder.Dimension() {
		return sizeConflict(field("vector"), len(in.Vector), s.embedder)
	}
	f.Vector = in.Vector.Unit()
	return nil
}
