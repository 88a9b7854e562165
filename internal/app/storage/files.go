package storage

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
)

// storeFiles are the suffixes of the files in which SQLite keeps one store.
var storeFiles = []string{"", "-wal", "-shm"}

// Remove removes the files of a store, or its schema of a server; one that is not there is no error.
func Remove(ctx context.Context, path string) error {
	if postgres.Names(path) {
		return postgres.Remove(ctx, path)
	}
	for _, suffix := range storeFiles {
		if err := RemoveFile(path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// RemoveFile removes a file; one that is not there is no error.
func RemoveFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// SyncFile syncs a file, or the entries of a directory, to disk.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Unfinished is where a rebuild makes the store that will replace the one at path; a rebuild that is killed leaves it.
func Unfinished(path string) string {
	if postgres.Names(path) {
		return postgres.Unfinished(path)
	}
	return path + ".rebuild"
}

// Exists reports whether there is a store at path.
func Exists(ctx context.Context, path string) (bool, error) {
	if postgres.Names(path) {
		return postgres.Exists(ctx, path)
	}
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
