package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DB is an open store. It is safe for concurrent use.
type DB struct {
	config  Config
	log     zerolog.Logger
	writer  *sql.DB // one connection; nil when opened read-only
	folder  *sql.DB // one connection, for checkpoints beside the writer; nil as the writer
	readers *sql.DB
	second  *sql.DB              // of searches that read by two connections
	besides chan struct{}        // one for each of those
	memo    atomic.Pointer[memo] // what the last writes left to know; nil while it is with one

	sketches sketches // of vectors, in front of the exact comparison

	dirty  chan struct{} // a commit happened since the last checkpoint
	erased chan struct{} // something was erased
	// scrubbing: something was erased since the file was last written anew.
	scrubbing atomic.Bool
	stop      chan struct{}
	stopped   sync.WaitGroup
	closing   sync.Once
	closed    error
}

// Open opens the store at cfg.Path, makes or migrates it, and starts its
// checkpoints; Close ends them. A path that cannot be written, and a store that
// is not there to be read, are memory.ErrUnavailable; a store of a newer
// program, or of another embedder, is memory.ErrConflict.
func Open(cfg Config) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	db := &DB{config: cfg, log: cfg.Log,
		besides: make(chan struct{}, cfg.Beside), dirty: make(chan struct{}, 1), erased: make(chan struct{}, 1), stop: make(chan struct{})}
	db.readers, db.second = newPool(readerDSN(cfg), cfg.Readers, 0), newPool(readerDSN(cfg), max(1, cfg.Beside), 0)
	open := db.openWriter
	if cfg.ReadOnly {
		open = db.openReadOnly
	}
	if err := open(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store %s: %w", cfg.Path, err), db.closePools())
	}
	return db, nil
}

func (db *DB) openWriter(ctx context.Context) error {
	if err := prepareFile(db.config.Path); err != nil {
		return err
	}
	db.writer = newPool(writerDSN(db.config), 1, db.config.Limit)
	db.folder = newPool(writerDSN(db.config), 1, db.config.Limit)
	ready, err := db.ready(ctx)
	if err != nil {
		return err
	}
	if !ready {
		if err := db.makeReady(ctx); err != nil {
			return err
		}
	}
	if err := db.recallScrub(ctx); err != nil {
		return err
	}
	db.stopped.Add(1)
	go db.maintain()
	return nil
}

// ready reports whether the store can be used as it is. It only reads: a process
// that starts does not wait for one that holds the store, or was frozen within a
// transaction.
func (db *DB) ready(ctx context.Context) (ready bool, err error) {
	var version int
	if err := db.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version == 0 {
		return false, failure(err)
	}
	err = db.read(ctx, func(tx *sql.Tx) error {
		err := checkVersion(ctx, tx)
		if errors.Is(err, memory.ErrUnavailable) { // an older one
			return nil
		}
		if err != nil {
			return err
		}
		if pinned, err := db.pinned(ctx, tx); !pinned || err != nil {
			return err
		}
		lacks, err := db.lacksCentre(ctx, tx)
		ready = !lacks
		return err
	})
	return ready && err == nil, err
}

// makeReady makes the tables, or migrates them, and keeps what the store is made with.
func (db *DB) makeReady(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return err
	}
	if err := db.pinEmbedder(ctx); err != nil {
		return err
	}
	return db.write(ctx, db.fixCentre)
}

func (db *DB) openReadOnly(ctx context.Context) error {
	if _, err := os.Stat(db.config.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store yet; the consolidator makes it: %w", memory.ErrUnavailable)
	}
	return db.read(ctx, func(tx *sql.Tx) error {
		if err := checkVersion(ctx, tx); err != nil {
			return err
		}
		return db.checkEmbedder(ctx, tx)
	})
}

// prepareFile makes the directory and the file, private to their owner, and
// finds out whether they can be written before SQLite says so in its own way.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make its directory: %w: %w", err, memory.ErrUnavailable)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the file cannot be written; check its owner and mode: %w: %w", err, memory.ErrUnavailable)
	}
	if err := f.Close(); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".eunoe-*")
	if err != nil {
		return fmt.Errorf("its directory cannot be written, where SQLite keeps its write-ahead log: %w: %w", err, memory.ErrUnavailable)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Close ends the checkpoints after a last one and closes all connections.
// Closing again gives the same result.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.endSketches()
		close(db.stop)
		db.stopped.Wait()
		db.closed = db.closePools()
	})
	return db.closed
}

func (db *DB) closePools() error {
	var errs []error
	// Readers first: the last connection to close folds the write-ahead log.
	for _, p := range []*sql.DB{db.second, db.readers, db.folder, db.writer} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// read runs fn in one read transaction: every query in it sees the same state.
func (db *DB) read(ctx context.Context, fn func(tx *sql.Tx) error) error {
	tx, err := db.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return failure(fmt.Errorf("begin to read: %w", err))
	}
	defer func() { _ = tx.Rollback() }()
	return failure(fn(tx))
}

// write runs fn in one write transaction and commits it, or rolls it back on
// error. ctx is obeyed until the transaction begins; from then on it runs to
// its end, unless fn looks at the ctx of its caller.
func (db *DB) write(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	if db.writer == nil {
		return fmt.Errorf("the store was opened read-only: %w", memory.ErrUnavailable)
	}
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return failure(fmt.Errorf("wait for the writer: %w", err))
	}
	defer func() { _ = conn.Close() }()
	// A context that cannot end spares the driver a goroutine per statement.
	inner := context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(inner, nil)
	if err != nil {
		return failure(fmt.Errorf("begin to write: %w", err))
	}
	if err = fn(inner, tx); err == nil {
		err = countCommit(inner, tx)
	}
	if err != nil {
		_ = tx.Rollback()
		return failure(err)
	}
	if err := tx.Commit(); err != nil {
		return failure(fmt.Errorf("commit: %w", err))
	}
	signal(db.dirty)
	return nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// micros is a time as the store keeps it: microseconds since 1970 in UTC.
func micros(t time.Time) int64 { return t.UnixMicro() }

// fromMicros reads what micros wrote, in UTC.
func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }
