package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/rebuild"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/snapshot"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// The files of a backup.
const (
	manifestFile = "eunoe-backup.json"
	storeCopy    = "eunoe.db"
)

// manifestVersion is the form of the backups that this program writes and reads.
const manifestVersion = 1

// Manifest says what a backup holds. It is written last: a directory without one is no backup.
type Manifest struct {
	Version int       `json:"version"`
	Prefix  string    `json:"prefix"`
	Time    time.Time `json:"time"` // when it was begun
	// Streams are the last sequences of the streams that it holds, by name.
	Streams map[string]uint64 `json:"streams"`
	// Store says that it holds a copy of the store, which was made before those of the streams.
	Store bool `json:"store"`
	// Unreadable says which streams hold events that their broker cannot read, and how many: "MEM_WRITES counts 340 and
	// gives out 338". The copies lack them too.
	Unreadable []string `json:"unreadable,omitempty"`
}

// backupOrder returns the streams of a backup in an order in which they may be copied one after the other while
// everything runs: what a later copy holds already is recognised when it is done again. Leases, spent tokens and changes,
// which expire, are left out.
func backupOrder(n events.Naming) []string {
	return []string{"KV_" + n.IngestBucket(), n.Windows(), n.Parked(), n.Writes(), n.Messages(), n.Dead(), "KV_" + n.BankBucket()}
}

// Backup copies the streams and, where the file of the settings is there, the store into a new directory. The log is that
// of the data directory of a stopped deployment where stopped is true, else of the NATS server at the URL, and nothing has
// to be stopped. step, if not nil, is called with what is done next. The copy of the store is checked by itself, and that
// it is not ahead of the copied streams. After an error there is no backup. Of streams that are damaged there is one, which
// says so: an operator needs what is left.
func Backup(ctx context.Context, c settings.Config, dir string, stopped bool, step func(string)) (m Manifest, err error) {
	log := process.NewLogger(os.Stderr, c.Log)
	conn, release, err := logOf(ctx, c, stopped, log)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		return m, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return m, fmt.Errorf("backup: it needs a directory of its own: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if step == nil {
		step = func(string) {}
	}
	m = Manifest{Version: manifestVersion, Prefix: c.Prefix, Time: time.Now().UTC().Truncate(time.Second), Streams: map[string]uint64{}}
	if _, err := os.Stat(c.Store); err == nil { // one on a server is made anew from the log
		step("copying the store")
		if err := store.Copy(ctx, c.Store, filepath.Join(dir, storeCopy)); err != nil {
			return m, err
		}
		m.Store = true
	}
	for _, name := range backupOrder(conn.Naming) {
		step("copying stream " + name)
		if m.Streams[name], err = snapshot.Save(ctx, conn, name, filepath.Join(dir, name)); err != nil {
			return m, err
		}
	}
	if m.Store {
		step("checking the copy")
		if err := m.checkStore(ctx, conn.Naming, filepath.Join(dir, storeCopy)); err != nil {
			return m, err
		}
	}
	for _, name := range []string{conn.Naming.Messages(), conn.Naming.Writes()} {
		step("reading stream " + name)
		_, lost, err := verify.ReadAll(ctx, conn, name, nil)
		if err != nil {
			return m, err
		}
		if lost.Events > 0 {
			m.Unreadable = append(m.Unreadable, lost.String())
		}
	}
	return m, m.write(dir)
}

// checkStore checks the copy of the store by itself, and against the ends of the copied streams.
func (m Manifest) checkStore(ctx context.Context, n events.Naming, path string) (err error) {
	st, err := store.Open(store.Config{DSN: path, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	v, err := verify.Store(ctx, nil, st, verify.Options{Stopped: true})
	if err != nil {
		return err
	}
	if !v.OK {
		return fmt.Errorf("the store is broken, and so would be its backup: %s; `eunoe rebuild` makes it anew: %w", v.Problems[0], memory.ErrConflict)
	}
	messages, writes, err := st.Applied(ctx)
	if err == nil && (messages > m.Streams[n.Messages()] || writes > m.Streams[n.Writes()]) {
		err = fmt.Errorf("the store is ahead of the streams, which are not those it was made from: %w", memory.ErrConflict)
	}
	return err
}

func (m Manifest) write(dir string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manifestFile)
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return errors.Join(storage.SyncFile(path), storage.SyncFile(dir))
}

// ReadManifest reads what the backup in a directory holds. A directory without one is memory.ErrNotFound.
func ReadManifest(dir string) (m Manifest, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, fmt.Errorf("%s is no backup, or one that was broken off: %w: %w", dir, memory.ErrNotFound, err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s of %s: %w: %w", manifestFile, dir, memory.ErrInvalid, err)
	}
	if m.Version != manifestVersion {
		return m, fmt.Errorf("the backup in %s has form %d, this program reads %d: %w", dir, m.Version, manifestVersion, memory.ErrConflict)
	}
	return m, nil
}

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
	if exists, err := storage.Exists(ctx, c.Store); exists || err != nil {
		if err != nil {
			return v, err
		}
		return v, fmt.Errorf("there is a store at %s; move it away first: %w", c.Store, memory.ErrConflict)
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
		return withLease(ctx, conn, func(ctx context.Context, mine func(context.Context) error) error {
			return rebuildStore(ctx, c, log, conn, nil, func(ctx context.Context, r *rebuild.Rebuilder) error { return r.Rebuild(ctx, nil) }, mine)
		})
	}
	if err := os.MkdirAll(filepath.Dir(c.Store), 0o700); err != nil {
		return fmt.Errorf("restore the store: %w", err)
	}
	if err := store.Copy(ctx, filepath.Join(dir, storeCopy), c.Store); err != nil {
		return err
	}
	return forgetMove(ctx, c.Store)
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

// logOf connects to the log of a stopped data directory or of the NATS server at the URL. release is never nil.
func logOf(ctx context.Context, c settings.Config, stopped bool, log zerolog.Logger) (*events.Conn, func() error, error) {
	if !stopped {
		conn, err := connect(ctx, c, "eunoe-backup", log)
		if err != nil {
			return nil, func() error { return nil }, err
		}
		return conn, func() error { conn.Close(); return nil }, nil
	}
	l, err := local.OpenLog(ctx, c, log)
	if err == nil && l.Conn == nil {
		err = fmt.Errorf("there are no streams in %s: %w", c.Data, memory.ErrNotFound)
	}
	return l.Conn, l.Release, err
}
