package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Retain stores facts by hand, or a text as a message of its own.
func (s *Service) Retain(ctx context.Context, bank memory.BankID, r memory.RetainRequest) (memory.RetainReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return memory.RetainReply{}, err
	}
	switch {
	case len(r.Facts) > 0 && r.Text != "":
		return memory.RetainReply{}, memory.Invalid("text", "must not stand beside facts; give one of them")
	case r.Text != "":
		return s.retainText(ctx, bank, r, op, wait)
	case len(r.Facts) == 0:
		return memory.RetainReply{}, memory.Invalid("facts", "must not be empty; give facts or a text")
	case len(r.Facts) > memory.MaxFacts:
		return memory.RetainReply{}, memory.Invalid("facts", "has %d facts; at most %d are allowed", len(r.Facts), memory.MaxFacts)
	case r.Session != "":
		return memory.RetainReply{}, memory.Invalid("session", "belongs to a text, not to facts")
	case r.Time != nil:
		return memory.RetainReply{}, memory.Invalid("time", "belongs to a text; a fact has said and occurred")
	}
	if out, err := s.store.Outcome(ctx, bank, op); err != nil || out != nil {
		return retained(out, err)
	}
	w := memory.Write{Bank: bank, Kind: memory.WriteRetain, Op: op}
	// What is wrong with one fact refuses that fact, and all where it is the
	// only kind there is; a vector of another model refuses all.
	var kept []memory.FactInput
	var first error
	for i, in := range r.Facts {
		f, err := s.retainedFact(bank, in, i, s.now())
		if errors.Is(err, memory.ErrInvalid) {
			first = cmp.Or(first, err)
			w.Refused = append(w.Refused, memory.WriteResult{Key: clipped(in.Key), Outcome: memory.OutcomeRefused, Reason: err.Error()})
			continue
		}
		if err != nil {
			return memory.RetainReply{}, err
		}
		f.Ops = []string{op}
		w.Facts, kept = append(w.Facts, f), append(kept, in)
	}
	if len(kept) == 0 {
		return memory.RetainReply{}, first
	}
	if err := s.embedFacts(ctx, w.Facts); err != nil {
		return memory.RetainReply{}, err
	}
	if err := s.nameSources(ctx, bank, kept, &w); err != nil {
		return memory.RetainReply{}, err
	}
	out, err := s.write(ctx, w, wait)
	return retained(&out, err)
}

// clipped is a key for a result: "" where it is none.
func clipped(key string) string {
	if memory.CheckID("key", key) != nil {
		return ""
	}
	return key
}

func retained(out *memory.WriteOutcome, err error) (memory.RetainReply, error) {
	if err != nil {
		return memory.RetainReply{}, err
	}
	if out.Code != 0 {
		return memory.RetainReply{}, refusal(*out)
	}
	results := out.Results
	if results == nil {
		results = []memory.WriteResult{}
	}
	return memory.RetainReply{Op: out.Op, Write: out.Write, Results: results}, nil
}

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

// redact replaces secrets, where the settings ask for it.
func (s *Service) redact(text string) string {
	if s.redactor == nil {
		return text
	}
	return s.redactor.Redact(text)
}

// embedFacts gives every fact without a vector one. Without an embedder, or
// when it fails, they go without.
func (s *Service) embedFacts(ctx context.Context, facts []memory.Fact) error {
	if s.embedder == nil {
		return nil
	}
	var texts []string
	var at []int
	for i := range facts {
		facts[i].Model = s.embedder.Name()
		if facts[i].Vector == nil {
			texts, at = append(texts, facts[i].Text), append(at, i)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := s.embedder.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed what is retained: %w: %w", err, memory.ErrUnavailable)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed what is retained: %d vectors for %d texts: %w", len(vectors), len(texts), memory.ErrUnavailable)
	}
	for k, i := range at {
		facts[i].Vector = vectors[k]
	}
	return nil
}
