package consolidator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// nextStore is a store that is filled beside the one in use.
type nextStore struct {
	store.Store
	path, place string      // where it is, and will be
	file        os.FileInfo // nil of one on a server
}

// openNext opens an empty store that is to be at a place.
func openNext(ctx context.Context, p *process.Process, place string) (*nextStore, error) {
	n := &nextStore{path: storage.Unfinished(place), place: place}
	if err := storage.Remove(ctx, n.path); err != nil {
		return nil, err
	}
	cfg := storage.Config(p.Settings, n.path, p)
	cfg.Unsynced = true
	var err error
	if n.Store, err = store.Open(cfg); err != nil {
		return nil, err
	}
	if postgres.Names(n.path) {
		return n, nil
	}
	if n.file, err = os.Stat(n.path); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// takeOver puts the closed store in its place.
func (n *nextStore) takeOver(ctx context.Context) error {
	if postgres.Names(n.path) {
		return store.Replace(ctx, n.place, n.path)
	}
	if file, err := os.Stat(n.path); err != nil || !os.SameFile(file, n.file) {
		return fmt.Errorf("%s is not the file that was filled: %w", n.path, errors.Join(memory.ErrConflict, err))
	}
	return store.Replace(ctx, n.place, n.path)
}

// sound checks what the new store holds.
func sound(ctx context.Context, st store.Store) error {
	v, err := verify.Store(ctx, nil, st, verify.Options{Stopped: true})
	if err == nil && !v.OK {
		err = fmt.Errorf("the new store is not as it must be: %s: %w", v.Problems[0], memory.ErrConflict)
	}
	return err
}
