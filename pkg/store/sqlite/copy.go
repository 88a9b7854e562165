package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/file"
)

// Copy writes the store at a path, which others may be using, as of one commit into a new file that is private to its
// owner and synced to disk. An existing file is memory.ErrConflict; after another error there is none.
func Copy(ctx context.Context, from, to string) error {
	made, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("copy the store to %s: it exists: %w", to, memory.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("copy the store: %w: %w", err, memory.ErrUnavailable)
	}
	err = errors.Join(file.Copy(ctx, from, to, DefaultConfig(from).Busy), made.Sync(), made.Close()) // an empty file is a new one to SQLite
	if err == nil {
		err = syncDir(filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy the store %s to %s: %w: %w", from, to, memory.ErrUnavailable, err), os.Remove(to))
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Replace puts a closed store in the place of the one at path, in the same directory, while others have that one open. They
// read it on, and no further connection to it is opened: their methods return errors that are ErrReplaced then. Nothing may
// be applied to it meanwhile. Whenever Replace is interrupted, the store at path is the old or the new one, whole.
func Replace(ctx context.Context, path, with string) error {
	return file.Replace(ctx, path, with, DefaultConfig(path).Busy)
}

// ErrReplaced is the error of a store whose file another has taken the place of. It is memory.ErrUnavailable.
var ErrReplaced = engine.ErrReplaced
