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
// of those are taken, where something was committed since this reader began, or
// where it cannot be opened, for a search needs no second one. It ends with this reader.
func (r *reader) Beside() (query.Searcher, error) {
	state, err := commits(r.ctx, r.tx)
	if err != nil {
		return nil, err
	}
	select {
	case r.db.besides <- struct{}{}:
	default:
		return nil, nil
	}
	tx, err := r.beginBeside(state)
	if tx == nil {
		<-r.db.besides
		r.db.warn(err, "a second connection could not be used; a search goes on by one")
		return nil, nil
	}
	twin := &reader{db: r.db, ctx: r.ctx, tx: tx, bank: r.bank, filter: r.filter, passes: r.passes}
	r.ends = append(r.ends, func() {
		twin.end()
		_ = tx.Rollback()
		<-r.db.besides
	})
	return twin, nil
}

// beginBeside begins to read a state on a connection for that; nil if it reads another.
func (r *reader) beginBeside(state int64) (*sql.Tx, error) {
	tx, err := r.db.second.BeginTx(r.ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	reads, err := commits(r.ctx, tx)
	if err != nil || reads != state {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}
