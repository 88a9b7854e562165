package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// unmoved returns a function whose error is engine.ErrReplaced once path names another file than at the call. A connection
// that is opened afterwards would read that one, with the caches of this.
func unmoved(path string) func() error {
	was, err := os.Stat(path)
	return func() error {
		if err != nil {
			return nil // it did not exist, and is what the first connection finds
		}
		if now, err := os.Stat(path); err == nil && !os.SameFile(was, now) {
			return fmt.Errorf("%s is another file by now: %w", path, engine.ErrReplaced)
		}
		return nil
	}
}

// settlePause is between two attempts to empty the write-ahead log of a file that others read.
const settlePause = 20 * time.Millisecond

// Replace puts the closed file with in the place of the one at path, by one rename, while processes have that one open: they
// keep reading it until they close it. Nothing may be applied to it meanwhile. Whenever Replace is interrupted, the
// file at path is the old or the new one, whole. The error is memory.ErrUnavailable, and the old one stays, if readers keep
// its write-ahead log from being emptied until ctx ends.
func Replace(ctx context.Context, path, with string, busy time.Duration) (err error) {
	if err := syncPath(with); err != nil {
		return err
	}
	pool := newPool(writerDSN(Config{Path: path, Busy: busy, Cache: 1 << 10}), 1, 0, unmoved(path))
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return Failure(fmt.Errorf("open the old store: %w", err))
	}
	defer func() { _ = conn.Close() }()
	if err := settle(ctx, conn, path); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	// SQLite would apply the write-ahead log of the old file to the new one. It is empty, nobody writes, and those that have
	// it open need no name for it.
	back, err := aside(path, with)
	if err != nil {
		return errors.Join(err, back())
	}
	if err := os.Rename(with, path); err != nil {
		return errors.Join(fmt.Errorf("put the new store in place: %w", err), back())
	}
	for _, suffix := range besides {
		if err := os.Remove(with + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what is left of the old store: %w", err)
		}
	}
	return syncPath(filepath.Dir(path))
}

// besides are the suffixes of what SQLite keeps beside a file that is open.
var besides = []string{"-wal", "-shm"}

// aside gives what SQLite keeps beside the file at path the name of what it would keep beside another, which is closed and
// has nothing of the kind. back undoes that; it is never nil.
func aside(path, other string) (back func() error, err error) {
	var moved []string
	back = func() error {
		var errs []error
		for _, suffix := range moved {
			errs = append(errs, os.Rename(other+suffix, path+suffix))
		}
		return errors.Join(errs...)
	}
	for _, suffix := range besides {
		switch err := os.Rename(path+suffix, other+suffix); {
		case err == nil:
			moved = append(moved, suffix)
		case !errors.Is(err, fs.ErrNotExist):
			return back, fmt.Errorf("replace the store: %w", err)
		}
	}
	return back, nil
}

// settle empties the write-ahead log into the file and begins a transaction, which keeps it empty. The log must not be empty
// by a transaction that came between the two.
func settle(ctx context.Context, conn *sql.Conn, path string) error {
	for {
		var busy, pages, copied int
		err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
		if err == nil && busy == 0 {
			if _, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err == nil {
				if sizeOf(path+"-wal") == 0 {
					return nil
				}
				_, err = conn.ExecContext(ctx, "ROLLBACK")
			}
		}
		if err != nil && !Locked(err) {
			return Failure(fmt.Errorf("checkpoint the old store: %w", err))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("readers keep the write-ahead log of the old store: %w", errors.Join(ctx.Err(), memory.ErrUnavailable))
		case <-time.After(settlePause):
		}
	}
}

// syncPath syncs a file, or the entries of a directory, to disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}
