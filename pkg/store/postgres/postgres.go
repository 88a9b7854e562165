// Package postgres keeps a store in a schema of a PostgreSQL server (15 or later, without extensions): what the log of
// messages and writes amounts to, ready to be searched. The schema can be dropped and rebuilt from the log.
//
// One process opens it for writing, the consolidator; others, on any host, open it for reading. The same log makes the
// same content as in package sqlite, and the same questions are answered alike.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/projection"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

// DB is an open store. It is safe for concurrent use.
type DB = projection.DB

// Config says which schema to open and how.
type Config struct {
	DSN string // postgres://user@host/database; the parameter search_path names the schema, "eunoe" by default
	// ReadOnly opens an existing store for reading. Every method that writes is memory.ErrUnavailable.
	ReadOnly bool
	// Embedder and Dimension are the name and size of the vectors in use. The first writer that sets them pins the store
	// to them. "" and 0 accept what the store has.
	Embedder  string
	Dimension int

	// SketchFrom and ListUpTo are those of package sqlite.
	SketchFrom, ListUpTo int

	Readers int           // read connections at most
	Busy    time.Duration // how long to wait for the lock of another writer
	Locked  time.Duration // how long a reader waits for a table that is being rewritten, or that a standby cannot unlock
	Idle    time.Duration // after which the server ends a write transaction whose owner does nothing
	Scrub   time.Duration // how often at most tables are rewritten after erasures

	Log zerolog.Logger // zero logs nothing
}

// DefaultConfig returns the settings of a writable store: sketches from 5,000 vectors, as many rows listed for a filter,
// two readers per CPU, 5 s of patience with another writer, 30 s of a reader with a locked table, and 5 s until the server ends
// the transaction of a frozen writer.
func DefaultConfig(dsn string) Config {
	return Config{
		DSN:        dsn,
		SketchFrom: 5000,
		ListUpTo:   5000,
		Readers:    2 * runtime.NumCPU(),
		Busy:       5 * time.Second,
		Locked:     30 * time.Second,
		Idle:       5 * time.Second,
		Scrub:      time.Second,
	}
}

// Open opens the store that the DSN names, makes its tables if they are missing, and starts its background work; Close
// ends it. A server that cannot be reached, and a store for reading that does not exist, are memory.ErrUnavailable; one of
// a newer program, or of another embedder, is memory.ErrConflict.
func Open(cfg Config) (*DB, error) {
	fail := func(err error) error { return fmt.Errorf("open the store %s: %w", Shown(cfg.DSN), err) }
	if (cfg.Embedder == "") != (cfg.Dimension == 0) {
		return nil, fail(memory.Invalid("embedder", "%q with dimension %d: give both or neither", cfg.Embedder, cfg.Dimension))
	}
	s, err := server.Open(server.Config{DSN: cfg.DSN, ReadOnly: cfg.ReadOnly, Readers: cfg.Readers,
		Busy: cfg.Busy, Locked: cfg.Locked, Idle: cfg.Idle, Scrub: cfg.Scrub, Log: cfg.Log})
	if err != nil {
		return nil, fail(err)
	}
	db := projection.New(projection.Config{Embedder: cfg.Embedder, Dimension: cfg.Dimension,
		Search: search.Config{SketchFrom: cfg.SketchFrom, ListUpTo: cfg.ListUpTo, Log: cfg.Log}}, s, schema.Default())
	if err := prepare(context.Background(), cfg, s, db); err != nil {
		return nil, errors.Join(fail(err), s.Close())
	}
	return db, nil
}

// prepare makes the store ready and starts its background work. Where nothing is missing it only reads, so a process that
// starts does not wait for one that writes, or that was frozen within a transaction.
func prepare(ctx context.Context, cfg Config, s *server.Server, db *DB) error {
	ready, err := check(ctx, cfg, s, db)
	if err == nil && cfg.ReadOnly {
		return s.Identify(ctx)
	}
	if cfg.ReadOnly || err != nil && !server.Missing(err) {
		return err
	}
	if !ready {
		if err = s.Make(ctx); err == nil {
			ready, err = check(ctx, cfg, s, db) // another process may have done the rest, and write by now
		}
		if err == nil && !ready {
			err = db.Prepare(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Identify(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// check refuses a store that cannot be opened as it is; ready is false where a writer has to prepare it.
func check(ctx context.Context, cfg Config, s *server.Server, db *DB) (ready bool, err error) {
	err = s.Read(ctx, func(tx *engine.Tx) error {
		err := s.Check(tx)
		if err == nil && cfg.ReadOnly {
			return db.CheckEmbedder(tx)
		}
		if err == nil {
			ready, err = db.Ready(tx)
		}
		return err
	})
	return ready, err
}

// Shown returns a DSN as it may be shown: without its password and its parameters.
func Shown(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return "postgres"
	}
	return u.Scheme + "://" + u.Host + u.Path
}
