package storage

import (
	"errors"
	"fmt"
	"os"
)

// storeFiles are the suffixes of the files in which SQLite keeps one store.
var storeFiles = []string{"", "-wal", "-shm"}

// Remove removes the files of a store; one that is not there is no error.
func Remove(path string) error {
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

// Unfinished is where a rebuild makes the store that will replace the one at path; a rebuild that is killed leaves it.
func Unfinished(path string) string { return path + ".rebuild" }
