// Package store opens the store by its data source name. A store is a
// projection of the log: whatever backend holds it, the same log makes the
// same content.
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
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
)

// Store is the union of what the stages ask of a backend, and what tells two
// stores apart. It is safe for concurrent use.
type Store interface {
	consolidate.Store
	llm.Store
	query.Store

	// Dump writes the logical content: equal stores give equal bytes.
	Dump(ctx context.Context, w io.Writer) error
	// Counts gives the number of rows by table.
	Counts(ctx context.Context) (map[string]int, error)
	// Check compares the indexes with what they index; the error says what is
	// not in step. It needs a store that is open for writing.
	Check(ctx context.Context) error
	// Close ends what the store does by itself and closes it; again is harmless.
	Close() error
}

var _ Store = (*sqlite.DB)(nil)

// Config says which store to open and how.
type Config struct {
	// DSN names the store: a path, or sqlite: and a path ("sqlite:/var/lib/eunoe/eunoe.db").
	DSN string
	// ReadOnly opens a store that another process writes.
	ReadOnly bool
	// Embedder and Dimension are the name and size of the vectors in use; they
	// are pinned to the store. "" and 0 take what the store has.
	Embedder  string
	Dimension int
	// Limit bounds the store in bytes; 0 = no bound. A write beyond it is
	// memory.ErrUnavailable and changes nothing.
	Limit int64
	// Unsynced leaves it to the operating system when what is written reaches the
	// disk: for a store that is worth nothing until it is whole.
	Unsynced bool
	// Log takes warnings of work the store does by itself; zero logs nothing.
	Log zerolog.Logger
}

// Open opens a store. A DSN that is not understood is memory.ErrInvalid; a
// store that cannot be reached memory.ErrUnavailable; one of a newer program or
// of another embedder memory.ErrConflict.
func Open(cfg Config) (Store, error) {
	path, err := sqlitePath(cfg.DSN)
	if err != nil {
		return nil, err
	}
	c := sqlite.DefaultConfig(path)
	c.ReadOnly, c.Embedder, c.Dimension, c.Limit, c.Log = cfg.ReadOnly, cfg.Embedder, cfg.Dimension, cfg.Limit, cfg.Log
	c.Unsynced = cfg.Unsynced
	db, err := sqlite.Open(c)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// sqlitePath reads a path out of a DSN: as it stands, or after sqlite:, where
// two slashes before it may stand as in a URL.
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
		// Of a data source name of another kind only the scheme is shown: the rest may hold a password.
		return "", fmt.Errorf("store: no backend for %q; this build has sqlite: %w", url.PathEscape(scheme), memory.ErrInvalid)
	}
	return dsn, nil
}
