package extract

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Redactor replaces secrets in a text.
type Redactor interface {
	Redact(text string) string
}

// Validate turns drafts into facts and refuses, one by one and with a reason,
// those that do not stand: no text, a source that is no new message of the
// window, an unknown kind, a malformed type, a confidence outside [0, 1], a
// time that ends before it begins. A wrong source costs the fact; it is never
// attributed to another message. An entity, a tag or a state that is malformed
// is left out of its fact. White space is folded and secrets are redacted. Two
// drafts of one statement become one fact with the sources of both. The facts
// are in the order of the drafts, unit vectors not yet set.
func Validate(in Input, extractor string, drafts []Draft, redact Redactor) ([]memory.Fact, []memory.WriteResult) {
	known := make(map[memory.MessageID]memory.Message, len(in.New))
	for _, m := range in.New {
		if _, repeated := known[m.ID]; !repeated {
			known[m.ID] = m
		}
	}
	var facts []memory.Fact
	var refused []memory.WriteResult
	at := map[memory.FactID]int{}
	for n, d := range drafts {
		f, err := d.fact(in, extractor, known, redact)
		if err != nil {
			refused = append(refused, memory.WriteResult{Key: strconv.Itoa(n), Outcome: memory.OutcomeRefused, Reason: err.Error()})
			continue
		}
		if i, repeated := at[f.ID]; repeated {
			unite(&facts[i], f)
			continue
		}
		at[f.ID] = len(facts)
		facts = append(facts, f)
	}
	return facts, refused
}

func (d Draft) fact(in Input, extractor string, known map[memory.MessageID]memory.Message, redact Redactor) (memory.Fact, error) {
	if d.Kind == "" {
		d.Kind = memory.KindWorld
	}
	if d.Type == "" {
		d.Type = memory.TypeFact
	}
	if d.Confidence == 0 {
		d.Confidence = 1
	}
	if d.Refused != "" {
		return memory.Fact{}, memory.Invalid("", "%s", d.Refused)
	}
	text := wording(d.Text, redact)
	if err := d.check(text); err != nil {
		return memory.Fact{}, err
	}
	f := memory.Fact{
		ID: memory.NewFactID(in.Bank, text, d.Kind), Bank: in.Bank, Session: in.Session, Text: text,
		Kind: d.Kind, Type: d.Type, Topic: d.Topic, Speaker: d.Speaker, Occurred: instants(d.Occurred), State: state(d.State, redact),
		Confidence: d.Confidence, Outcome: d.Outcome, Metadata: d.Metadata, Extractor: extractor,
		Entities: entities(append(slices.Clone(d.Entities), ends(d.Relations)...)), Tags: tags(d.Tags),
	}
	for _, id := range d.Sources {
		m, ok := known[id]
		if !ok {
			return memory.Fact{}, memory.Invalid("sources", "%.64q is no new message of the window", id)
		}
		f.Sources = append(f.Sources, d.source(m))
		if f.Speaker == "" {
			f.Speaker = m.Speaker
		}
		if f.Role == "" {
			f.Role = m.Role
		}
		if f.Topic == "" {
			f.Topic = m.Topic
		}
	}
	orderSources(&f)
	return f, nil
}

func (d Draft) check(text string) error {
	switch {
	case !utf8.ValidString(text):
		return memory.Invalid("text", "is not valid UTF-8")
	case memory.NormalText(text) == "":
		return memory.Invalid("text", "is empty")
	case len(text) > memory.MaxFactText:
		return memory.Invalid("text", "is %d bytes long; at most %d are allowed", len(text), memory.MaxFactText)
	case len(d.Sources) == 0:
		return memory.Invalid("sources", "names no message")
	case !d.Kind.Valid():
		return memory.Invalid("kind", "is unknown; expected world, experience or opinion")
	case !d.Type.Valid():
		return memory.Invalid("type", "must be 1 to 64 of a-z, 0-9 and _")
	case !(d.Confidence >= 0 && d.Confidence <= 1):
		return memory.Invalid("confidence", "is %v; expected 0 to 1", d.Confidence)
	case len(d.Speaker) > memory.MaxName || !utf8.ValidString(d.Speaker):
		return memory.Invalid("speaker", "is longer than %d bytes or no UTF-8", memory.MaxName)
	case len(d.Topic) > memory.MaxName || !utf8.ValidString(d.Topic):
		return memory.Invalid("topic", "is longer than %d bytes or no UTF-8", memory.MaxName)
	case d.Occurred.From != nil && d.Occurred.To != nil && d.Occurred.To.Before(*d.Occurred.From):
		return memory.Invalid("occurred", "ends before it begins")
	}
	return nil
}

// source dates one source of the fact: a change of state holds from when it
// happened, anything else from when it was said.
func (d Draft) source(m memory.Message) memory.Source {
	s := memory.Source{Message: m.ID, Seq: m.Seq, Said: m.Time, Start: m.Time}
	if d.State != nil && d.Occurred.From != nil {
		s.Start = memory.At(*d.Occurred.From)
	}
	return s
}

// orderSources sorts and uniques the sources and sets Said to the latest.
func orderSources(f *memory.Fact) {
	slices.SortFunc(f.Sources, func(a, b memory.Source) int {
		switch {
		case a.Seq < b.Seq:
			return -1
		case a.Seq > b.Seq:
			return 1
		}
		return 0
	})
	f.Sources = slices.CompactFunc(f.Sources, func(a, b memory.Source) bool { return a.Seq == b.Seq })
	for _, s := range f.Sources {
		if s.Said.After(f.Said) {
			f.Said = s.Said
		}
	}
}

// unite adds to f what another draft of the same statement brings.
func unite(f *memory.Fact, other memory.Fact) {
	f.Sources = append(f.Sources, other.Sources...)
	orderSources(f)
	f.Entities = entities(append(f.Entities, other.Entities...))
	f.Tags = tags(append(f.Tags, other.Tags...))
	if f.State == nil {
		f.State = other.State
	}
	f.Confidence = max(f.Confidence, other.Confidence)
}

func sortedUnique[S ~string](in []S) []S {
	slices.Sort(in)
	return slices.Compact(in)
}
