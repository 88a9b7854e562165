// Package server runs the tables of one store in a schema of a PostgreSQL server: connections, transactions, statements,
// text indexes, and the rewriting of tables after an erasure. It knows nothing of what the tables mean.
//
// A Server is the engine.Database of PostgreSQL. It has one connection that writes, one that rewrites, and a pool that
// reads; a reader sees one snapshot and waits for no writer.
package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/tokens"
)

// Config says which schema to open and how. The zero value is not usable: DSN, Readers, Busy, Locked, Idle and Scrub must be set.
type Config struct {
	DSN      string // URL or key=value; search_path in it names the schema
	ReadOnly bool   // no writer, no tables made, no scrub

	Readers int           // read connections at most
	Busy    time.Duration // how long to wait for the lock of another writer
	Locked  time.Duration // how long a reader waits for a locked table
	Idle    time.Duration // how long a write transaction may wait for its owner before the server ends it
	Scrub   time.Duration // how often at most what was erased is scrubbed

	Log zerolog.Logger // warnings of background work; zero logs nothing
}

// DefaultSchema is the schema of a store whose DSN names none.
const DefaultSchema = "eunoe"

// Server is an open schema. It is safe for concurrent use.
type Server struct {
	config  Config
	schema  string
	writer  *sql.DB // one connection; nil when read-only
	rewrite *sql.DB // one connection, for what cannot run in a transaction; nil when read-only
	readers *sql.DB
	pooled  bool                      // a pooler in transaction mode is before the server
	guard   atomic.Pointer[statement] // begins every transaction; nil until Identify
	table   string                    // that Identify noted, with its oid
	oid     int64
	standby atomic.Bool // the server only reads; set by Identify
	words   *tokens.Cutter
	common  *wordCounts
	notices *notices

	committed atomic.Int64 // write transactions of this process
	analyzed  int64        // as many when statistics were last gathered

	statements sync.Map // translated statements by types of arguments and text
	count      atomic.Int64
	catalogue  atomic.Pointer[catalogue] // nil until Identify
	insertions sync.Map                  // what statements insert (merge)

	writing   sync.Mutex    // held by a write transaction, and while tables are rewritten
	erased    chan struct{} // something was erased
	scrubbing atomic.Bool   // something was erased since the tables were last rewritten

	mu      sync.Mutex // guards closed
	closed  bool
	stop    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	closing sync.Once
	result  error
}

var _ engine.Database = (*Server)(nil)

// Open makes the pools of a schema, and connects once to learn whether a pooler is before the server. A DSN that cannot be
// read is memory.ErrInvalid, a server that cannot be reached memory.ErrUnavailable.
func Open(c Config) (*Server, error) {
	parsed, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("the data source name cannot be read: %w", errors.Join(memory.ErrInvalid, hidden(err)))
	}
	s := &Server{config: c, erased: make(chan struct{}, 1), notices: &notices{}, common: newWordCounts()}
	if s.schema = parsed.RuntimeParams["search_path"]; s.schema == "" {
		s.schema = DefaultSchema
	}
	parsed.StatementCacheCapacity = 1024
	parsed.RuntimeParams["search_path"] = s.schema
	maps.Copy(parsed.RuntimeParams, planning)
	if parsed.RuntimeParams["application_name"] == "" {
		parsed.RuntimeParams["application_name"] = "eunoe"
	}
	if err := s.reach(context.Background(), parsed); err != nil {
		return nil, err
	}
	if s.words, err = tokens.New(); err != nil {
		return nil, err
	}
	s.stop, s.cancel = context.WithCancel(context.Background())
	pool := func(conns int, params map[string]string) *sql.DB {
		cfg := parsed.Copy()
		maps.Copy(cfg.RuntimeParams, params)
		cfg.OnNotice = s.notices.add
		var begin *statement
		if s.pooled {
			begin = settings(Direct(cfg))
		}
		db := sql.OpenDB(connector{stdlib.GetConnector(*cfg), s, begin})
		db.SetMaxOpenConns(conns)
		db.SetMaxIdleConns(conns)
		return db
	}
	if !c.ReadOnly {
		s.writer = pool(1, map[string]string{
			// The log is the truth: what the server loses when it falls is applied again. Write asks for more where it erases.
			"synchronous_commit": "off",
			// A plan is made once. Left to itself, the server makes one for every list, which takes longer than the look-ups.
			// Readers leave it so: their ranges of names and times are wide or narrow.
			"plan_cache_mode":                     "force_generic_plan",
			"lock_timeout":                        milliseconds(c.Busy),
			"idle_in_transaction_session_timeout": milliseconds(c.Idle),
		})
		s.rewrite = pool(1, map[string]string{
			"lock_timeout": milliseconds(time.Second),
			// For the statistics that it gathers, of rows looked up by indexes: a sample of 3,000 rows, not 30,000, which
			// took a sixth of the server's time while a store grew.
			"default_statistics_target": "10",
		})
	}
	s.readers = pool(c.Readers, map[string]string{"lock_timeout": milliseconds(c.Locked)})
	return s, nil
}

