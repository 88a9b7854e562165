package extract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Redactor replaces secrets in a text.
type Redactor interface {
	Redact(text string) string
}

// Validate turns drafts into facts, in their order, and refuses, one by one and with a reason, those that do not stand:
// without text, with a source that is no new message of the window or a question that is none of it, with an unknown
// kind, a malformed type, a confidence outside [0, 1], or a time that ends before it begins. A wrong source costs the
// fact, which is never attributed to another message. A malformed entity, tag or state is left out of its fact. White
// space is merged and secrets are redacted. Two drafts of one statement become one fact with the sources of both.
// Vectors are not set.
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
			merge(&facts[i], f)
			continue
		}
		at[f.ID] = len(facts)
		facts = append(facts, f)
	}
	return facts, refused
}

func (d Draft) fact(in Input, extractor string, known map[memory.MessageID]memory.Message, redact Redactor) (memory.Fact, error) {
	d.Kind, d.Type, d.Confidence = cmp.Or(d.Kind, memory.KindWorld), cmp.Or(d.Type, memory.TypeFact), cmp.Or(d.Confidence, 1)
	if d.Refused != "" {
		return memory.Fact{}, memory.Invalid("", "%s", d.Refused)
	}
	text := statement(d.Text, redact)
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
		f.Speaker, f.Role, f.Topic = cmp.Or(f.Speaker, m.Speaker), cmp.Or(f.Role, m.Role), cmp.Or(f.Topic, m.Topic)
	}
	if d.Question != "" {
		m, ok := known[d.Question]
		if i := slices.IndexFunc(in.Context, func(c memory.Message) bool { return c.ID == d.Question }); !ok && i >= 0 {
			m, ok = in.Context[i], true
		}
		if !ok {
			return memory.Fact{}, memory.Invalid("question", "%.64q is no message of the window", d.Question)
		}
		f.Sources = append(f.Sources, d.source(m))
		f.Tags = tags(append(slices.Clone(d.Tags), memory.TagAnswer))
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

// source dates one source of the fact: a change of state holds from when it happened, anything else from when it was
// said.
func (d Draft) source(m memory.Message) memory.Source {
	s := memory.Source{Message: m.ID, Seq: m.Seq, Said: m.Time, Start: m.Time}
	if d.State != nil && d.Occurred.From != nil {
		s.Start = memory.At(*d.Occurred.From)
		if s.Start.After(m.Time) && !s.Start.After(m.Clock()) { // today, where today began after midnight of UTC
			s.Start = m.Time
		}
	}
	return s
}

// orderSources sorts the sources, removes repeats and sets Said to the latest.
func orderSources(f *memory.Fact) {
	slices.SortFunc(f.Sources, func(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) })
	f.Sources = slices.CompactFunc(f.Sources, func(a, b memory.Source) bool { return a.Seq == b.Seq })
	for _, s := range f.Sources {
		if s.Said.After(f.Said) {
			f.Said = s.Said
		}
	}
}

// merge adds to f what another draft of the same statement brings.
func merge(f *memory.Fact, other memory.Fact) {
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

// separates reports whether r divides words: white space and control characters.
func separates(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// entities returns the canonical ids, sorted and unique, at most MaxEntities. An id that names no entity is left out.
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

// tags returns tags in lower case, sorted and unique, at most MaxTags.
func tags(in []string) []string {
	var out []string
	for _, t := range in {
		t = strings.ToLower(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(t, ""), separates), " "))
		if t != "" && len(t) <= memory.MaxName {
			out = append(out, t)
		}
	}
	out = sortedUnique(out)
	return out[:min(len(out), memory.MaxTags)]
}

// state returns the canonical state, nil for one that is incomplete or whose value is a secret.
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

// instants truncates both ends of a span to the precision of the store.
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

// statement returns a text as it is kept: secrets redacted, white space merged.
func statement(text string, redact Redactor) string {
	return strings.Join(strings.FieldsFunc(redact.Redact(text), separates), " ")
}

// ends returns the entities that edges join.
func ends(edges []Edge) []memory.EntityID {
	var out []memory.EntityID
	for _, e := range edges {
		out = append(out, e.From, e.To)
	}
	return out
}

// Relations returns the edges of the drafts that became facts, each with the facts it rests on, ordered by ends and
// type. An edge is left out if an end names nothing, if both ends are one, or if its type is malformed. An edge that
// two facts state is one, with the greater strength.
func Relations(in Input, drafts []Draft, facts []memory.Fact, redact Redactor) []memory.Relation {
	made := make(map[memory.FactID]bool, len(facts))
	for _, f := range facts {
		made[f.ID] = true
	}
	var out []memory.Relation
	for _, d := range drafts {
		if d.Refused != "" || len(d.Relations) == 0 {
			continue
		}
		id := memory.NewFactID(in.Bank, statement(d.Text, redact), cmp.Or(d.Kind, memory.KindWorld))
		if !made[id] {
			continue
		}
		for _, e := range d.Relations {
			if r, ok := e.relation(id); ok {
				out = addRelation(out, r)
			}
		}
	}
	slices.SortFunc(out, compareEnds)
	return out
}

func (e Edge) relation(id memory.FactID) (memory.Relation, bool) {
	from, err := memory.ParseEntityID("relations.from", string(e.From))
	if err != nil {
		return memory.Relation{}, false
	}
	to, err := memory.ParseEntityID("relations.to", string(e.To))
	if err != nil || from == to || !memory.Type(e.Type).Valid() || e.Strength < 0 || e.Strength > 1 {
		return memory.Relation{}, false
	}
	return memory.Relation{From: string(from), To: string(to), Type: e.Type, Strength: cmp.Or(e.Strength, 1), Facts: []memory.FactID{id}}, true
}

// addRelation adds a relation to a list in which each pair of ends and type occurs once.
func addRelation(list []memory.Relation, r memory.Relation) []memory.Relation {
	for i, o := range list {
		if compareEnds(o, r) == 0 {
			list[i].Strength = max(o.Strength, r.Strength)
			list[i].Facts = sortedUnique(append(list[i].Facts, r.Facts...))
			return list
		}
	}
	return append(list, r)
}

func compareEnds(a, b memory.Relation) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Type, b.Type))
}
