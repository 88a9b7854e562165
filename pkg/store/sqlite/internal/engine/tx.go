package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Tx is a transaction with the context of its statements. The argument "what" of its methods names the object in an
// error, as in "store fact f_12". It is not safe for concurrent use.
type Tx struct {
	tx  *sql.Tx
	ctx context.Context
}

// Context returns the context that the statements run under.
func (t *Tx) Context() context.Context { return t.ctx }

// With returns the same transaction with another context.
func (t *Tx) With(ctx context.Context) *Tx { return &Tx{tx: t.tx, ctx: ctx} }

// Exec runs one statement.
func (t *Tx) Exec(what, query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, query, args...)
	return named(what, err)
}

// Changed runs one statement and reports whether it touched a row.
func (t *Tx) Changed(what, query string, args ...any) (bool, error) {
	r, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return false, named(what, err)
	}
	n, err := r.RowsAffected()
	return n > 0, named(what, err)
}

// Insert runs an INSERT and returns the row number it was given.
func (t *Tx) Insert(what, query string, args ...any) (int64, error) {
	r, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, named(what, err)
	}
	no, err := r.LastInsertId()
	return no, named(what, err)
}

// Find scans the first row of a query into dest. It returns false, and leaves dest as it is, when there is no row.
func (t *Tx) Find(what, query string, args []any, dest ...any) (bool, error) {
	err := t.tx.QueryRowContext(t.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, named(what, err)
}

// Get is Find of a query that always has a row.
func (t *Tx) Get(what, query string, args []any, dest ...any) error {
	return named(what, t.tx.QueryRowContext(t.ctx, query, args...).Scan(dest...))
}

// Each runs a query and calls scan for every row, up to the first error.
func (t *Tx) Each(what, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return named(what, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return named(what, err)
		}
	}
	return named(what, rows.Err())
}

// Numbers returns the rows of a query of one integer column.
func (t *Tx) Numbers(what, query string, args ...any) ([]int64, error) {
	var out []int64
	err := t.Batch(what, 1, query, args, func(row *Rowset) error {
		out = append(out, row.Int())
		return nil
	})
	return out, err
}

// Column returns the rows of a query of one column; nil for no row.
func Column[T any](t *Tx, what, query string, args ...any) ([]T, error) {
	return All(t, what, query, args, ScanOne[T])
}

// ScanOne scans a row of one column, for All.
func ScanOne[T any](rows *sql.Rows) (v T, err error) {
	err = rows.Scan(&v)
	return v, err
}

// All runs a query and returns what scan makes of each row, in the order of the query; nil for no row.
func All[T any](t *Tx, what, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	var out []T
	err := t.Each(what, query, args, func(rows *sql.Rows) error {
		v, err := scan(rows)
		if err == nil {
			out = append(out, v)
		}
		return err
	})
	return out, err
}

// First is All of the first row; nil for no row.
func First[T any](t *Tx, what, query string, args []any, scan func(*sql.Rows) (T, error)) (*T, error) {
	found, err := All(t, what, query, args, scan)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// ReadAll is All in a read transaction of its own.
func ReadAll[T any](ctx context.Context, f *File, what, query string, args []any, scan func(*sql.Rows) (T, error)) (out []T, err error) {
	err = f.Read(ctx, func(tx *Tx) error {
		out, err = All(tx, what, query, args, scan)
		return err
	})
	return out, err
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// commitsKey is the row of the table meta in which every write transaction counts itself.
const commitsKey = "commits"

// countCommit makes the state that the transaction leaves differ from every earlier one.
func (t *Tx) countCommit() error {
	return t.Exec("count the commit", `UPDATE meta SET value = value + 1 WHERE key = ?`, commitsKey)
}

// commits returns the number of the state that the transaction reads.
func (t *Tx) commits() (n int64, err error) {
	err = t.Get("read how many commits there were", `SELECT value FROM meta WHERE key = ?`, []any{commitsKey}, &n)
	return n, err
}

// Second begins a transaction on another connection that reads the same state as t, for reads in parallel. It returns
// nil when all second connections are in use, when something was committed since t began, or when a connection cannot
// be opened, which is logged: the caller goes on with t alone. The caller calls release at the end.
func (f *File) Second(t *Tx) (second *Tx, release func(), err error) {
	state, err := t.commits()
	if err != nil {
		return nil, nil, err
	}
	select {
	case f.seconds <- struct{}{}:
	default:
		return nil, nil, nil
	}
	tx, err := f.beginAt(t.ctx, state)
	if tx == nil {
		<-f.seconds
		f.Warn(err, "a second connection could not be used; a search goes on by one")
		return nil, nil, nil
	}
	return &Tx{tx: tx, ctx: t.ctx}, func() {
		_ = tx.Rollback()
		<-f.seconds
	}, nil
}

// beginAt begins to read a state on a second connection; nil if that connection sees another.
func (f *File) beginAt(ctx context.Context, state int64) (*sql.Tx, error) {
	tx, err := f.second.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	seen, err := (&Tx{tx: tx, ctx: ctx}).commits()
	if err != nil || seen != state {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// Setting reads the JSON value of a key of the table meta into v; false when there is none.
func (t *Tx) Setting(key string, v any) (bool, error) {
	var raw []byte
	found, err := t.Find("read setting "+key, `SELECT value FROM meta WHERE key = ?`, []any{key}, &raw)
	if found {
		err = FromJSON(raw, v)
	}
	return found, err
}

// PutSetting stores the JSON value of a key of the table meta, in place of an earlier one.
func (t *Tx) PutSetting(key string, v any) error {
	raw, err := JSON(v)
	if err != nil {
		return fmt.Errorf("write setting %s: %w", key, err)
	}
	const put = `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
	return t.Exec("write setting "+key, put, key, raw)
}

// Unavailable reports whether an error means that the file could not be read or written at all, or not yet.
func Unavailable(err error) bool { return errors.Is(Failure(err), memory.ErrUnavailable) }

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
