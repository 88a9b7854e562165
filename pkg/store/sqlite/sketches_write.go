package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

const (
	// centreOf is of how many vectors, the first, the centre is the mean. The mean
	// of so many lies close enough to the mean of all: a sketch only needs
	// about as many vectors on either side.
	centreOf = 1024
	// changesKeep is how many vector changes stay at least: as many as a process
	// reads more quickly than all vectors anew.
	changesKeep = 1 << 12
)

// tendSketches does, in the transaction of a commit, what sketches rest on: it
// fixes the centre once there are vectors enough, and cuts the list of vector
// changes when it has become long.
func (a *applier) tendSketches() error {
	if err := a.db.fixCentre(a.ctx, a.tx); err != nil {
		return err
	}
	first, last, err := changesKept(a.ctx, a.tx)
	if err != nil || last-first < 2*changesKeep {
		return err
	}
	return a.exec("cut the list of vector changes", `DELETE FROM vector_changes WHERE seq <= ?`, last-changesKeep)
}

// fixCentre stores the mean of the first vectors, once there are centreOf.
func (db *DB) fixCentre(ctx context.Context, tx *sql.Tx) error {
	if lacks, err := db.lacksCentre(ctx, tx); !lacks || err != nil {
		return err
	}
	var all []memory.Vector
	for _, find := range []string{`SELECT vector FROM fact_vectors ORDER BY fact LIMIT ?`, `SELECT vector FROM message_vectors ORDER BY message LIMIT ?`} {
		err := eachRow(ctx, tx, "read the first vectors", find, []any{centreOf - len(all)}, func(rows *sql.Rows) error {
			var raw []byte
			if err := rows.Scan(&raw); err != nil {
				return err
			}
			all = append(all, sketch.Unpack(raw))
			return nil
		})
		if err != nil {
			return err
		}
	}
	pinned, err := readEmbedder(ctx, tx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(centre{Embedder: pinned.Name, Vector: sketch.Centre(all)})
	if err != nil {
		return fmt.Errorf("write the centre of the vectors: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`, centreKey, string(raw)); err != nil {
		return fmt.Errorf("keep the centre of the vectors: %w", err)
	}
	return nil
}

// lacksCentre reports whether there are vectors enough to tell their centre from
// and none is kept.
func (db *DB) lacksCentre(ctx context.Context, tx *sql.Tx) (bool, error) {
	known, err := db.coderOf(ctx, tx)
	if err != nil || known != nil {
		return false, err
	}
	const count = `SELECT (SELECT count(*) FROM (SELECT 1 FROM fact_vectors LIMIT ?1)) + (SELECT count(*) FROM (SELECT 1 FROM message_vectors LIMIT ?1))`
	var n int
	if err := tx.QueryRowContext(ctx, count, centreOf).Scan(&n); err != nil {
		return false, fmt.Errorf("count vectors: %w", err)
	}
	return n >= centreOf, nil
}
