package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MessageStates counts the message events of all banks by what became of them.
// It reads an index of the whole: for metrics, not for requests.
func (db *DB) MessageStates(ctx context.Context) (map[memory.MessageState]int64, error) {
	out := map[memory.MessageState]int64{}
	err := db.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT state, count(*) FROM message_events GROUP BY state`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var state memory.MessageState
			var n int64
			if err := rows.Scan(&state, &n); err != nil {
				return err
			}
			out[state] = n
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("count message events: %w", err)
	}
	return out, nil
}
