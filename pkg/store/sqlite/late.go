package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// FactsWithoutVector gives up to limit facts of all banks, in any state, that
// have no vector and whose place is past after, by place.
func (db *DB) FactsWithoutVector(ctx context.Context, after int64, limit int) ([]consolidate.LateRecord, error) {
	const find = `SELECT f.no, b.id, f.id, 0, f.text, '' FROM unembedded u JOIN facts f ON f.no = u.fact JOIN banks b ON b.no = f.bank
WHERE u.fact > ? ORDER BY u.fact LIMIT ?`
	return db.withoutVector(ctx, memory.RecordFact, find, after, limit)
}

// MessagesWithoutVector gives the same of messages; the place of one is its sequence.
func (db *DB) MessagesWithoutVector(ctx context.Context, after int64, limit int) ([]consolidate.LateRecord, error) {
	const find = `SELECT m.seq, b.id, m.id, m.seq, coalesce(m.indexed, m.content), m.caption FROM messages m JOIN banks b ON b.no = m.bank
WHERE m.seq > ? AND NOT EXISTS (SELECT 1 FROM message_vectors v WHERE v.message = m.seq) ORDER BY m.seq LIMIT ?`
	return db.withoutVector(ctx, memory.RecordMessage, find, after, limit)
}

func (db *DB) withoutVector(ctx context.Context, r memory.Record, find string, after int64, limit int) ([]consolidate.LateRecord, error) {
	var out []consolidate.LateRecord
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, fmt.Sprintf("list %ss without a vector", r), find, []any{after, limit}, func(rows *sql.Rows) error {
			l := consolidate.LateRecord{Record: r}
			var caption string
			err := rows.Scan(&l.Place, &l.Bank, &l.ID, &l.Seq, &l.Text, &caption)
			l.Text = strings.TrimSpace(l.Text + "\n" + caption)
			out = append(out, l)
			return err
		})
	})
	return out, err
}
