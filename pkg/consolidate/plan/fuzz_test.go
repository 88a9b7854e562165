package plan_test

import (
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// FuzzRetain retains facts of any text, speaker and entity: nothing panics, what is stored keeps the invariants, and
// giving it again changes nothing.
func FuzzRetain(f *testing.F) {
	for _, s := range [][3]string{
		{"Alice lives in Paris.", "Alice", "person:alice"},
		{"I moved to the Café de l'Église, İstanbul — 🎉", "Zoë", "place:i̇stanbul"},
		{"Alice's favourite color is  ", "", "other:"},
		{"Alice has 12 cats", "alice", ":"},
		{"K\x00K is 900 years old", "\xff", "person:K"},
		{"no longer, anymore, actually", "not", "concept:no longer"},
		{"我住在北京。", "小明", "person:小明"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, speaker, entity string) {
		if !utf8.ValidString(text) || !utf8.ValidString(speaker) || !utf8.ValidString(entity) {
			return
		}
		cfg := settings()
		m := consolidatetest.New("alice")
		retain(t, m, cfg, "before", at(0), "Alice", "Alice lives in London.")
		fact := consolidatetest.Fact(t, speaker, text)
		fact.Entities = append(fact.Entities, memory.EntityID(entity))
		w := memory.Write{Kind: memory.WriteRetain, Op: "op", Time: at(1), Facts: []memory.Fact{fact}}
		first := write(t, m, cfg, w)
		checkInvariants(t, m, cfg)
		if memory.NormalText(text) == "" && first.Outcome.Results[0].Outcome != memory.OutcomeRefused {
			t.Errorf("a fact without text was %s", first.Outcome.Results[0].Outcome)
		}
		delete(m.Ops, "op")
		if c := write(t, m, cfg, w); len(c.Facts)+len(c.Entities)+len(c.Composites)+len(c.Conflicts) > 0 {
			t.Errorf("the same write again changes %+v", c)
		}
		for id, e := range m.Named {
			if !utf8.ValidString(e.Name) || e.ID != id {
				t.Errorf("entity %q has the name %q", id, e.Name)
			}
		}
	})
}
