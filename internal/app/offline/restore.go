package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/snapshot"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Restore makes the streams of a backup, and the store from its copy or, where it has none, from the log, and verifies
// what it made. The streams are made in the data directory where stopped is true, else on the NATS server at the URL. Streams
// and a store that exist are memory.ErrConflict, and nothing is changed then.
func Restore(ctx context.Context, c settings.Config, dir string, stopped bool, step func(string)) (v wire.Verification, err error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return v, err
	}
	if m.Prefix != c.Prefix {
		return v, fmt.Errorf("the backup is of the prefix %q, and EUNOE_PREFIX is %q: %w", m.Prefix, c.Prefix, memory.ErrConflict)
	}
	for _, s := range events.Shards(m.Shards) {
		path := storage.ShardDSN(c, s)
		if exists, err := storage.Exists(ctx, path); exists || err != nil {
			if err != nil {
				return v, err
			}
			return v, fmt.Errorf("there is a store at %s; move it away first: %w", path, memory.ErrConflict)
		}
	}
	log := process.NewLogger(os.Stderr, c.Log)
	if stopped {
		if err := os.MkdirAll(filepath.Join(c.Data, "streams"), 0o700); err != nil {
			return v, fmt.Errorf("data directory: %w", err)
		}
	}
	conn, release, err := logOf(ctx, c, stopped, log)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		return v, err
	}
	if step == nil {
		step = func(string) {}
	}
	if err := m.restoreStreams(ctx, c, conn, dir, step); err != nil {
		return v, err
	}
	if err := m.restoreStore(ctx, c, conn, dir, log, step); err != nil {
		return v, err
	}
	step("checking both")
	return verifyStore(ctx, c, conn, true)
}

func (m Manifest) restoreStreams(ctx context.Context, c settings.Config, conn *events.Conn, dir string, step func(string)) error {
	list := backupOrder(conn.Naming)
	for _, name := range list {
		if _, ok := m.Streams[name]; !ok {
			return fmt.Errorf("the backup lacks stream %s: %w", name, memory.ErrNotFound)
		}
		if exists, err := conn.HasStream(ctx, name); exists || err != nil {
			if err == nil {
				err = fmt.Errorf("stream %s exists: restore into a NATS server, or a data directory, without streams of this prefix: %w", name, memory.ErrConflict)
			}
			return err
		}
	}
	replicas := c.Replicas
	if replicas == 0 && conn.NC.ConnectedClusterName() == "" {
		replicas = 1 // a server alone has room for one
	}
	slices.Reverse(list) // what others rest on first
	for _, name := range list {
		step("restoring stream " + name)
		if err := snapshot.Load(ctx, conn, filepath.Join(dir, name), replicas); err != nil {
			return err
		}
	}
	return nil
}

func (m Manifest) restoreStore(ctx context.Context, c settings.Config, conn *events.Conn, dir string, log zerolog.Logger, step func(string)) error {
	step("restoring the store")
	if !m.Store {
		if err := conn.Reconcile(ctx, c.Streams()); err != nil { // the lease has its bucket there
			return err
		}
		return withLease(ctx, c, conn, func(ctx context.Context, mine func(context.Context) error) error {
			return rebuildStore(ctx, c, log, conn, nil, func(ctx context.Context, r *rebuild.Rebuilder) error { return r.Rebuild(ctx, nil) }, mine)
		})
	}
	if err := os.MkdirAll(filepath.Dir(c.Store), 0o700); err != nil {
		return fmt.Errorf("restore the store: %w", err)
	}
	of, err := conn.ShardCount(ctx)
	if err != nil {
		return err
	}
	for _, s := range events.Shards(of) {
		path := storage.ShardDSN(c, s)
		if err := store.Copy(ctx, copyOf(dir, s), path); err != nil {
			return err
		}
		if err := forgetMove(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// forgetMove makes a restored store one that is in force: it may have been copied while it was moved, or afterwards.
func forgetMove(ctx context.Context, path string) (err error) {
	st, err := store.Open(store.Config{DSN: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	m, err := st.Move(ctx)
	if err != nil || m == (store.Move{}) {
		return err
	}
	return st.NoteMove(ctx, store.Move{})
}
