package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// KnownFacts reports which of the facts are stored, in any state.
func (db *DB) KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error) {
	known := make(map[memory.FactID]bool, len(ids))
	const find = `SELECT f.id FROM json_each(?) j JOIN facts f ON f.id = j.value`
	err := db.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, find, jsonList(ids))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id memory.FactID
			if err := rows.Scan(&id); err != nil {
				return err
			}
			known[id] = true
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("look up facts: %w", err)
	}
	return known, nil
}
