package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// reader reads one state of one bank. It implements query.Searcher and
// query.Reader; it lives as long as the transaction it reads in.
type reader struct {
	db     *DB
	ctx    context.Context
	tx     *sql.Tx
	bank   int64
	filter narrowing
	only   map[memory.Record]bool  // whether the bank is alone with rows of a record, once asked
	ahead  map[memory.Record]*scan // begun by Expect
	passes *passes                 // shared with the reader beside
	ends   []func()                // what ends with this reader
}

var (
	_ query.Searcher = (*reader)(nil)
	_ query.Reader   = (*reader)(nil)
)

// Search runs fn on one unchanging state of a bank, narrowed by f.
func (db *DB) Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(query.Searcher) error) error {
	return db.readBank(ctx, bank, func(r *reader) error {
		var err error
		if r.filter, err = r.narrow(f); err != nil {
			return err
		}
		defer r.end()
		return fn(r)
	})
}

// end waits for what was begun and ends what began with r.
func (r *reader) end() {
	r.awaitScans()
	for _, end := range r.ends {
		end()
	}
}

// Read runs fn on one unchanging state of a bank.
func (db *DB) Read(ctx context.Context, bank memory.BankID, fn func(query.Reader) error) error {
	return db.readBank(ctx, bank, func(r *reader) error { return fn(r) })
}

func (db *DB) readBank(ctx context.Context, bank memory.BankID, fn func(*reader) error) error {
	return db.read(ctx, func(tx *sql.Tx) error {
		// A context that cannot end spares the driver a goroutine per statement.
		r := &reader{db: db, ctx: context.WithoutCancel(ctx), tx: tx, passes: &passes{}}
		err := tx.QueryRowContext(r.ctx, `SELECT no FROM banks WHERE id = ? AND profile <> ''`, string(bank)).Scan(&r.bank)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("bank %q: %w", string(bank), memory.ErrNotFound)
		}
		if err != nil {
			return fmt.Errorf("look up bank %q: %w", string(bank), err)
		}
		return fn(r)
	})
}

// Outcome gives the outcome of an op that was applied; nil if it was not.
func (db *DB) Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error) {
	const find = `SELECT o.outcome, o.write FROM ops o JOIN banks b ON b.no = o.bank WHERE b.id = ? AND o.op = ?`
	var out *memory.WriteOutcome
	err := db.read(ctx, func(tx *sql.Tx) error {
		var raw []byte
		var write uint64
		err := tx.QueryRowContext(ctx, find, string(bank), op).Scan(&raw, &write)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		out, err = outcomeOf(raw, op, write)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the outcome of op %q in bank %q: %w", op, string(bank), err)
	}
	return out, nil
}

// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
func (r *reader) Applied() (messages, writes uint64, err error) {
	return appliedIn(r.ctx, r.tx)
}

// Bank gives the profile.
func (r *reader) Bank() (memory.Bank, error) {
	var raw []byte
	var b memory.Bank
	if err := r.tx.QueryRowContext(r.ctx, `SELECT profile FROM banks WHERE no = ?`, r.bank).Scan(&raw); err != nil {
		return b, fmt.Errorf("read the profile of bank %d: %w", r.bank, err)
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, fmt.Errorf("read the profile of bank %d: %w", r.bank, err)
	}
	return b, nil
}

// scanAll runs a query and hands every row to scan.
func (r *reader) scanAll(what, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := r.tx.QueryContext(r.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
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

// many is scanAll of a query of so many columns that brings many rows.
func (r *reader) many(what string, columns int, query string, args []any, scan func(*rowset) error) error {
	return eachOf(r.ctx, r.tx, what, columns, query, args, scan)
}

// numbers runs a query whose rows are one number each.
func (r *reader) numbers(what, query string, args ...any) ([]int64, error) {
	var out []int64
	err := r.many(what, 1, query, args, func(row *rowset) error {
		out = append(out, row.int())
		return nil
	})
	return out, err
}

// jsonList writes a list as the JSON array that json_each reads: one SQL text
// for any length.
func jsonList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(b)
}

// inOrder gives found in the order of wanted, leaving out what is not there.
func inOrder[K comparable, V any](wanted []K, found map[K]V) []V {
	out := make([]V, 0, len(wanted))
	for _, k := range wanted {
		if v, ok := found[k]; ok {
			out = append(out, v)
			delete(found, k)
		}
	}
	return out
}

// asAsked gives rows in the order of the numbers they were asked for by, each
// once. What is asked for in ascending order comes so, as a rule.
func asAsked[V any](nos []int64, rows []V, number func(V) int64) []V {
	asked := slices.IsSorted(nos)
	for i := 1; asked && i < len(rows); i++ {
		asked = number(rows[i-1]) < number(rows[i])
	}
	if asked {
		return rows
	}
	found := make(map[int64]V, len(rows))
	for _, row := range rows {
		found[number(row)] = row
	}
	return inOrder(nos, found)
}
