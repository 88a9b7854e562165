package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// addFacts takes in the facts and relations of the write, in order, and reports on each.
func (ws *workspace) addFacts() {
	ws.out.Outcome.Results = append(ws.out.Outcome.Results, ws.write.Refused...)
	sources := ws.sourcesOf(ws.write.Facts)
	for _, given := range ws.write.Facts {
		f, reason := sources.check(cloneFact(given))
		if reason == "" {
			reason = ws.unfit(f)
		}
		if reason != "" {
			ws.addResult(memory.WriteResult{Key: f.Key, Outcome: memory.OutcomeRefused, Reason: reason})
			continue
		}
		ws.addParticipant(f.Speaker)
		f = ws.normalize(f)
		if ws.write.Kind == memory.WriteRetain {
			f.Ops = []string{ws.write.Op}
		}
		ws.addResult(ws.merge(f, ws.factByKey(f.Key)))
	}
	if ws.write.Kind == memory.WriteRetain && len(ws.write.Facts) <= maxTold {
		for i, r := range ws.out.Outcome.Results {
			ws.out.Outcome.Results[i].Collides = ws.collisions(memory.FactID(r.ID))
		}
	}
	ws.addRelations()
}

// maxTold is how many facts a retain may hold that are told what they collide with.
const maxTold = 100

// unfit returns why a fact is not taken in; "" if it is.
func (ws *workspace) unfit(f memory.Fact) string {
	switch {
	case memory.NormalText(f.Text) == "":
		return "it has no text"
	case f.Kind != "" && !f.Kind.Valid():
		return fmt.Sprintf("%.40q is no kind of fact", string(f.Kind))
	case f.Type != "" && !f.Type.Valid():
		return fmt.Sprintf("%.40q is no type of fact", string(f.Type))
	case len(f.Sources) == 0 && ws.write.Kind == memory.WriteWindow:
		return "it rests on no message"
	case ws.write.Kind == memory.WriteRetain: // what was said is never dropped
		return ws.overQuota()
	}
	return ""
}

// overQuota returns the reason that the bank may hold no more facts; "" if it may.
func (ws *workspace) overQuota() string {
	if ws.bank.Quotas == nil || ws.bank.Quotas.Facts <= 0 || ws.err != nil {
		return ""
	}
	if ws.liveBefore < 0 {
		n, err := ws.view.FactsSince(0)
		ws.fail(err)
		ws.liveBefore = n
	}
	added := 0
	for _, s := range ws.facts {
		if s.before == nil && !s.gone && s.now.Live() {
			added++
		}
	}
	if int64(ws.liveBefore+added) >= ws.bank.Quotas.Facts {
		return fmt.Sprintf("the bank's quota of %d facts is used up", ws.bank.Quotas.Facts)
	}
	return ""
}

// storedSources is what the store has of the messages that facts name as their sources.
type storedSources struct {
	bySeq     map[uint64]StoredMessage
	byID      map[memory.MessageID]StoredMessage
	forgotten map[uint64]bool
}

// sourcesOf looks up the sources of facts, all at once.
func (ws *workspace) sourcesOf(facts []memory.Fact) storedSources {
	var seqs []uint64
	var ids []memory.MessageID
	for _, f := range facts {
		for _, s := range f.Sources {
			if s.Seq == 0 {
				ids = append(ids, s.Message)
			} else {
				seqs = append(seqs, s.Seq)
			}
		}
	}
	out := storedSources{bySeq: ws.messages(unite(seqs, nil)), byID: map[memory.MessageID]StoredMessage{}}
	for _, m := range ws.messagesByID(ids) {
		if m.Seq == m.Canonical {
			out.byID[m.ID] = m
			seqs = append(seqs, m.Seq)
		}
	}
	out.forgotten = ws.forgotten(seqs)
	return out
}

// check returns a fact with its sources checked, or why it is refused. A source must be the event stored under its
// message id, else it is a duplicate, forgotten or unknown and dropped, and with it a fact that rests on it alone. A
// source without a sequence takes its sequence and time from the message it names.
func (stored storedSources) check(f memory.Fact) (_ memory.Fact, reason string) {
	given := f.Sources
	f.Sources = nil
	for _, s := range given {
		m, ok := stored.bySeq[s.Seq]
		if s.Seq == 0 {
			m, ok = stored.byID[s.Message]
		}
		switch {
		case !ok || s.Seq == 0 && m.ID != s.Message:
			reason = fmt.Sprintf("source %q is no message of this bank", s.Message)
			continue
		case stored.forgotten[m.Seq] || m.State == memory.StateForgotten:
			reason = fmt.Sprintf("source %q is forgotten", s.Message)
			continue
		case m.ID != s.Message:
			reason = fmt.Sprintf("source %q is not the message at its sequence", s.Message)
			continue
		case m.Canonical != m.Seq:
			reason = fmt.Sprintf("source %q is a duplicate", s.Message)
			continue
		}
		s.Seq = m.Seq
		if s.Said.IsZero() {
			s.Said = m.Said
		}
		if !slices.ContainsFunc(f.Sources, func(h memory.Source) bool { return h.Seq == s.Seq }) {
			f.Sources = append(f.Sources, s)
		}
	}
	if len(f.Sources) < len(given) && slices.Contains(f.Tags, memory.TagAnswer) {
		return f, "a message of the question or of the answer that it holds is gone"
	}
	if len(given) > 0 && len(f.Sources) == 0 {
		return f, reason
	}
	slices.SortFunc(f.Sources, func(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) })
	return f, ""
}

