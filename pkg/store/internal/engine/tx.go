package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Tx is a transaction with the context of its statements. The argument "what" of its methods names the object in an
// error, as in "store fact f_12". It is not safe for concurrent use.
type Tx struct {
	tx     Raw
	ctx    context.Context
	engine Engine
	send   func([]*Statement) error // waits for the answers of statements (Together); nil = each goes on its own
	erases bool                     // a scrub was requested
}

// Raw is a transaction of a driver.
type Raw interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// NewTx returns a transaction of an engine, whose statements run under ctx.
func NewTx(ctx context.Context, tx Raw, e Engine) *Tx { return &Tx{tx: tx, ctx: ctx, engine: e} }

// Engine returns the engine of the transaction.
func (t *Tx) Engine() Engine { return t.engine }

// Raw returns the transaction of the driver, whose statements are not those of the common dialect.
func (t *Tx) Raw() Raw { return t.tx }

// Context returns the context that the statements run under.
func (t *Tx) Context() context.Context { return t.ctx }

// With returns the same transaction with another context.
func (t *Tx) With(ctx context.Context) *Tx {
	other := *t
	other.ctx = ctx
	return &other
}

// Rows runs a query of the engine's dialect. The caller closes the rows.
func (t *Tx) Rows(query string, args []any) (*sql.Rows, error) {
	ctx, err := t.asks(query, args)
	if err != nil {
		return nil, err
	}
	return t.tx.QueryContext(ctx, query, args...)
}

// row scans the first row of a query of the engine's dialect. No row is sql.ErrNoRows.
func (t *Tx) row(query string, args, dest []any) error {
	rows, err := t.Rows(query, args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return rows.Close()
}

// Exec runs one statement. An engine may run it later (Deferrer); the arguments do not change until then.
func (t *Tx) Exec(what, query string, args ...any) error {
	query, args = t.engine.Statement(query, args)
	ctx := t.ctx
	if d, ok := t.engine.(Deferrer); ok {
		ctx = d.Deferred(ctx, what, nil)
	}
	_, err := t.tx.ExecContext(ctx, query, args...)
	return named(what, err)
}

// NumbersLater runs a statement that returns rows of one integer column and calls each with them: at once, or where an
// engine runs it later (Deferrer) by the end of the transaction.
func (t *Tx) NumbersLater(what, query string, args []any, each func(no int64)) error {
	if d, ok := t.engine.(Deferrer); ok {
		query, args = t.engine.Statement(query, args)
		_, err := t.tx.ExecContext(d.Deferred(t.ctx, what, each), query, args...)
		return named(what, err)
	}
	return t.Each(what, query, args, func(rows *sql.Rows) error {
		no, err := ScanOne[int64](rows)
		if err == nil {
			each(no)
		}
		return err
	})
}

// execNow runs one statement, and all before it that an engine has deferred.
func (t *Tx) execNow(what, query string) error {
	_, err := t.tx.ExecContext(t.ctx, query)
	return named(what, err)
}

// Changed runs one statement and reports whether it touched a row.
func (t *Tx) Changed(what, query string, args ...any) (bool, error) {
	query, args = t.engine.Statement(query, args)
	ctx, err := t.asks(query, args)
	if err != nil {
		return false, named(what, err)
	}
	r, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return false, named(what, err)
	}
	n, err := r.RowsAffected()
	return n > 0, named(what, err)
}

// Insert runs an INSERT into a table with the column no and returns the row number it was given.
func (t *Tx) Insert(what, query string, args ...any) (int64, error) {
	no, err := t.engine.Insert(t, query, args)
	return no, named(what, err)
}

// Find scans the first row of a query into dest. It returns false, and leaves dest as it is, when there is no row.
func (t *Tx) Find(what, query string, args []any, dest ...any) (bool, error) {
	query, args = t.engine.Statement(query, args)
	err := t.row(query, args, dest)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, named(what, err)
}

// Get is Find of a query that always has a row.
func (t *Tx) Get(what, query string, args []any, dest ...any) error {
	query, args = t.engine.Statement(query, args)
	return named(what, t.row(query, args, dest))
}

// Each runs a query and calls scan for every row, up to the first error.
func (t *Tx) Each(what, query string, args []any, scan func(*sql.Rows) error) error {
	query, args = t.engine.Statement(query, args)
	rows, err := t.Rows(query, args)
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
func ReadAll[T any](ctx context.Context, db Database, what, query string, args []any, scan func(*sql.Rows) (T, error)) (out []T, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		out, err = All(tx, what, query, args, scan)
		return err
	})
	return out, err
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	if late := (*Late)(nil); errors.As(err, &late) { // it was of another statement
		return late
	}
	return fmt.Errorf("%s: %w", what, err)
}

// commitsKey is the row of the table meta in which every write transaction counts itself.
const commitsKey = "commits"

// Try runs fn, whose failed statement does not end the transaction.
func (t *Tx) Try(fn func() error) error {
	if err := t.execNow("mark a place", "SAVEPOINT tried"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		if err = t.execNow("go on", "RELEASE SAVEPOINT tried"); err == nil {
			return nil
		}
	}
	if back := t.execNow("go back", "ROLLBACK TO SAVEPOINT tried"); back != nil {
		return err // the database is gone
	}
	_ = t.execNow("go on", "RELEASE SAVEPOINT tried") // the mark ends with the transaction at the latest
	return err
}

// CountCommit makes the state that the transaction leaves differ from every earlier one.
func (t *Tx) CountCommit() error {
	return t.Exec("count the commit", `UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE key = ?`, commitsKey)
}

// Commits returns the number of the state that the transaction reads.
func (t *Tx) Commits() (n int64, err error) {
	err = t.Get("read how many commits there were", `SELECT CAST(value AS BIGINT) FROM meta WHERE key = ?`, []any{commitsKey}, &n)
	return n, err
}

// scrubKey stands in the table meta from the transaction that erases something to the scrub after it.
const scrubKey = "scrub"

// RequestScrub records, in the transaction that erases something, that copies of it are still stored. The caller calls
// Database.Erased after the commit, which is on the disk then: a power cut must not bring back what was forgotten.
func (t *Tx) RequestScrub() error {
	t.erases = true
	return t.Exec("request a scrub", `INSERT INTO meta (key, value) VALUES (?, '1') ON CONFLICT DO NOTHING`, scrubKey)
}

// Erases reports whether this transaction requested a scrub.
func (t *Tx) Erases() bool { return t.erases }

// ScrubRequested reports whether a scrub was requested and not done since.
func (t *Tx) ScrubRequested() (bool, error) {
	return t.Find("look for a pending scrub", `SELECT 1 FROM meta WHERE key = ?`, []any{scrubKey}, new(int))
}

// Scrubbed removes the request.
func (t *Tx) Scrubbed() error {
	return t.Exec("note the scrub", `DELETE FROM meta WHERE key = ?`, scrubKey)
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
