package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Identify notes which tables the schema has now, and on which run of a server. From then on every transaction finds the same
// or fails with engine.ErrReplaced, and none that began holds while the schema is put in the place of another (Exclude).
func (s *Server) Identify(ctx context.Context) error {
	table := pgx.Identifier{s.schema, "meta"}.Sanitize()
	var is int64
	var run string
	var standby bool
	err := s.readers.QueryRowContext(ctx, "SELECT to_regclass($1)::oid::int8, "+serverRun+", pg_is_in_recovery()", table).Scan(&is, &run, &standby)
	if err != nil {
		return s.Failure(fmt.Errorf("identify the schema: %w", err))
	}
	s.table, s.oid = table, is
	s.standby.Store(standby)
	s.guard.Store(&statement{what: whatGuard, query: guard, args: []any{lockOf(s.schema), table, is, run}})
	if s.writer == nil {
		return nil
	}
	return s.describe(ctx)
}

// serverRun tells the runs of servers from each other: when this one started, and when it last recovered from a crash, which
// resets its statistics. What a store holds goes only forward within a run. A server that fell may have lost what it
// committed last, and a standby or a restored server what came after its own copy: then nothing that a process
// keeps in memory of the store holds any more.
const serverRun = "extract(epoch FROM pg_postmaster_start_time())::text || ' ' || " +
	"coalesce((SELECT extract(epoch FROM stats_reset)::text FROM pg_catalog.pg_stat_bgwriter), '')"

// guard waits for whoever replaces the schema, and then divides by zero if its table is another one or the server runs anew:
// it goes to the server with the first statement of a transaction, which then fails, and no answer is waited for.
const (
	whatGuard = "check that the store is in force"
	guard     = "SELECT pg_advisory_xact_lock_shared($1::int8), 1 / (to_regclass($2)::oid::int8 = $3::int8 AND " + serverRun + " = $4::text)::int"
)

// divisionByZero is the SQLSTATE with which the guard fails; to_regclass of a schema that is gone is NULL, which does not,
// and the next statement then finds no table (noTable), where it is prepared already before the guard runs.
const (
	divisionByZero = "22012"
	noTable        = "42P01"
)

// replaced reports whether an error is that of the guard, or that the tables are gone which were there when the store was
// opened: a server that fell, or an older copy of it, may not have them yet.
func (s *Server) replaced(err error) bool {
	var told *pgconn.PgError
	if !errors.As(err, &told) {
		return false
	}
	var late *engine.Late
	return told.Code == noTable && s.guard.Load() != nil || told.Code == divisionByZero && errors.As(err, &late) && late.What == whatGuard
}

// errMeanwhile is that of a transaction in which the schema was replaced: what it read is of both.
var errMeanwhile = fmt.Errorf("the store was replaced while it was read: %w", memory.ErrUnavailable)

// stillInForce returns an error if the schema was replaced since the transaction began. On a standby nothing keeps that waiting, and
// a statement finds the tables that have the name when it begins. That it reads a table of the server's own makes the connection
// take note of what was renamed: to_regclass alone may answer from what it knew.
func (s *Server) stillInForce(ctx context.Context, tx *sql.Tx) error {
	if !s.standby.Load() {
		return nil
	}
	var same sql.NullBool
	err := tx.QueryRowContext(ctx, "SELECT to_regclass($1)::oid::int8 = $2::int8 FROM pg_catalog.pg_namespace LIMIT 1", s.table, s.oid).Scan(&same)
	if err == nil && !same.Bool {
		err = errMeanwhile
	}
	return err
}

// lockOf returns the key of the advisory lock of a schema.
func lockOf(schema string) int64 {
	h := fnv.New64a()
	h.Write([]byte("eunoe store " + schema))
	return int64(h.Sum64()) //nolint:gosec // any number will do
}

// Exclude waits, in a transaction that is to replace a schema, until no transaction of a Server uses it, and keeps others
// waiting until it ends.
func Exclude(ctx context.Context, tx *sql.Tx, schema string) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockOf(schema))
	return err
}
