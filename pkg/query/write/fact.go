package write

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/admission"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
)

// retainedFact checks a fact that was given by hand, in the field at, and fills in what it leaves out: kind world, type fact, said now,
// confidence 1.
func (a *Appender) retainedFact(bank memory.BankID, in memory.FactInput, at string, now time.Time) (memory.Fact, error) {
	field := func(name string) string { return at + "." + name }
	f := memory.Fact{Bank: bank, Key: in.Key, Text: strings.TrimSpace(a.deps.Redact(in.Text)), Kind: in.Kind, Type: in.Type, Speaker: in.Speaker,
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
		if err := memory.CheckID(request.Element(field("sources"), j), string(id)); err != nil {
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
	if err := retainedBounds(&f, in.Valid, field, now); err != nil {
		return f, err
	}
	if err := a.retainedLists(&f, in, field); err != nil {
		return f, err
	}
	f.ID = memory.NewFactID(bank, f.Text, f.Kind)
	return f, nil
}

func retainedTimes(f *memory.Fact, in memory.FactInput, field func(string) string) error {
	if in.Said != nil {
		if err := request.Time(field("said"), *in.Said); err != nil {
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
			if err := request.Time(field(end.name), *end.given); err != nil {
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

// retainedBounds sets when a fact holds, where that was given. What holds now has no end yet: an end lies in the past.
func retainedBounds(f *memory.Fact, valid *memory.Interval, field func(string) string, now time.Time) error {
	if valid == nil {
		return nil
	}
	if valid.From.IsZero() {
		return memory.Invalid(field("valid.from"), "is missing; expected when the fact began to hold")
	}
	if err := request.Time(field("valid.from"), valid.From); err != nil {
		return err
	}
	b := memory.Bounds{From: memory.At(valid.From), Said: f.Said}
	if valid.To != nil {
		if err := request.Time(field("valid.to"), *valid.To); err != nil {
			return err
		}
		to := memory.At(*valid.To)
		b.To = &to
		switch {
		case !to.After(b.From):
			return memory.Invalid(field("valid.to"), "is not after valid.from")
		case to.After(now):
			return memory.Invalid(field("valid.to"), "lies in the future; expected null for a fact that still holds")
		}
	}
	f.Bounds, f.Valid = &b, []memory.Interval{{From: b.From, To: b.To}}
	return nil
}

func (a *Appender) retainedLists(f *memory.Fact, in memory.FactInput, field func(string) string) error {
	tags, err := request.Tags(field("tags"), in.Tags)
	if err != nil {
		return err
	}
	if err := request.Names(field("entities"), in.Entities); err != nil {
		return err
	}
	f.Tags = append(f.Tags, tags...)
	for j, e := range in.Entities {
		id, err := memory.ParseEntityID(request.Element(field("entities"), j), e)
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
	if a.deps.Embedder != nil {
		if err := request.Dimension(field("vector"), in.Vector, a.deps.Embedder); err != nil {
			return err
		}
	}
	f.Vector = in.Vector.Unit()
	return nil
}

// embedWithin is how long a write waits for the embedder. A missing vector is backfilled by the consolidator: no write is
// refused or delayed for want of one.
const embedWithin = 2 * time.Second

// embedTexts returns one vector for each text, of the embedder's size.
func (a *Appender) embedTexts(ctx context.Context, texts []string) ([]memory.Vector, error) {
	found, err := a.deps.Embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", a.deps.Embedder.Name(), err)
	}
	fits := len(found) == len(texts)
	for _, v := range found {
		fits = fits && len(v) == a.deps.Embedder.Dimension()
	}
	if !fits {
		return nil, fmt.Errorf("embed with %s: the answer has another size: %w", a.deps.Embedder.Name(), memory.ErrUnavailable)
	}
	return found, nil
}

// embedFacts fills in the missing vectors of facts and returns what that took. Without an embedder, or when it fails, they
// stay missing.
func (a *Appender) embedFacts(ctx context.Context, facts []memory.Fact) []memory.StageUsage {
	if a.deps.Embedder == nil {
		return nil
	}
	var texts []string
	var at []int
	for i := range facts {
		if facts[i].Vector == nil {
			texts, at = append(texts, facts[i].Text), append(at, i)
		} else {
			facts[i].Model = a.deps.Embedder.Name() // the caller's word
		}
	}
	found, used := a.embedInTime(ctx, texts)
	for k, v := range found {
		facts[at[k]].Vector, facts[at[k]].Model = v, a.deps.Embedder.Name()
	}
	return used
}

// embedEdit returns the vector of a new wording and its model, or none when the embedder fails.
func (a *Appender) embedEdit(ctx context.Context, text string) (memory.Vector, string, []memory.StageUsage) {
	found, used := a.embedInTime(ctx, []string{text})
	if len(found) == 0 {
		return nil, "", used
	}
	return found[0], a.deps.Embedder.Name(), used
}

// embedInTime returns no vectors when the embedder fails or is too slow.
func (a *Appender) embedInTime(ctx context.Context, texts []string) ([]memory.Vector, []memory.StageUsage) {
	if len(texts) == 0 {
		return nil, nil
	}
	meter := &memory.Meter{}
	ctx, cancel := context.WithTimeout(memory.WithMeter(ctx, meter), embedWithin)
	defer cancel()
	ctx, span := telemetry.Start(ctx, "embed facts")
	back := admission.Leave(ctx)
	found, err := a.embedTexts(ctx, texts)
	back()
	span.Number(telemetry.Count, len(texts)).Text(telemetry.Model, a.deps.Embedder.Name()).End(err)
	if err != nil {
		a.deps.Log.Warn().Ctx(ctx).Err(err).Str("stage", memory.StageEmbed).Msg("stored without vectors, which come later")
	}
	return found, meter.Take()
}
