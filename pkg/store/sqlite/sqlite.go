// Package sqlite keeps a store in one SQLite file: what the log of messages and writes amounts to, ready to be searched.
// The file can be deleted and rebuilt from the log.
//
// A DB is what the stages ask of a store (pkg/store.Store). One process opens it for writing, the consolidator; others
// open it read-only. The parts live in packages of their own below internal: engine runs the file (connections,
// transactions, checkpoints), schema describes the tables and the record kinds, search answers queries, verify checks a
// store, and cache is the memory of the writer. This package applies the log: ApplyMessages stores messages, and
// ApplyWrites runs a plan for each write on a view of its bank and applies the changes that it returns.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/verify"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// DB is an open store. It is safe for concurrent use. Its methods for queries are those of the embedded search.Store.
type DB struct {
	*search.Store
	config     Config
	file       *engine.File
	schema     schema.Schema
	migrations engine.Migrations
	cache      atomic.Pointer[writerCache] // nil while a transaction has it
}

// writerCache is what the last transaction cached, which holds for one position of MEM_WRITES.
type writerCache struct {
	*cache.Cache
	at uint64
}

// Open opens the store at cfg.Path, creates or migrates it, and starts its checkpoints; Close ends them. A path that
// cannot be written, and a read-only store that does not exist, are memory.ErrUnavailable; a store of a newer program,
// or of another embedder, is memory.ErrConflict.
func Open(cfg Config) (*DB, error) { return open(cfg, schema.Default()) }

func open(cfg Config, s schema.Schema) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	db := &DB{config: cfg, schema: s}
	fail := func(err error) error {
		if engine.Damaged(err) {
			return fmt.Errorf("open the store %s: the file is damaged; `eunoe rebuild` makes it anew from the log: %w", cfg.Path, err)
		}
		return fmt.Errorf("open the store %s: %w", cfg.Path, err)
	}
	var err error
	if db.migrations, err = engine.ReadMigrations(s.Migrations); err != nil {
		return nil, fail(err)
	}
	if db.file, err = engine.Open(cfg.engine()); err != nil {
		return nil, fail(err)
	}
	db.Store = search.NewStore(search.Config{SketchFrom: cfg.SketchFrom, ListUpTo: cfg.ListUpTo, Log: cfg.Log}, db.file, s)
	prepare := db.prepare
	if cfg.ReadOnly {
		prepare = db.checkReadOnly
	}
	if err := whileLocked(cfg.Busy, prepare); err != nil {
		return nil, errors.Join(fail(err), db.file.Close())
	}
	return db, nil
}

// whileLocked runs prepare again while another process holds the file, until the time is over. The stages of a new
// deployment start together and all of them make the file; SQLite does not wait for a lock where it turns the
// write-ahead log on.
func whileLocked(most time.Duration, prepare func(context.Context) error) error {
	_, err := backoff.Retry(context.Background(), func() (struct{}, error) {
		err := prepare(context.Background())
		if err != nil && !engine.Locked(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(10*time.Millisecond)), backoff.WithMaxElapsedTime(most))
	return err
}

// prepare makes a writable file ready and starts its background work.
func (db *DB) prepare(ctx context.Context) error {
	ready, err := db.ready(ctx)
	if err != nil {
		return err
	}
	if !ready {
		if err := db.file.Migrate(ctx, db.migrations); err != nil {
			return err
		}
		if err := db.pinEmbedder(ctx); err != nil {
			return err
		}
		if err := db.file.Write(ctx, db.FixCentre); err != nil {
			return err
		}
	}
	return db.file.Start(ctx)
}

// ready reports whether the file can be used as it is. It only reads, so a process that starts does not wait for one
// that holds the file, or that was frozen within a transaction.
func (db *DB) ready(ctx context.Context) (ready bool, err error) {
	if empty, err := db.file.Empty(ctx); empty || err != nil {
		return false, err
	}
	err = db.file.Read(ctx, func(tx *engine.Tx) error {
		err := db.migrations.Check(tx)
		if errors.Is(err, memory.ErrUnavailable) { // an older version
			return nil
		}
		if err != nil {
			return err
		}
		if pinned, err := db.pinned(tx); !pinned || err != nil {
			return err
		}
		lacks, err := db.LacksCentre(tx)
		ready = !lacks
		return err
	})
	return ready && err == nil, err
}

func (db *DB) checkReadOnly(ctx context.Context) error {
	if _, err := os.Stat(db.config.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store yet; the consolidator makes it: %w", memory.ErrUnavailable)
	}
	return db.file.Read(ctx, func(tx *engine.Tx) error {
		if err := db.migrations.Check(tx); err != nil {
			return err
		}
		return db.checkEmbedder(tx)
	})
}

// Close ends the background work after a last scrub of erased content and closes all connections. Closing again returns
// the same result.
func (db *DB) Close() error {
	db.End()
	return db.file.Close()
}

// takeCache returns the cache that holds at a position of MEM_WRITES, to one caller; else an empty one.
func (db *DB) takeCache(after uint64) *cache.Cache {
	if c := db.cache.Swap(nil); c != nil && c.at == after {
		return c.Cache
	}
	return cache.New()
}

// keepCache keeps a cache that holds after a commit up to the position.
func (db *DB) keepCache(c *cache.Cache, last uint64) { db.cache.Store(&writerCache{c, last}) }

// Verify checks the file, the invariants within and between tables, and, where this process writes the store, that
// every text index contains the words of its rows.
func (db *DB) Verify(ctx context.Context, full bool) (wire.Verification, error) {
	return verify.Run(ctx, db.file, db.schema, full)
}

// Check compares the text indexes, and everything else that is kept in step with rows, with those rows, and checks the
// file. It reads the whole store and needs one that is open for writing. The error names what is out of step.
func (db *DB) Check(ctx context.Context) error { return verify.Consistent(ctx, db.file, db.schema) }

// Dump writes the logical content, one JSON array per row: two stores with the same content write the same bytes. It is
// one consistent state.
func (db *DB) Dump(ctx context.Context, w io.Writer) error {
	return db.file.Read(ctx, func(tx *engine.Tx) error { return db.schema.Dump(tx, w) })
}

// Counts returns the number of rows of every table that Dump writes, by table.
func (db *DB) Counts(ctx context.Context) (out map[string]int, err error) {
	err = db.file.Read(ctx, func(tx *engine.Tx) error {
		out, err = db.schema.Counts(tx)
		return err
	})
	return out, err
}
