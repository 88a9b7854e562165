package consolidate_test

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// TestAStoreThatFallsBackCatchesUpByItself puts an earlier copy in the place of a store while nobody says anything, as a
// server does that fails over to a standby that lags. What the log has is applied again, without another event.
func TestAStoreThatFallsBackCatchesUpByItself(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	now, err := store.OpenCurrent(store.Config{DSN: s.path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := now.Close(); err != nil {
			t.Error(err)
		}
	})
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := consolidate.New(settings(), consolidate.Deps{Conn: natstest.Another(t, s.conn), Store: now, Redactor: redactor, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	s.runAs(c)
	holds := func(message, write uint64, text string) {
		t.Helper()
		natstest.Eventually(t, fmt.Sprintf("%q is stored", text), func() bool {
			messages, writes, err := now.Applied(t.Context())
			if err != nil || messages < message || writes < write {
				return false
			}
			id := memory.NewFactID("alice", text, memory.KindWorld)
			known, err := now.KnownFacts(t.Context(), []memory.FactID{id})
			return err == nil && known[id]
		})
	}
	first := s.say("m1", "My kettle is from Gdańsk.")
	holds(first, s.facts(first, "m1", "Alice's kettle is from Gdańsk."), "Alice's kettle is from Gdańsk.")
	earlier := s.path + ".earlier"
	if err := store.Copy(t.Context(), s.path, earlier); err != nil {
		t.Fatal(err)
	}
	second := s.say("m2", "Ich habe ihn verliehen.")
	write := s.facts(second, "m2", "Alice lent her kettle.")
	holds(second, write, "Alice lent her kettle.")

	if err := store.Replace(t.Context(), s.path, earlier); err != nil {
		t.Fatal(err)
	}
	if _, writes, err := now.Applied(t.Context()); err != nil || writes >= write {
		t.Fatalf("the copy has applied %d, %v", writes, err)
	}
	holds(second, write, "Alice lent her kettle.")
}
