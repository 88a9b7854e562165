package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// applier applies events in one write transaction.
type applier struct {
	db   *DB
	ctx  context.Context
	tx   *sql.Tx
	seen map[memory.BankID]int64 // row numbers of banks met in this transaction
	made map[memory.BankID]bool  // banks known to have a profile
	memo *memo                   // nil where facts are not touched

	renewed map[memory.CompositeID]memory.CompositeID // of the changes that are being applied

	pinned        embedder
	embedderKnown bool
	erased        bool // something was erased
}

// apply runs fn as one transaction on the writer.
func (db *DB) apply(ctx context.Context, fn func(a *applier) error) error {
	a := &applier{db: db, seen: map[memory.BankID]int64{}, made: map[memory.BankID]bool{}}
	err := db.write(ctx, func(inner context.Context, tx *sql.Tx) error {
		a.ctx, a.tx = inner, tx
		if err := fn(a); err != nil || !a.erased {
			return err
		}
		return a.oweScrub()
	})
	if err == nil && a.erased {
		signal(db.erased)
	}
	return err
}

// exec runs one statement; what names the object in an error.
func (a *applier) exec(what, query string, args ...any) error {
	if _, err := a.tx.ExecContext(a.ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// rows runs a query and hands every row to scan; the rows are closed before it returns.
func (a *applier) rows(what, query string, args []any, scan func(*sql.Rows) error) error {
	return eachRow(a.ctx, a.tx, what, query, args, scan)
}

func eachRow(ctx context.Context, tx *sql.Tx, what, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// emit puts a change into the outbox, in this transaction, with the trace
// context that it goes out with.
func (a *applier) emit(bank memory.BankID, c memory.Change, trace string) error {
	body, err := json.Marshal(leaving{c, trace})
	if err != nil {
		return fmt.Errorf("write change %s: %w", c.ID, err)
	}
	return a.exec("queue change "+c.ID, `INSERT INTO outbox (bank, what, body) VALUES (?, ?, ?)`, string(bank), c.What, string(body))
}

// text is a string as a TEXT column keeps it: SQLite ends a text at a NUL in
// places, so each is the replacement character instead.
func text(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// orNull is NULL for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}

// timeOrNull is NULL for a nil time.
func timeOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return micros(*t)
}

// asJSON writes a value for a JSON column.
func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// jsonOrNull is NULL for an empty map or a nil pointer.
func jsonOrNull(empty bool, v any) (any, error) {
	if empty {
		return nil, nil
	}
	return asJSON(v)
}

// listJSON writes a list for a JSON column: never null.
func listJSON[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "[]", nil
	}
	return asJSON(list)
}
