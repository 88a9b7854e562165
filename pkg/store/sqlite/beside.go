package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/query"
)

// commitsKey is where every transaction that writes counts itself.
const commitsKey = "commits"

// countCommit makes the state that tx leaves different from every earlier one.
func countCommit(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `UPDATE meta SET value = value + 1 WHERE key = ?`, commitsKey); err != nil {
		return fmt.Errorf("count the commit: %w", err)
	}
	return nil
}

// commits says which state of the file tx reads.
func commits(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	if err = tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, commitsKey).Scan(&n); err != nil {
		err = fmt.Errorf("read how many commits there were: %w", err)
	}
	return n, err
}

// Beside gives a reader of the same state on another connection: nil where all
// of those are taken, or where something was committed since this reader began.
// It ends with this reader.
func (r *reader) Beside() (query.Searcher, error) {
	select {
	case r.db.besides <- struct{}{}:
	default:
		return nil, nil
	}
	tx, err := r.db.second.BeginTx(r.ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		<-r.db.besides
		return nil, fmt.Errorf("begin to read beside: %w", err)
	}
	end := func() {
		_ = tx.Rollback()
		<-r.db.besides
	}
	same, err := sameState(r.ctx, r.tx, tx)
	if err != nil || !same {
		end()
		return nil, err
	}
	twin := &reader{db: r.db, ctx: r.ctx, tx: tx, bank: r.bank, filter: r.filter, passes: r.passes}
	r.ends = append(r.ends, func() { twin.end(); end() })
	return twin, nil
}

func sameState(ctx context.Context, a, b *sql.Tx) (bool, error) {
	first, err := commits(ctx, a)
	if err != nil {
		return false, err
	}
	second, err := commits(ctx, b)
	return first == second, err
}
