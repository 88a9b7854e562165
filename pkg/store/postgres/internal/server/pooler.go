package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// A pooler in transaction mode, such as PgBouncer, lends a connection to the server for one transaction. What a session
// keeps is then lost or another client's: settings and prepared statements. Behind one, a transaction begins with its
// settings, as one more statement that waits with the BEGIN, and no statement is prepared.

// probing is how long the server has to say whether a pooler is before it.
const probing = 10 * time.Second

// Direct changes the configuration of a connection so that it needs nothing of its session: no statement is prepared, and
// of the parameters that it begins with only the name of the program is left. The others are returned.
func Direct(cfg *pgx.ConnConfig) map[string]string {
	if preparing(cfg) {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	others := maps.Clone(cfg.RuntimeParams)
	delete(others, "application_name")
	for k := range others {
		delete(cfg.RuntimeParams, k)
	}
	return others
}

// preparing reports whether statements are prepared or described in a round trip of their own.
func preparing(cfg *pgx.ConnConfig) bool {
	return cfg.DefaultQueryExecMode != pgx.QueryExecModeExec && cfg.DefaultQueryExecMode != pgx.QueryExecModeSimpleProtocol
}

// pooled reports whether connections of this configuration go through a pooler in transaction mode: the configuration says
// that nothing is to be prepared, or whoever answers refuses or ignores the settings of a session.
func pooled(ctx context.Context, cfg *pgx.ConnConfig) (_ bool, err error) {
	if !preparing(cfg) {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	var told *pgconn.PgError
	if errors.As(err, &told) && strings.Contains(told.Message, "unsupported startup parameter") {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var names, values []string
	for _, name := range slices.Sorted(maps.Keys(cfg.RuntimeParams)) {
		names, values = append(names, name), append(values, cfg.RuntimeParams[name])
	}
	var ignored bool
	const find = "SELECT EXISTS (SELECT 1 FROM unnest($1::text[], $2::text[]) AS p(name, value) WHERE current_setting(p.name) IS DISTINCT FROM p.value)"
	err = conn.QueryRow(ctx, find, pgx.QueryExecModeExec, names, values).Scan(&ignored)
	return ignored, err
}

// Begin sets parameters for one transaction.
func Begin(ctx context.Context, tx *sql.Tx, params map[string]string) error {
	s := settings(params)
	if s == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, s.query, s.args...)
	return err
}

// settings returns the statement that sets parameters for one transaction; nil for none.
func settings(params map[string]string) *statement {
	s := statement{what: "set what the transaction needs"}
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		n := len(s.args)
		calls = append(calls, fmt.Sprintf("pg_catalog.set_config($%d::text, $%d::text, true)", n+1, n+2))
		s.args = append(s.args, name, params[name])
	}
	if len(calls) == 0 {
		return nil
	}
	s.query = "SELECT " + strings.Join(calls, ", ")
	return &s
}

// alone runs one statement on the connection that rewrites, behind a pooler in a transaction of its own.
func (s *Server) alone(ctx context.Context, query string) error {
	if !s.pooled {
		_, err := s.rewrite.ExecContext(ctx, query)
		return s.Failure(err)
	}
	tx, err := s.rewrite.BeginTx(ctx, nil)
	if err != nil {
		return s.Failure(err)
	}
	if _, err := tx.ExecContext(ctx, query); err != nil {
		_ = tx.Rollback()
		return s.Failure(err)
	}
	return s.Failure(tx.Commit())
}

// rewriting returns the statement that writes a table anew and tells how many rows it could not leave out. VACUUM runs in no
// transaction, so it cannot be told how long to wait for a lock behind a pooler; CLUSTER can, and orders the rows by their key.
func (s *Server) rewriting(ctx context.Context, table string) (string, error) {
	name := pgx.Identifier{s.schema, table}.Sanitize()
	if !s.pooled {
		return "VACUUM (FULL, VERBOSE) " + name, nil
	}
	var key string
	const find = `SELECT c.relname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = pg_catalog.to_regclass($1::text) AND i.indisprimary`
	if err := s.rewrite.QueryRowContext(ctx, find, name).Scan(&key); err != nil {
		return "", s.Failure(fmt.Errorf("find the key of %s: %w", table, err))
	}
	return "CLUSTER (VERBOSE) " + name + " USING " + pgx.Identifier{key}.Sanitize(), nil
}

// reach finds out whether a pooler is before the server.
func (s *Server) reach(ctx context.Context, cfg *pgx.ConnConfig) (err error) {
	if s.pooled, err = pooled(ctx, cfg); err == nil {
		return nil
	}
	if err = s.Failure(err); errors.Is(err, memory.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("connect: %w", err)
}
