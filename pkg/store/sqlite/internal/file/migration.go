package file

import (
	"context"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Migrations bring a file to the version of the program: upwards only, by number, one transaction each. The version
// is SQLite's own user_version, which stands in the header of the file. A migration library would do no more and
// would bring a table of its own.
type Migrations struct{ texts []string }

// ReadMigrations reads the *.sql files of a directory: 0001_init.sql is number 1, and no number may be missing.
func ReadMigrations(dir fs.FS) (Migrations, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return Migrations{}, err
	}
	sort.Strings(names)
	var m Migrations
	for i, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		if number, err := strconv.Atoi(digits); err != nil || number != i+1 {
			return m, fmt.Errorf("migration %s: expected a name that begins with the number %d", name, i+1)
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return m, err
		}
		m.texts = append(m.texts, string(text))
	}
	return m, nil
}

// Migrate brings the file to this program's version. A file of a newer program is memory.ErrConflict.
func (f *File) Migrate(ctx context.Context, m Migrations) error {
	for i, text := range m.texts {
		number := i + 1
		err := f.Write(ctx, func(tx *engine.Tx) error {
			// Read inside the transaction: another process may have migrated meanwhile.
			version, err := userVersion(tx)
			if err != nil || version >= number {
				return err
			}
			if _, err := tx.Raw().ExecContext(tx.Context(), text); err != nil {
				return err
			}
			return tx.Exec("set the version", fmt.Sprintf("PRAGMA user_version = %d", number))
		})
		if err != nil {
			return fmt.Errorf("migrate to version %d: %w", number, err)
		}
	}
	return f.Write(ctx, m.Check)
}

// Check refuses a file of another version: a newer one is memory.ErrConflict, an older one memory.ErrUnavailable.
func (m Migrations) Check(tx *engine.Tx) error {
	version, err := userVersion(tx)
	switch {
	case err != nil:
		return err
	case version > len(m.texts):
		return fmt.Errorf("the store has version %d and this program knows version %d: run the newer program: %w",
			version, len(m.texts), memory.ErrConflict)
	case version < len(m.texts):
		return fmt.Errorf("the store has version %d and this program needs version %d: the consolidator migrates it when it starts: %w",
			version, len(m.texts), memory.ErrUnavailable)
	}
	return nil
}

// Empty reports whether the file has no tables yet. It asks the writer's connection, which creates the file's header,
// and does not wait for a process that holds the file.
func (f *File) Empty(ctx context.Context) (bool, error) {
	var version int
	err := f.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version == 0, Failure(err)
}

func userVersion(tx *engine.Tx) (version int, err error) {
	err = tx.Get("read the version", "PRAGMA user_version", nil, &version)
	return version, err
}
