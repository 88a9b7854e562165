package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

// Names reports whether a data source name is one of PostgreSQL's.
func Names(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// Exists reports whether the schema that a DSN names is there.
func Exists(ctx context.Context, dsn string) (found bool, err error) {
	err = onServer(ctx, dsn, func(tx *sql.Tx, schema string) error {
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)", schema).Scan(&found)
	})
	return found, err
}

// Unfinished is where a rebuild makes the store that will replace the one that a DSN names: a schema beside it.
func Unfinished(dsn string) string { return Beside(dsn, "_rebuild") }

// Beside returns the DSN of a schema whose name is that of another with a suffix.
func Beside(dsn, suffix string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	q := u.Query()
	q.Set("search_path", schemaOf(q)+suffix)
	u.RawQuery = q.Encode()
	return u.String()
}

// Schema returns the name of the schema that a DSN names.
func Schema(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	return schemaOf(u.Query())
}

func schemaOf(q url.Values) string {
	if name := q.Get("search_path"); name != "" {
		return name
	}
	return server.DefaultSchema
}

// Remove drops the schema that a DSN names, with everything in it. One that is not there is no error.
func Remove(ctx context.Context, dsn string) error {
	return onServer(ctx, dsn, func(tx *sql.Tx, schema string) error {
		_, err := tx.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+quoted(schema)+" CASCADE")
		return err
	})
}

// Replace puts the schema of one DSN in the place of another's, which is dropped, as one transaction. Both are on one
// server, and closed.
func Replace(ctx context.Context, dsn, with string) error {
	u, err := url.Parse(with)
	if err != nil {
		return memory.Invalid("store", "the address cannot be read")
	}
	rebuilt := schemaOf(u.Query())
	return onServer(ctx, dsn, func(tx *sql.Tx, schema string) error {
		if err := server.Exclude(ctx, tx, schema); err != nil {
			return err
		}
		for _, s := range []string{"DROP SCHEMA IF EXISTS " + quoted(schema) + " CASCADE", "ALTER SCHEMA " + quoted(rebuilt) + " RENAME TO " + quoted(schema)} {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Swap is Replace while processes have the first schema open: it waits until none of their transactions uses it, three
// seconds at most, and the next ones fail with ErrReplaced. The old schema then has the name of the other, to be removed.
func Swap(ctx context.Context, dsn, with string) error {
	u, err := url.Parse(with)
	if err != nil {
		return memory.Invalid("store", "the address cannot be read")
	}
	filled := schemaOf(u.Query())
	return onServer(ctx, dsn, func(tx *sql.Tx, schema string) error {
		if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = 3000"); err != nil {
			return err
		}
		if err := server.Exclude(ctx, tx, schema); err != nil {
			return err
		}
		between := schema + "_replaced"
		for _, names := range [][2]string{{schema, between}, {filled, schema}, {between, filled}} {
			if _, err := tx.ExecContext(ctx, "ALTER SCHEMA "+quoted(names[0])+" RENAME TO "+quoted(names[1])); err != nil {
				return err
			}
		}
		return nil
	})
}

// Place renames the schema of the DSN made to that of dsn, where there is none: memory.ErrConflict if there is. Both are on
// one server, and closed.
func Place(ctx context.Context, dsn, made string) error {
	u, err := url.Parse(made)
	if err != nil {
		return memory.Invalid("store", "the address cannot be read")
	}
	if exists, err := Exists(ctx, dsn); exists || err != nil {
		if err == nil {
			err = fmt.Errorf("there is a store at %s by now: %w", Shown(dsn), memory.ErrConflict)
		}
		return err
	}
	return onServer(ctx, dsn, func(tx *sql.Tx, schema string) error {
		_, err := tx.ExecContext(ctx, "ALTER SCHEMA "+quoted(schemaOf(u.Query()))+" RENAME TO "+quoted(schema))
		return err
	})
}

// onServer runs fn in a transaction with the name of the schema.
func onServer(ctx context.Context, dsn string, fn func(tx *sql.Tx, schema string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the store %s: %w", Shown(dsn), (*server.Server)(nil).Failure(err))
		}
	}()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return memory.Invalid("store", "the address cannot be read")
	}
	name := cfg.RuntimeParams["search_path"]
	if name == "" {
		name = server.DefaultSchema
	}
	params := server.Direct(cfg)
	delete(params, "search_path")
	params["lock_timeout"] = "5000"
	db := stdlib.OpenDB(*cfg)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err = server.Begin(ctx, tx, params); err == nil {
		err = fn(tx, name)
	}
	if err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

func quoted(schema string) string { return pgx.Identifier{schema}.Sanitize() }
