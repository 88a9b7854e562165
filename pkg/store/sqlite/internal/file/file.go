// Package file runs one SQLite file: connections, transactions, migrations, checkpoints of the write-ahead log, text
// indexes, and the rewriting of the file after an erasure. It knows nothing of what the tables mean.
//
// A File has one connection that writes, one that checkpoints while the writer works, and a pool of read-only
// connections; in WAL mode readers and the writer do not wait for each other. It is the engine.Database of SQLite, whose
// statements are those of the common dialect. Many rows are fetched as one value (rowset_cgo.go), because stepping
// through them by cgo costs more than finding them.
package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Config says which file to open and how. The zero value is not usable: Path, Readers, Busy, Checkpoint, Cache and
// ReadCache must be set.
type Config struct {
	Path     string // the file; its directory is created
	ReadOnly bool   // no writer, no migration, no checkpoints
	Limit    int64  // size of the file in bytes at most, rounded down to whole pages; 0 = unlimited
	Unsynced bool   // the operating system decides when writes reach the disk

	Readers       int           // read connections at most
	SecondReaders int           // transactions at a time that may read by a second connection; 0 = none
	Busy          time.Duration // how long to wait for a lock of another process
	Checkpoint    time.Duration // how often the write-ahead log is checkpointed
	Cache         int           // page cache of the writer in KiB
	ReadCache     int           // page cache of each reader in KiB

	Log zerolog.Logger // warnings of background work; zero logs nothing
}

// File is an open SQLite file. It is safe for concurrent use.
type File struct {
	config       Config
	writer       *sql.DB // one connection; nil when read-only
	checkpointer *sql.DB // one connection, for checkpoints that run while the writer works; nil when read-only
	readers      *sql.DB
	second       *sql.DB       // second connections of read transactions
	seconds      chan struct{} // holds one token for each of those in use

	indexes sync.Map // statements by table of a text index

	dirty     chan struct{} // a transaction was committed since the last checkpoint
	erased    chan struct{} // something was erased
	scrubbing atomic.Bool   // something was erased since the file was last rewritten

	mu      sync.Mutex // guards closed
	closed  bool
	stop    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	closing sync.Once
	result  error
}

// Open opens connections to the file. For a writable file it creates the directory and the file first, private to
// their owner. The caller migrates the file and then calls Start; Close ends both. A path that cannot be written is
// memory.ErrUnavailable.
func Open(c Config) (*File, error) {
	f := &File{config: c, seconds: make(chan struct{}, c.SecondReaders), dirty: make(chan struct{}, 1), erased: make(chan struct{}, 1)}
	f.stop, f.cancel = context.WithCancel(context.Background())
	if !c.ReadOnly {
		if err := prepareFile(c.Path); err != nil {
			return nil, err
		}
	}
	same := unmoved(c.Path)
	if !c.ReadOnly {
		f.writer, f.checkpointer = newPool(writerDSN(c), 1, c.Limit, same), newPool(writerDSN(c), 1, c.Limit, same)
	}
	f.readers, f.second = newPool(readerDSN(c), c.Readers, 0, same), newPool(readerDSN(c), max(1, c.SecondReaders), 0, same)
	return f, nil
}

// prepareFile creates the directory and the file, private to their owner, and reports clearly when they cannot be
// written, before SQLite reports it in its own way.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make its directory: %w: %w", err, memory.ErrUnavailable)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("the file cannot be written; check its owner and mode: %w: %w", err, memory.ErrUnavailable)
	}
	if err := file.Close(); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".eunoe-*")
	if err != nil {
		return fmt.Errorf("its directory cannot be written, where SQLite keeps its write-ahead log: %w: %w", err, memory.ErrUnavailable)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Writable reports whether the file was opened for writing.
func (f *File) Writable() bool { return f.writer != nil }

// Go runs fn in a goroutine of its own. The context of fn ends when the file closes, and Close waits for fn. After
// Close Go does nothing.
func (f *File) Go(fn func(ctx context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.running.Go(func() { fn(f.stop) })
	}
}

// Close stops the background work, rewrites a small file from which something was erased, and closes all connections.
// Closing again returns the same result.
func (f *File) Close() error {
	f.closing.Do(func() {
		f.mu.Lock()
		f.closed = true
		f.mu.Unlock()
		f.cancel()
		f.running.Wait()
		var errs []error
		// Readers first: the last connection to close checkpoints the write-ahead log.
		for _, pool := range []*sql.DB{f.second, f.readers, f.checkpointer, f.writer} {
			if pool != nil {
				errs = append(errs, pool.Close())
			}
		}
		f.result = errors.Join(errs...)
	})
	return f.result
}

// Read runs fn in one read transaction: every query in it sees the same state.
func (f *File) Read(ctx context.Context, fn func(tx *engine.Tx) error) error {
	tx, err := begin(ctx, f.readers, "BEGIN")
	if err != nil {
		return Failure(fmt.Errorf("begin to read: %w", err))
	}
	defer tx.rollback()
	return over(ctx, Failure(fn(engine.NewTx(ctx, tx, f))))
}

// Write runs fn in one write transaction and commits it, or rolls it back on error. It waits for the writer until ctx
// ends. From then on the transaction runs to its end whatever becomes of ctx, unless fn itself checks the context of
// its caller. On a read-only file it is memory.ErrUnavailable.
func (f *File) Write(ctx context.Context, fn func(tx *engine.Tx) error) error {
	if f.writer == nil {
		return fmt.Errorf("the store was opened read-only: %w", memory.ErrUnavailable)
	}
	begun, err := begin(ctx, f.writer, "BEGIN IMMEDIATE")
	if err != nil {
		return Failure(fmt.Errorf("begin to write: %w", err))
	}
	defer begun.rollback() // also when fn panics; behind a commit it does nothing
	tx := engine.NewTx(context.WithoutCancel(ctx), begun, f)
	if err = fn(tx); err == nil {
		err = tx.CountCommit()
	}
	if err != nil {
		return Failure(err)
	}
	if err := begun.commit(); err != nil {
		return Failure(fmt.Errorf("commit: %w", err))
	}
	if tx.Erases() && !f.config.Unsynced {
		f.Warn(syncPath(f.config.Path+"-wal"), "an erasure was committed and may not be on the disk before the next checkpoint")
	}
	signal(f.dirty)
	return nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Warn logs an error of background work; nil logs nothing.
func (f *File) Warn(err error, what string) {
	if err != nil {
		f.config.Log.Warn().Err(err).Str("stage", "store").Msg(what)
	}
}
