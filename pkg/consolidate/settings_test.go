package consolidate_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/hashed"
)

// at is a time so many days after the first of the tests' calendar.
func at(days int) time.Time { return time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, days) }

// settings are those of the embedder that needs no model.
func settings() consolidate.Config {
	cfg := consolidate.DefaultConfig()
	cfg.Thresholds = hashed.New().Thresholds()
	return cfg
}

// settingsOf are the settings under an embedding model.
func settingsOf(e memory.Embedder) consolidate.Config {
	cfg := consolidate.DefaultConfig()
	cfg.Thresholds, cfg.Model, cfg.Dimension = e.Thresholds(), e.Name(), e.Dimension()
	return cfg
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
