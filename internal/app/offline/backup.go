package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/snapshot"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/store"
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
	// Shards is how many stores there are, each with a copy; 0 = one.
	Shards int `json:"shards,omitempty"`
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
	of, err := conn.ShardCount(ctx)
	if err != nil {
		return m, err
	}
	shards := events.Shards(of)
	m.Shards = of
	if _, err := os.Stat(storage.ShardDSN(c, shards[0])); err == nil { // one on a server is made anew from the log
		for _, s := range shards {
			step("copying the store" + ofShard(s))
			if err := store.Copy(ctx, storage.ShardDSN(c, s), copyOf(dir, s)); err != nil {
				return m, err
			}
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
		for _, s := range shards {
			step("checking the copy" + ofShard(s))
			if err := m.checkStore(ctx, conn.Naming, copyOf(dir, s)); err != nil {
				return m, err
			}
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

// copyOf is where a backup has the copy of the store of a shard.
func copyOf(dir string, s events.Shard) string {
	return store.ShardDSN(filepath.Join(dir, storeCopy), s)
}

// ofShard names one of several shards in a step.
func ofShard(s events.Shard) string {
	if s.Alone() {
		return ""
	}
	return " of shard " + s.String()
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
