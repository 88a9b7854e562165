package storetest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/store/storetest"
)

// The worked example of CONTRIBUTING: a new store is a type with the methods of store.Store and a test that runs the
// suite. This one counts what it applies and leaves the rest to the store it wraps, as a router over several stores
// or a store with metrics would. A store on another engine writes every method itself.

// countingStore is a store that counts the events and the writes that it applies.
type countingStore struct {
	store.Store
	events, writes atomic.Int64
}

var _ store.Store = (*countingStore)(nil)

// ApplyMessages counts the events of a run that was applied.
func (s *countingStore) ApplyMessages(ctx context.Context, after, last uint64, events []consolidate.MessageEvent) error {
	err := s.Store.ApplyMessages(ctx, after, last, events)
	if err == nil {
		s.events.Add(int64(len(events)))
	}
	return err
}

// ApplyWrites counts the writes of a run that was applied.
func (s *countingStore) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error {
	err := s.Store.ApplyWrites(ctx, after, last, writes, decide)
	if err == nil {
		s.writes.Add(int64(len(writes)))
	}
	return err
}

func TestANewStorePassesTheSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "eunoe.db")
		return func(embedder string, dimension int) (store.Store, error) {
			c := sqlite.DefaultConfig(path)
			c.Embedder, c.Dimension, c.Unsynced = embedder, dimension, true
			db, err := sqlite.Open(c)
			if err != nil {
				return nil, fmt.Errorf("open the wrapped store: %w", err)
			}
			return &countingStore{Store: db}, nil
		}
	})
}
