package sqlite

import (
	"context"
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// KnownFacts reports which of the facts are stored, in any state.
func (db *DB) KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error) {
	return known(ctx, db, "facts", ids)
}

// KnownObservations reports which of the observations are stored.
func (db *DB) KnownObservations(ctx context.Context, ids []memory.ObservationID) (map[memory.ObservationID]bool, error) {
	return known(ctx, db, "observations", ids)
}

func known[ID ~string](ctx context.Context, db *DB, table string, ids []ID) (map[ID]bool, error) {
	out := make(map[ID]bool, len(ids))
	find := `SELECT r.id FROM json_each(?) j JOIN ` + table + ` r ON r.id = j.value`
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "look up "+table, find, []any{jsonList(ids)}, func(rows *sql.Rows) error {
			var id ID
			err := rows.Scan(&id)
			out[id] = true
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
