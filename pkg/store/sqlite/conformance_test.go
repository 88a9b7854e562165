package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "eunoe.db")
		return func(embedder string, dimension int) (store.Store, error) {
			return store.Open(store.Config{DSN: path, Embedder: embedder, Dimension: dimension, Unsynced: true})
		}
	})
}
