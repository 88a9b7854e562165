package e2e_test

import (
	"bytes"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
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
