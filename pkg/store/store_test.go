package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("a path opens with and without its scheme", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "eunoe.db")
		for _, dsn := range []string{path, "sqlite:" + path, "sqlite://" + path} {
			s, err := store.Open(store.Config{DSN: dsn})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("an unknown name is invalid and its password is not printed", func(t *testing.T) {
		t.Parallel()
		for _, dsn := range []string{"", "sqlite:", "sqlite://", "mysql://user:hunter2@host/db"} {
			_, err := store.Open(store.Config{DSN: dsn})
			if !errors.Is(err, memory.ErrInvalid) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q gave %v", dsn, err)
			}
		}
	})
}
