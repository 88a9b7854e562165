package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/state"
)

// unreal phrases make a sentence a wish, a plan, a memory or a condition.
var unreal = phraseList(`might, may, would, could, should, want to, wants to, wanted to, plan to, planning to, plans to, planned to, hope to, hopes to, hoping to, thinking of, thinking about, consider,
	considering, if, used to, no longer, never, almost, nearly, wish, dream of, dreaming of, maybe, perhaps, probably, when i was, before i, lived in, ex, as if, not sure, unless, anymore, tried to, imagine`)

// state returns the state that a fact's text gives its subject, nil for none. low is the sentence as it was said.
// Denied, wished and conditional sentences give none.
func (t *drafter) state(s, low string, found marks, when memory.Span) *memory.State {
	if len(s) > 400 || strings.ContainsAny(s, `?"“`) || text.Negated(s) {
		return nil
	}
	if found.has(markUnreal) && !strings.Contains(low, " have lived in ") && !strings.Contains(low, "'ve lived in ") && !strings.Contains(low, " has lived in ") {
		return nil
	}
	if body := state.WithoutLead(s); !strings.Contains(s[:len(s)-len(body)], ":") {
		s = body // "Actually Ana is 31." states what "Ana is 31." does
	}
	for i, f := range state.DraftForms() {
		if f.NeedsDate && when.From == nil || !found.has(markStates<<i) {
			continue
		}
		st, ok := f.Match(s)
		if !ok || st.Attribute == state.Age && !isAge(st.Text, s, low) {
			continue
		}
		if subject := t.subject(st.Subject, st.Relation); subject != "" {
			return &memory.State{Subject: subject, Attribute: st.Attribute, Value: st.Value}
		}
	}
	return nil
}

// isAge tells "Alice turned 34" and "Alice is 34." from "Alice is 34 minutes late": the words say that it is an age, or
// nothing follows the number.
func isAge(stated, s, low string) bool {
	return strings.Contains(low, "turned") || strings.Contains(low, "old") || len(s) <= len(stated)+1
}

// subject returns the entity that a state belongs to: somebody, or somebody's sister; "" where it is not known.
func (t *drafter) subject(name, of string) memory.EntityID {
	if dangling.Has(strings.ToLower(name)) || strings.HasPrefix(name, "The ") && !strings.EqualFold(name, t.me) {
		return ""
	}
	id := personID(strings.Replace(name, "The ", "the ", 1))
	if of == "" {
		return id
	}
	head := strings.Fields(of)
	if len(head) < 2 || !relatives.Has(head[1]) {
		return ""
	}
	if len(head) > 2 { // Alice's sister Carla
		return memory.NewEntityID(memory.EntityPerson, head[2])
	}
	return memory.NewEntityID(memory.EntityPerson, strings.TrimPrefix(string(id), "person:")+of)
}
