package server

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

//go:embed schema.sql
var tables string

// migrations bring the tables of an earlier version to this one: 0002_terms.sql makes version 2 of version 1.
//
//go:embed migrations/*.sql
var migrations embed.FS

// version is that of the tables in schema.sql, and of the last migration.
const version = 5

// makePatience is how long Make waits for another process that makes or migrates the same tables: on a server with much to do
// that takes seconds. One that is frozen meanwhile loses its transaction after Config.Idle.
const makePatience = time.Minute

// Make makes the schema and its tables unless they are there, and migrates those of an earlier version. A schema of a newer
// program is memory.ErrConflict, and so are a database that is not in UTF-8 and a schema with tables of another program.
func (s *Server) Make(ctx context.Context) error {
	// No table may be there yet to lock.
	lock := fmt.Sprintf("SELECT set_config('lock_timeout', '%s', true), pg_advisory_xact_lock(%d)", milliseconds(makePatience), lockOf("make "+s.schema))
	return s.write(ctx, lock, func(tx *engine.Tx) error {
		var encoding string
		if err := tx.Get("read the encoding", `SELECT current_setting('server_encoding')`, nil, &encoding); err != nil {
			return err
		}
		if encoding != "UTF8" {
			return fmt.Errorf("the database is encoded in %s; a store needs UTF8: %w", encoding, memory.ErrConflict)
		}
		found, err := tx.Find("look for the tables", `SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = 'meta'`, []any{s.schema}, new(int))
		if err != nil {
			return err
		}
		if found {
			return s.migrate(tx)
		}
		if err := tx.Exec("make the schema", `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
		return script(tx, "make the tables", tables)
	})
}

// migrate brings tables that are there to this program's version.
func (s *Server) migrate(tx *engine.Tx) error {
	found, err := s.version(tx)
	for ; found < version && err == nil; found++ {
		what := fmt.Sprintf("migrate to version %d", found+1)
		names, failed := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", found+1))
		if failed != nil || len(names) != 1 {
			return fmt.Errorf("%s: there are %d migrations to it: %w", what, len(names), errors.Join(memory.ErrConflict, failed))
		}
		text, failed := migrations.ReadFile(names[0])
		if failed != nil {
			return failed
		}
		if err = script(tx, what, string(text)); err == nil {
			err = tx.Exec(what, `UPDATE meta SET value = ? WHERE key = 'version'`, strconv.Itoa(found+1))
		}
	}
	return err
}

// script executes the statements of a file.
func script(tx *engine.Tx, what, statements string) error {
	if _, err := tx.Raw().ExecContext(tx.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// errMissing says that the schema has no tables, and errEarlier that they are of an earlier program. Both mean
// memory.ErrUnavailable.
var (
	errMissing = fmt.Errorf("there is no store yet; the consolidator makes it: %w", memory.ErrUnavailable)
	errEarlier = fmt.Errorf("the store is of an earlier version; the consolidator migrates it when it starts: %w", memory.ErrUnavailable)
)

// Missing reports whether an error of Check means that Make has something to do: the schema has no tables, or those of an
// earlier version.
func Missing(err error) bool { return errors.Is(err, errMissing) || errors.Is(err, errEarlier) }

// Check refuses tables of another version: newer ones are memory.ErrConflict, earlier ones and a schema without tables are
// memory.ErrUnavailable.
func (s *Server) Check(tx *engine.Tx) error {
	n, err := s.version(tx)
	if err == nil && n < version {
		return errEarlier
	}
	return err
}

// version returns that of the tables. It is memory.ErrConflict if it is newer than the program's.
func (s *Server) version(tx *engine.Tx) (int, error) {
	var found string
	known, err := tx.Find("read the version", `SELECT value FROM meta WHERE key = 'version'`, nil, &found)
	var missing *pgconn.PgError
	if errors.As(err, &missing) && missing.Code == noTable {
		return 0, errMissing
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(found)
	if err != nil || !known || n < 1 {
		return 0, fmt.Errorf("the schema %s has tables of another program: %w", s.schema, memory.ErrConflict)
	}
	if n > version {
		return n, fmt.Errorf("the store has version %d and this program knows version %d: run the newer program: %w", n, version, memory.ErrConflict)
	}
	return n, nil
}

// CheckFiles implements engine.Engine. PostgreSQL checks its pages itself when it has checksums; what a program can ask it
// is whether its indexes are valid.
func (s *Server) CheckFiles(t *engine.Tx, _ bool) (rule string, wrong []string, err error) {
	wrong, err = engine.Column[string](t, "look at the indexes", `SELECT 'index ' || c.relname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND NOT (i.indisvalid AND i.indisready) ORDER BY 1`, s.schema)
	return "every index is valid", wrong, err
}

// Tables implements engine.Engine.
func (s *Server) Tables(t *engine.Tx) ([]string, error) {
	return engine.Column[string](t, "list tables", `SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = ? AND right(tablename, 4) <> '_fts' ORDER BY tablename COLLATE "C"`, s.schema)
}

// TablesOfBanks implements engine.Engine.
func (s *Server) TablesOfBanks(t *engine.Tx) ([]string, error) {
	return engine.Column[string](t, "list tables with banks", `SELECT table_name::text FROM information_schema.columns c
WHERE table_schema = ? AND column_name = 'bank' AND data_type = 'bigint' AND right(table_name, 4) <> '_fts'
AND EXISTS (SELECT 1 FROM pg_catalog.pg_tables t WHERE t.schemaname = c.table_schema AND t.tablename = c.table_name) ORDER BY 1`, s.schema)
}

// Orphans implements engine.Engine: PostgreSQL lets no row refer to one that is not there, unless a constraint was dropped
// or never validated.
func (s *Server) Orphans(t *engine.Tx) ([]string, error) {
	const find = `SELECT c.relname || ' ' || k.conname || ' is not validated' FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND k.contype = 'f' AND NOT k.convalidated ORDER BY 1`
	return engine.All(t, "look at the references", find, []any{s.schema}, func(rows *sql.Rows) (line string, err error) {
		err = rows.Scan(&line)
		return line, err
	})
}
