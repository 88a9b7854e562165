package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// storeFiles are what SQLite keeps of one store.
var storeFiles = []string{"", "-wal", "-shm"}

func removeStore(path string) error {
	for _, suffix := range storeFiles {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", path+suffix, err)
		}
	}
	return nil
}

// leftover is where a rebuild makes the store that takes path's place, and what
// one that was killed leaves behind.
func leftover(path string) string { return path + ".rebuild" }

// tidy makes a function that removes what a killed rebuild left before it runs
// beside, which may be nil. It is for the active consolidator: while there is
// one, no rebuild runs. What was left holds words that may be forgotten since.
func (p *process) tidy(beside func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := removeStore(leftover(p.config.Store)); err != nil {
			p.log.Warn().Err(err).Str("stage", "consolidator").Msg("what a rebuild left could not be removed")
		}
		if beside == nil {
			return nil
		}
		return beside(ctx)
	}
}

// refuseNewer refuses to replace the store of a newer program, whose log this
// one may not know to read. A store that is damaged, or not there, may be replaced.
func refuseNewer(path string) error {
	old, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err == nil {
		return old.Close()
	}
	if errors.Is(err, memory.ErrConflict) {
		return fmt.Errorf("rebuild (to make it anew with this program all the same, move the file away): %w", err)
	}
	return nil
}

// replaceStore moves a closed store to path: whenever it is broken off, there is
// a whole store at path.
func replaceStore(path, anew string) error {
	for _, step := range replacing(path, anew) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// replacing gives the steps of replaceStore. The old store's write-ahead log is
// folded into it before it goes, for beside the new one it would be taken for
// the new one's; a new one comes in its place by one renaming.
func replacing(path, anew string) []func() error {
	remove := func(file string) func() error {
		return func() error {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove %s: %w", file, err)
			}
			return nil
		}
	}
	return []func() error{
		func() error { return syncFile(anew) },
		func() error {
			if _, err := os.Stat(path + "-wal"); err != nil {
				return nil
			}
			old, err := store.Open(store.Config{DSN: path})
			if err != nil {
				return nil // one that is damaged is not worth keeping
			}
			if err := old.Close(); err != nil {
				return fmt.Errorf("fold the old store: %w", err)
			}
			return nil
		},
		remove(path + "-wal"),
		remove(path + "-shm"),
		func() error {
			if err := os.Rename(anew, path); err != nil {
				return fmt.Errorf("put the rebuilt store in place: %w", err)
			}
			return nil
		},
		func() error { return syncFile(filepath.Dir(path)) },
	}
}

// syncFile has a file, or the names in a directory, on disk before it returns.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}
