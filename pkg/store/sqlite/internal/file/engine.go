package file

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

var _ engine.Database = (*File)(nil)

// Statement returns both as they are: the common dialect is a subset of SQLite's, but for json_each, which takes lists.
func (*File) Statement(query string, args []any) (string, []any) { return query, args }

// Insert runs an INSERT and returns the row number that it was given.
func (*File) Insert(t *engine.Tx, query string, args []any) (int64, error) {
	r, err := t.Raw().ExecContext(t.Context(), query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// Batch runs a query of the given number of columns, whose rows come as one value, and calls scan once for each row.
func (*File) Batch(t *engine.Tx, columns int, query string, args []any, scan func(*engine.Rowset) error) error {
	set, err := rowset(t, asOneValue(columns, query), args)
	if err != nil {
		return err
	}
	return engine.EachRow(set, scan)
}

// asOneValue wraps a query so that its rows come as one value, in its order.
func asOneValue(columns int, query string) string {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	list := strings.Join(names, ", ")
	return "WITH r(" + list + ") AS (" + query + ") SELECT rowset(" + list + ") FROM r"
}

func rowset(t *engine.Tx, query string, args []any) (string, error) {
	rows, err := t.Raw().QueryContext(t.Context(), query, args...)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var raw sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&raw); err != nil {
			return "", err
		}
	}
	return string(raw), rows.Err()
}

// Failure implements engine.Engine.
func (*File) Failure(err error) error { return Failure(err) }

// Locked reports whether an error means that another connection holds the file: the same may succeed a moment later.
func Locked(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}

// Damaged reports whether an error means that the file is no longer a database, or one with broken pages.
func Damaged(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}

// Failure maps an error of the driver to its meaning for a caller: what waiting or an operator can mend becomes
// memory.ErrUnavailable. Other errors, and those that have a meaning already, are returned as they are.
func Failure(err error) error {
	var e sqlite3.Error
	if err == nil || !errors.As(err, &e) || errors.Is(err, memory.ErrUnavailable) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrCantOpen,
		sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrNomem, sqlite3.ErrProtocol:
		return fmt.Errorf("%w: %w", err, memory.ErrUnavailable)
	}
	return err
}

// interrupted reports whether an error means that a statement was ended from outside.
func interrupted(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrInterrupt
}

func unavailable(err error) bool { return errors.Is(Failure(err), memory.ErrUnavailable) }
