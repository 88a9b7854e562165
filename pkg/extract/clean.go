package extract

import (
	"slices"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// blank reports what divides words: white space and control characters.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// entities gives the canonical ids, sorted and unique, at most MaxEntities.
// What names no entity is left out.
func entities(in []memory.EntityID) []memory.EntityID {
	var out []memory.EntityID
	for _, e := range in {
		if id, err := memory.ParseEntityID("entities", string(e)); err == nil {
			out = append(out, id)
		}
	}
	out = sortedUnique(out)
	return out[:min(len(out), memory.MaxEntities)]
}

// tags gives tags in lower case, sorted and unique, at most MaxTags.
func tags(in []string) []string {
	var out []string
	for _, t := range in {
		t = strings.ToLower(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(t, ""), blank), " "))
		if t != "" && len(t) <= memory.MaxName {
			out = append(out, t)
		}
	}
	out = sortedUnique(out)
	return out[:min(len(out), memory.MaxTags)]
}

// state gives the canonical state; nil for one that is incomplete, or whose
// value is a secret.
func state(s *memory.State, redact Redactor) *memory.State {
	if s == nil {
		return nil
	}
	subject, err := memory.ParseEntityID("state.subject", string(s.Subject))
	attribute := strings.ToLower(strings.Join(strings.Fields(s.Attribute), " "))
	value := memory.NormalText(s.Value)
	if err != nil || memory.CheckID("state.attribute", attribute) != nil || value == "" || len(value) > memory.MaxName*4 ||
		redact.Redact(attribute+" is "+value) != attribute+" is "+value {
		return nil
	}
	return &memory.State{Subject: subject, Attribute: attribute, Value: value}
}

// instants cuts both ends of a span to instants.
func instants(s memory.Span) memory.Span {
	if s.From != nil {
		t := memory.At(*s.From)
		s.From = &t
	}
	if s.To != nil {
		t := memory.At(*s.To)
		s.To = &t
	}
	return s
}

// redacted gives messages with the secrets of their texts replaced; the ones
// given stay as they are.
func redacted(in []memory.Message, redact Redactor) []memory.Message {
	out := slices.Clone(in)
	for i, m := range out {
		out[i].Content = redact.Redact(m.Content)
		out[i].Images = slices.Clone(m.Images)
		for j := range out[i].Images {
			out[i].Images[j].Caption = redact.Redact(m.Images[j].Caption)
		}
	}
	return out
}
