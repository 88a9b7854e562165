package e2e_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app"
	"github.com/eunoe-memory/eunoe/pkg/events"
)

// waitErased waits until no event of any stream holds the word.
func waitErased(t *testing.T, l *app.Local, word string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	names := l.Conn.Naming
	for {
		held := ""
		for _, stream := range []string{names.Messages(), names.Writes(), names.Changes(), names.Dead()} {
			_, err := l.Conn.Scan(ctx, stream, nil, 0, func(e events.Event) error {
				if bytes.Contains(e.Data, []byte(word)) {
					held = stream
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%s still holds %q: %v", held, word, err)
			}
		}
		if held == "" {
			return
		}
	}
}
