package sqlite

import (
	"context"
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/query"
)

// Accounted gives up to limit message events past a sequence of which the store
// has an account, those of erased banks too, by sequence.
func (db *DB) Accounted(ctx context.Context, after uint64, limit int) ([]query.Accounted, error) {
	const find = `SELECT k.seq, b.id, k.forgotten FROM (
  SELECT seq, bank, state = 'forgotten' AS forgotten FROM (SELECT * FROM message_events WHERE seq > ?1 ORDER BY seq LIMIT ?2)
  UNION SELECT seq, bank, 1 FROM tombstones WHERE seq > ?1 AND id NOT LIKE 'op:%') k JOIN banks b ON b.no = k.bank ORDER BY k.seq LIMIT ?2`
	var out []query.Accounted
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "list message events", find, []any{int64(after), limit}, func(rows *sql.Rows) error {
			var k query.Accounted
			err := rows.Scan(&k.Seq, &k.Bank, &k.Forgotten)
			out = append(out, k)
			return err
		})
	})
	return out, err
}

// Queues says what commits left to be done.
func (db *DB) Queues(ctx context.Context) (query.Queues, error) {
	const count = `SELECT (SELECT count(*) FROM outbox), (SELECT coalesce(min(no), 0) FROM outbox), (SELECT count(*) FROM erasures), (SELECT coalesce(min(no), 0) FROM erasures)`
	var q query.Queues
	err := db.read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, count).Scan(&q.Changes, &q.FirstChange, &q.Erasures, &q.FirstErasure)
	})
	return q, err
}
