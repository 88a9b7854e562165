package e2e_test

import (
	"bytes"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// waitErased waits until no event of any stream contains the word.
func waitErased(t *testing.T, l *local.Local, word string) {
	t.Helper()
	names := l.Conn.Naming
	natstest.Eventually(t, "no stream holds "+word, func() bool {
		held := false
		for _, stream := range []string{names.Messages(), names.Writes(), names.Changes(), names.Dead()} {
			_, err := ordered.Scan(t.Context(), l.Conn, stream, nil, 0, func(e events.Event) error {
				held = held || bytes.Contains(e.Data, []byte(word))
				return nil
			})
			if err != nil {
				t.Fatalf("read %s: %v", stream, err)
			}
		}
		return !held
	})
}

// waitApplied waits until a store has applied every write of the log: what an erasure leaves of a write is appended
// anew, and comes behind the writes that anybody waited for.
func waitApplied(t *testing.T, l *local.Local, path string) {
	t.Helper()
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	natstest.Eventually(t, "every write is applied", func() bool {
		_, applied, err := st.Applied(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stream, err := l.Conn.JS.Stream(t.Context(), l.Conn.Naming.Writes())
		if err != nil {
			t.Fatal(err)
		}
		return applied == stream.CachedInfo().State.LastSeq
	})
}
