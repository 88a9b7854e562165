package offline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// checkVersion refuses to replace the store of a newer program, because this one may not know how to read its log. A
// store that is damaged or missing may be replaced.
func checkVersion(path string) error {
	old, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err == nil {
		return old.Close()
	}
	if errors.Is(err, memory.ErrConflict) {
		return fmt.Errorf("rebuild (to make it anew with this program all the same, move the file away): %w", err)
	}
	return nil
}

// replaceStore moves a closed store to path. Whenever it is interrupted, there is a complete store at path.
func replaceStore(path, rebuilt string) error {
	for _, step := range replaceSteps(path, rebuilt) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// replaceSteps returns the steps of replaceStore in order. The write-ahead log of the old store is checkpointed before it
// is removed, because SQLite would apply it to the new store; the new store takes its place by one rename.
func replaceSteps(path, rebuilt string) []func() error {
	return []func() error{
		func() error { return syncFile(rebuilt) },
		func() error {
			if _, err := os.Stat(path + "-wal"); err != nil {
				return nil
			}
			old, err := store.Open(store.Config{DSN: path})
			if err != nil {
				return nil // a damaged store is replaced as it is
			}
			if err := old.Close(); err != nil {
				return fmt.Errorf("checkpoint the old store: %w", err)
			}
			return nil
		},
		func() error { return storage.RemoveFile(path + "-wal") },
		func() error { return storage.RemoveFile(path + "-shm") },
		func() error {
			if err := os.Rename(rebuilt, path); err != nil {
				return fmt.Errorf("put the rebuilt store in place: %w", err)
			}
			return nil
		},
		func() error { return syncFile(filepath.Dir(path)) },
	}
}

// syncFile syncs a file, or the entries of a directory, to disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}
