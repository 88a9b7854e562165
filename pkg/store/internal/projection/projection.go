// Package projection applies the log to a store, on any engine: ApplyMessages stores messages, and ApplyWrites runs a plan
// for each write on a view of its bank and applies the changes that it returns.
//
// A DB is what the stages ask of a store (pkg/store.Store). The engine opens the database with its tables; below it lie
// engine (statements and transactions), schema (the record kinds), search (queries), verify (checks) and cache (the
// memory of the writer).
package projection

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/search"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/verify"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Config says what the store is to hold and how it is searched.
type Config struct {
	// Embedder and Dimension are the name and size of the vectors in use. The first writer that sets them pins the store
	// to them. "" and 0 accept what the store has.
	Embedder  string
	Dimension int

	Search search.Config
}

// DB is an open store. It is safe for concurrent use. Its methods for queries are those of the embedded search.Store.
type DB struct {
	*search.Store
	config   Config
	database engine.Database
	schema   schema.Schema
	cache    atomic.Pointer[writerCache] // nil while a transaction has it
	read     atomic.Int64                // number of the last change that Outbox returned
	sent     atomic.Int64                // up to which of these no changes are left in the outbox
}

// writerCache is what the last transaction cached, which holds for one position of MEM_WRITES.
type writerCache struct {
	*cache.Cache
	at uint64
}

// New returns the store in a database that has the tables of the schema. Closing it closes the database.
func New(c Config, database engine.Database, s schema.Schema) *DB {
	return &DB{Store: search.NewStore(c.Search, database, s), config: c, database: database, schema: s}
}

// Ready reports whether Prepare would change nothing. It only reads. A store with vectors of another embedder is
// memory.ErrConflict.
func (db *DB) Ready(tx *engine.Tx) (bool, error) {
	if pinned, err := db.pinned(tx); !pinned || err != nil {
		return false, err
	}
	lacks, err := db.LacksCentre(tx)
	return !lacks && err == nil, err
}

// Prepare pins a store without vectors to the configured embedder, and stores the centre of the vectors if it is missing.
func (db *DB) Prepare(ctx context.Context) error {
	if err := db.pinEmbedder(ctx); err != nil {
		return err
	}
	return db.database.Write(ctx, db.FixCentre)
}

// Close ends the background work and closes the database. Closing again returns the same result.
func (db *DB) Close() error {
	db.End()
	return db.database.Close()
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

// Verify checks what the database stores, the invariants within and between tables, and, where this process writes the
// store, that every text index contains the words of its rows.
func (db *DB) Verify(ctx context.Context, full bool) (wire.Verification, error) {
	return verify.Run(ctx, db.database, db.schema, full)
}

// Check compares the text indexes, and everything else that is kept in step with rows, with those rows, and lets the
// database check what it stores. It reads the whole store and needs one that is open for writing. The error names what
// is out of step.
func (db *DB) Check(ctx context.Context) error { return verify.Consistent(ctx, db.database, db.schema) }

// Dump writes the logical content, one JSON array per row: two stores with the same content write the same bytes. It is
// one consistent state.
func (db *DB) Dump(ctx context.Context, w io.Writer) error {
	return db.database.Read(ctx, func(tx *engine.Tx) error { return db.schema.Dump(tx, w) })
}

// Counts returns the number of rows of every table that Dump writes, by table.
func (db *DB) Counts(ctx context.Context) (out map[string]int, err error) {
	err = db.database.Read(ctx, func(tx *engine.Tx) error {
		out, err = db.schema.Counts(tx)
		return err
	})
	return out, err
}