// planning makes the server run statements as SQLite runs them: by indexes, row after row. The statements look up tens of
// rows in tables of millions, whose statistics lag behind; a plan made while a table was small would read all of it.
var planning = map[string]string{
	"enable_hashjoin": "off", "enable_mergejoin": "off", "enable_seqscan": "off", "random_page_cost": "1.1", "jit": "off",
}

// hidden keeps the password of a DSN out of an error.
func hidden(err error) error {
	var p *pgconn.ParseConfigError
	if errors.As(err, &p) {
		return errors.New("expected postgres://user@host/database")
	}
	return err
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }

// Schema is the name of the schema.
func (s *Server) Schema() string { return s.schema }

// Writable reports whether the schema was opened for writing.
func (s *Server) Writable() bool { return s.writer != nil }

// Go runs fn in a goroutine of its own. The context of fn ends when the server closes, and Close waits for fn. After Close
// Go does nothing.
func (s *Server) Go(fn func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Go(func() { fn(s.stop) })
	}
}

// Close stops the background work and closes all connections. Closing again returns the same result.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.cancel()
		s.running.Wait()
		var errs []error
		for _, pool := range []*sql.DB{s.readers, s.rewrite, s.writer} {
			if pool != nil {
				errs = append(errs, pool.Close())
			}
		}
		s.words.Close()
		s.result = errors.Join(errs...)
	})
	return s.result
}

// Warn logs an error of background work; nil logs nothing.
func (s *Server) Warn(err error, what string) {
	if err != nil {
		s.config.Log.Warn().Err(err).Str("stage", "store").Msg(what)
	}
}

// Read runs fn in one read transaction: every query in it sees the same state.
func (s *Server) Read(ctx context.Context, fn func(tx *engine.Tx) error) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return s.Failure(fmt.Errorf("begin to read: %w", err))
	}
	defer func() { _ = tx.Rollback() }()
	err = fn(engine.NewTx(ctx, tx, s))
	if meanwhile := s.stillInForce(ctx, tx); err == nil || errors.Is(meanwhile, errMeanwhile) {
		err = meanwhile
	}
	return s.Failure(err)
}

// Write runs fn in one write transaction and commits it, or rolls it back on error.
func (s *Server) Write(ctx context.Context, fn func(tx *engine.Tx) error) error {
	return s.write(ctx, "LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE", func(tx *engine.Tx) error {
		err := fn(tx)
		if err == nil {
			err = tx.CountCommit()
		}
		if err == nil && tx.Erases() {
			_, err = tx.Raw().ExecContext(s.Deferred(tx.Context(), "have the disk keep an erasure", nil), "SET LOCAL synchronous_commit = local")
		}
		return err
	})
}

// write runs fn in a transaction that begins with a statement by which writers, of other processes too, wait for each
// other.
func (s *Server) write(ctx context.Context, lock string, fn func(tx *engine.Tx) error) error {
	if s.writer == nil {
		return fmt.Errorf("the store was opened read-only: %w", memory.ErrUnavailable)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	inner := context.WithoutCancel(ctx)
	begun, err := s.writer.BeginTx(inner, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err == nil {
		if _, err = begun.ExecContext(s.Deferred(inner, "wait for the writer", nil), lock); err != nil {
			_ = begun.Rollback()
		}
	}
	if err != nil {
		return s.Failure(fmt.Errorf("begin to write: %w", err))
	}
	if err := fn(engine.NewTx(inner, begun, s)); err != nil {
		_ = begun.Rollback()
		return s.Failure(err)
	}
	if err := begun.Commit(); err != nil {
		return s.Failure(fmt.Errorf("commit: %w", err))
	}
	s.committed.Add(1)
	return nil
}