// normalize brings a fact of an event into its stored form, in which it holds from its start on until its messages were
// replaced. Without a kind it is of the world, without a type a fact.
func (ws *workspace) normalize(f memory.Fact) memory.Fact {
	f = cloneFact(f)
	f.Bank = ws.write.Bank
	f.Kind, f.Type = cmp.Or(f.Kind, memory.KindWorld), cmp.Or(f.Type, memory.TypeFact)
	f.ID = memory.NewFactID(f.Bank, f.Text, f.Kind)
	f.Confidence = clamp(f.Confidence)
	f.Recorded = ws.write.Time
	f.Merged, f.Ops = "", nil
	f.Tags = normalTags(f.Tags)
	f.Occurred.From, f.Occurred.To = instant(f.Occurred.From), instant(f.Occurred.To)
	if byHand := ws.write.Kind == memory.WriteRetain || ws.write.Kind == memory.WriteApply; len(f.Entities) == 0 && byHand {
		f.Entities = namesIn(f)
	}
	f.Entities = ws.resolveAll(f.Entities, f.Text)
	f.State = ws.normalState(f)
	f.Sources = slices.Clone(f.Sources)
	for i, s := range f.Sources {
		if s.Start.IsZero() {
			s.Start = s.Said
			switch {
			case f.Bounds != nil:
				s.Start = f.Bounds.From
			case f.State != nil && f.Occurred.From != nil:
				s.Start = *f.Occurred.From
			}
		}
		f.Sources[i].Said, f.Sources[i].Start = memory.At(s.Said), memory.At(s.Start)
	}
	if len(f.Sources) > 0 {
		f.Said = lastSaid(f.Sources)
	} else if f.Said.IsZero() {
		f.Said = ws.write.Time
	}
	f.Said = memory.At(f.Said)
	timeline.Open(&f, ws.replacedAt(f.Sources))
	if f.Vector != nil && f.Vector.Check("vector") == nil {
		f.Vector = f.Vector.Unit()
	} else {
		f.Vector = nil
	}
	return f
}

// normalState returns the state that a fact asserts, given with it or read from its text; nil for none.
func (ws *workspace) normalState(f memory.Fact) *memory.State {
	s := f.State
	if s == nil {
		if s = stateOf(f); s == nil {
			return nil
		}
	}
	out := *s
	out.Subject = ws.resolve(out.Subject, f.Text)
	out.Attribute = state.Attribute(out.Attribute)
	out.Value = memory.NormalText(out.Value)
	if out.Attribute == state.Residence { // "Paris, France" is Paris
		out.Value, _, _ = strings.Cut(out.Value, ",")
	}
	if out.Subject == "" || out.Attribute == "" || out.Value == "" {
		return nil
	}
	return &out
}

// normalTags returns tags in lower case without space around them, sorted, each once.
func normalTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = strings.ToLower(strings.TrimSpace(t)); t != "" {
			out = append(out, t)
		}
	}
	return unite(out, nil)
}

func instant(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := memory.At(*t)
	return &at
}

// stateOf returns the state that a plain statement gives its subject: where somebody lives or works, what their
// favourite thing is. A fact that states nothing of a known subject gives nil.
func stateOf(f memory.Fact) *memory.State {
	for st := range state.Statements(f.Text) {
		if id := subjectID(f, st.Subject); id != "" {
			return &memory.State{Subject: id, Attribute: st.Attribute, Value: st.Value}
		}
	}
	return nil
}

// subjectID returns the entity that a subject names, one of the fact's own where the name fits; "" for a pronoun that
// names nobody.
func subjectID(f memory.Fact, subject string) memory.EntityID {
	name := memory.NormalText(subject)
	switch name {
	case "i", "the user":
		if f.Speaker == "" {
			return ""
		}
		name = memory.NormalText(f.Speaker)
	case "he", "she", "it", "they", "we", "you", "who", "this", "that", "there":
		return ""
	}
	for _, e := range f.Entities {
		if _, n := e.Split(); n == name {
			return e
		}
	}
	return memory.NewEntityID(memory.EntityPerson, name)
}
