package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// view is what a plan may read: one bank, inside the writer's transaction.
// A bank without a row (0) holds nothing.
type view struct {
	ctx  context.Context
	tx   *sql.Tx
	id   memory.BankID
	bank int64
	memo *memo // nil = everything is read from the tables
}

var _ consolidate.View = (*view)(nil)

func (v *view) rows(what, query string, args []any, scan func(*sql.Rows) error) error {
	return eachRow(v.ctx, v.tx, what, query, args, scan)
}

// Bank gives the profile; the default profile of a bank not yet made.
func (v *view) Bank() (memory.Bank, error) {
	b := defaultBank(v.id)
	var profile string
	err := v.tx.QueryRowContext(v.ctx, `SELECT profile FROM banks WHERE no = ?`, v.bank).Scan(&profile)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && profile == "") {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(profile), &b)
	}
	if err != nil {
		return b, fmt.Errorf("read the profile of bank %q: %w", string(v.id), err)
	}
	return b, nil
}

// Window gives how a window ended so far; nil if it did not. Of its new
// messages the first and the last are known.
func (v *view) Window(id memory.WindowID) (*memory.WindowEnd, error) {
	const find = `SELECT session, first, last, generation, outcome, reason FROM windows WHERE id = ? AND bank = ?`
	var w memory.WindowEnd
	var first, last uint64
	err := v.tx.QueryRowContext(v.ctx, find, string(id), v.bank).Scan(&w.SessionID, &first, &last, &w.Generation, &w.Outcome, &w.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read window %s: %w", id, err)
	}
	w.ID, w.Bank, w.Session = id, v.id, w.SessionID
	w.New = []memory.WindowMessage{{Seq: first}}
	if last != first {
		w.New = append(w.New, memory.WindowMessage{Seq: last})
	}
	return &w, nil
}

// Outcome gives the outcome of an op that was applied; nil if it was not.
func (v *view) Outcome(op string) (*memory.WriteOutcome, error) {
	var raw []byte
	var write uint64
	err := v.tx.QueryRowContext(v.ctx, `SELECT outcome, write FROM ops WHERE bank = ? AND op = ?`, v.bank, text(op)).Scan(&raw, &write)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var out *memory.WriteOutcome
	if err == nil {
		out, err = outcomeOf(raw, op, write)
	}
	if err != nil {
		return nil, fmt.Errorf("read the outcome of op %q: %w", op, err)
	}
	return out, nil
}

// FactsSince counts live facts whose version is past a MEM_WRITES sequence.
func (v *view) FactsSince(write uint64) (n int, err error) {
	const count = `SELECT count(*) FROM facts WHERE bank = ? AND live = 1 AND version > ?`
	if err := v.tx.QueryRowContext(v.ctx, count, v.bank, int64(write)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count facts since write %d: %w", write, err)
	}
	return n, nil
}

// LastConsolidated is the MEM_WRITES sequence of the last consolidate that ran, 0 for none.
func (v *view) LastConsolidated() (seq uint64, err error) {
	err = v.tx.QueryRowContext(v.ctx, `SELECT consolidated FROM banks WHERE no = ?`, v.bank).Scan(&seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the last consolidation: %w", err)
	}
	return seq, nil
}

// numbered runs a query of (id, value) rows and gives the values in the order of ids.
func numbered[K comparable, T any](v *view, what, query string, ids []K, scan func(*sql.Rows) (K, T, error)) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found := make(map[K]T, len(ids))
	err := v.rows(what, query, []any{jsonList(ids), v.bank}, func(rows *sql.Rows) error {
		k, t, err := scan(rows)
		found[k] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	return inOrder(ids, found), nil
}

// listed runs a query and gives its rows in its order.
func listed[T any](v *view, what, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	var out []T
	err := v.rows(what, query, args, func(rows *sql.Rows) error {
		t, err := scan(rows)
		out = append(out, t)
		return err
	})
	return out, err
}
