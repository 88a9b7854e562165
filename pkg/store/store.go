// Package store opens a store by its data source name.
//
// A Store is a projection of the log: the same log makes the same content in every backend. It is the union of the
// interfaces that the stages declare next to the code that uses them: the consolidator writes (consolidate.Store), its
// model worker reads what waits (llm.Store), and queries read (query.Store). The backends are
// pkg/store/sqlite and pkg/store/postgres; pkg/store/storetest is the conformance suite that any backend passes.
package store

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/projection"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// Store is what the stages ask of a backend, and what compares two stores. It is safe for concurrent use.
type Store interface {
	consolidate.Store
	llm.Store
	query.Store

	// Dump writes the logical content: stores with equal content write equal bytes.
	Dump(ctx context.Context, w io.Writer) error
	// Preview returns what decide would change for a write that came next, and changes nothing.
	Preview(ctx context.Context, w memory.Write, decide plan.Func) (memory.Changes, error)
	// Counts returns the number of rows by table.
	Counts(ctx context.Context) (map[string]int, error)
	// Check compares the indexes with what they index. The error names what is out of step. It needs a store that is
	// open for writing.
	Check(ctx context.Context) error
	// Move returns what NoteMove noted last.
	Move(ctx context.Context) (Move, error)
	// NoteMove notes that another store is made to take the place of this one. It is no part of the content.
	NoteMove(ctx context.Context, m Move) error
	// Close ends background work and closes the store. Closing again is harmless.
	Close() error
}

// Move is what a store notes when another one is made to take its place. The zero value: none is.
type Move = projection.Move

// MoveStep is how far a Move has come.
type MoveStep = projection.MoveStep

// The steps of a Move.
const (
	MoveFilling = projection.MoveFilling // the other store is being filled and has not its name yet
	MovePlacing = projection.MovePlacing // the other store is about to get its name, and is in force once it has it
	MoveDone    = projection.MoveDone    // the other store is in force: nothing may be applied to this one any more
)

var (
	_ Store = (*sqlite.DB)(nil)
	_ Store = (*postgres.DB)(nil)
)

// Config says which store to open and how.
type Config struct {
	// DSN names the store: a path, or sqlite: and a path ("sqlite:/var/lib/eunoe/eunoe.db"), or a database of a PostgreSQL
	// server ("postgres://eunoe@db.example.org/eunoe"), in which the store has a schema of its own: "eunoe", or the one
	// that the parameter search_path names.
	DSN string
	// ReadOnly opens a store that another process writes.
	ReadOnly bool
	// Embedder and Dimension are the name and size of the vectors in use. The store is pinned to them. "" and 0 accept
	// what the store has.
	Embedder  string
	Dimension int
	// Limit is the size of an SQLite store in bytes at most; 0 = unlimited. A write beyond it is memory.ErrUnavailable and
	// changes nothing.
	Limit int64
	// Shards is among how many stores of the process the memory for caches is divided; 0 and 1 = it is this one's.
	Shards int
	// Unsynced lets the operating system decide when writes to a file reach the disk: for a store that is worth nothing until it
	// is complete, as in a rebuild.
	Unsynced bool
	// Log receives warnings of background work; zero logs nothing.
	Log zerolog.Logger
}

// leastCache is the page cache in KiB of a connection to a store that is one of many.
const leastCache = 2 << 10

// Open opens a store. An unknown DSN is memory.ErrInvalid, a store that cannot be reached memory.ErrUnavailable, and one
// of a newer program or of another embedder memory.ErrConflict.
func Open(cfg Config) (Store, error) {
	if postgres.Names(cfg.DSN) {
		return openPostgres(cfg)
	}
	path, err := sqlitePath(cfg.DSN)
	if err != nil {
		return nil, err
	}
	c := sqlite.DefaultConfig(path)
	c.ReadOnly, c.Embedder, c.Dimension, c.Limit, c.Log = cfg.ReadOnly, cfg.Embedder, cfg.Dimension, cfg.Limit, cfg.Log
	c.Unsynced = cfg.Unsynced
	if cfg.Shards > 1 {
		c.Cache, c.ReadCache = max(leastCache, c.Cache/cfg.Shards), max(leastCache, c.ReadCache/cfg.Shards)
	}
	db, err := sqlite.Open(c)
	if err != nil {
		return nil, err
	}
	return db, nil
}

func openPostgres(cfg Config) (Store, error) {
	if cfg.Limit > 0 {
		return nil, memory.Invalid("store", "a limit of bytes is kept by SQLite alone; limit the server's disk instead")
	}
	c := postgres.DefaultConfig(cfg.DSN)
	c.ReadOnly, c.Embedder, c.Dimension, c.Log = cfg.ReadOnly, cfg.Embedder, cfg.Dimension, cfg.Log
	db, err := postgres.Open(c)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Copy writes an SQLite store, which others may be using, as of one commit into a new file that is private to its owner and synced
// to disk. An existing file is memory.ErrConflict; after another error there is none.
func Copy(ctx context.Context, dsn, to string) error {
	if postgres.Names(dsn) {
		return memory.Invalid("store", "a store on a server is copied by its own means, or made anew from the log")
	}
	path, err := sqlitePath(dsn)
	if err != nil {
		return err
	}
	return sqlite.Copy(ctx, path, to)
}

// Replace puts a closed store in the place of another, in the same directory or on the same server, while others have that
// one open: whoever opened it by OpenCurrent goes on with the new one. Nothing may be applied to the old one meanwhile.
// Whenever it is interrupted, one of the two is in place, whole. On a server the old one then has the name of the other.
func Replace(ctx context.Context, dsn, with string) error {
	switch {
	case postgres.Names(dsn) != postgres.Names(with):
		return memory.Invalid("store", "a file and a store on a server do not take each other's place")
	case postgres.Names(dsn):
		return postgres.Swap(ctx, dsn, with)
	}
	path, err := sqlitePath(dsn)
	if err != nil {
		return err
	}
	return sqlite.Replace(ctx, path, with)
}

// sqlitePath returns the path of a DSN: all of it, or what follows sqlite: and, as in a URL, two slashes.
func sqlitePath(dsn string) (string, error) {
	scheme, rest, found := strings.Cut(dsn, ":")
	switch {
	case dsn == "":
		return "", memory.Invalid("store", "the data source name is empty; expected a path or sqlite:<path>")
	case found && scheme == "sqlite":
		path := strings.TrimPrefix(rest, "//")
		if path == "" {
			return "", memory.Invalid("store", "%q names no file; expected sqlite:<path>", dsn)
		}
		return path, nil
	case found && strings.HasPrefix(rest, "//"):
		// Only the scheme of another data source name is shown: the rest may contain a password.
		return "", fmt.Errorf("store: no backend for %q; this build has sqlite and postgres: %w", url.PathEscape(scheme), memory.ErrInvalid)
	}
	return dsn, nil
}
