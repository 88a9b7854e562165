package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// old is what a rebuild must know of the store that it replaces. Its zero value is that of a store that is damaged or
// missing, which anything may replace.
type old struct {
	size    storage.Size
	differs error // why the log is not the one that it was made from; nil = it is
}

// readOld reads the stores of all shards. It refuses to replace the store of a newer program, because this one may not know
// how to read its log.
func readOld(ctx context.Context, conn *events.Conn, c settings.Config, shards []events.Shard) (o old, err error) {
	var parts []store.Store
	defer func() { err = errors.Join(err, closeAll(parts)) }()
	for _, s := range shards {
		st, err := openOld(storage.ShardDSN(c, s))
		if err != nil {
			return o, err
		}
		if st == nil {
			continue
		}
		parts = append(parts, st)
		if _, _, err := conn.CheckLog(ctx, st); errors.Is(err, memory.ErrConflict) {
			o.differs = err
		}
	}
	if len(parts) < len(shards) {
		return o, nil
	}
	if size, err := storage.SizeOf(ctx, store.Join(conn.Naming, parts)); err == nil {
		o.size = size
	}
	return o, nil
}

// openOld opens the store at path; nil for one that is damaged or missing.
func openOld(path string) (store.Store, error) {
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if errors.Is(err, memory.ErrConflict) {
		return nil, fmt.Errorf("rebuild (to make it anew with this program all the same, move the file away): %w", err)
	}
	if _, missing := os.Stat(path); err != nil && missing == nil {
		st, err = store.Open(store.Config{DSN: path}) // one of an older program is migrated
	}
	if err != nil {
		return nil, nil
	}
	return st, nil
}

func closeAll(parts []store.Store) error {
	var errs []error
	for _, st := range parts {
		errs = append(errs, st.Close())
	}
	return errors.Join(errs...)
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
		func() error { return storage.SyncFile(rebuilt) },
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
		func() error { return storage.SyncFile(filepath.Dir(path)) },
	}
}
