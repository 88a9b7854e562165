package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Migrations go up only and by number, one transaction each, and the number is
// SQLite's own user_version, so that the file carries it in its header. That is
// the whole need, and a library would bring a table of its own for it.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

type migration struct {
	number int
	name   string
}

// migrations lists the files in order of their number: 0001_init.sql is 1.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var out []migration
	for _, n := range names {
		digits, _, _ := strings.Cut(strings.TrimPrefix(n, "migrations/"), "_")
		number, err := strconv.Atoi(digits)
		if err != nil {
			return nil, fmt.Errorf("migration %s: its name does not begin with a number", n)
		}
		out = append(out, migration{number, n})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].number < out[j].number })
	for i, m := range out {
		if m.number != i+1 {
			return nil, fmt.Errorf("migration %s: expected number %d", m.name, i+1)
		}
	}
	return out, nil
}

// migrate brings the file to this program's version.
func (db *DB) migrate(ctx context.Context) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	for _, m := range all {
		text, err := migrationFiles.ReadFile(m.name)
		if err != nil {
			return err
		}
		err = db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			// Read inside the transaction: another process may have migrated meanwhile.
			version, err := userVersion(ctx, tx)
			if err != nil || version >= m.number {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", m.number))
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate to version %d: %w", m.number, err)
		}
	}
	return db.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return checkVersion(ctx, tx) })
}

// checkVersion refuses a file of another version than this program's.
func checkVersion(ctx context.Context, tx *sql.Tx) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	version, err := userVersion(ctx, tx)
	switch {
	case err != nil:
		return err
	case version > len(all):
		return fmt.Errorf("the store has version %d and this program knows version %d: run the newer program: %w",
			version, len(all), memory.ErrConflict)
	case version < len(all):
		return fmt.Errorf("the store has version %d and this program needs version %d: the consolidator migrates it when it starts: %w",
			version, len(all), memory.ErrUnavailable)
	}
	return nil
}

func userVersion(ctx context.Context, tx *sql.Tx) (version int, err error) {
	err = tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
