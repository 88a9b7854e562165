// Package apptest starts a whole Eunoe in a test.
package apptest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

// Settings returns the settings of a pipeline in a temporary data directory, on a free port and without syncs to disk,
// that flushes a session which was silent for a minute. overrides are by name without EUNOE_.
func Settings(t testing.TB, overrides map[string]string) settings.Config {
	t.Helper()
	set := map[string]string{"DATA": t.TempDir(), "PORT": "-1", "LOG": "error", "SYNC": "false", "IDLE_AFTER": "1m"}
	maps.Copy(set, overrides)
	c, _, err := settings.Load(nil, set)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Start starts the whole pipeline and the stages of more, and closes them when the test ends.
func Start(t testing.TB, c settings.Config, more ...process.Stage) *local.Local {
	t.Helper()
	l, err := local.Start(t.Context(), c, os.Stderr, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Decode returns what a program printed with --json.
func Decode[T any](t testing.TB, out string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return v
}

// Write writes a file.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Get returns the status code and the body of a URL.
func Get(t testing.TB, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
