package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Compare gives the cosine similarity of facts or messages to v, by number;
// those without a vector of its size are left out.
func (r *reader) Compare(ctx context.Context, rec memory.Record, v memory.Vector, nos []int64) ([]query.Near, error) {
	table := map[memory.Record]string{memory.RecordFact: "fact_vectors", memory.RecordMessage: "message_vectors"}[rec]
	if table == "" || len(nos) == 0 {
		return nil, nil
	}
	return r.near(ctx, "compare vectors", `SELECT x.rowid, vec_distance_l2(unpacked(x.vector), ?) FROM json_each(?) j CROSS JOIN `+table+` x ON x.rowid = j.value
WHERE x.bank = ? AND length(x.vector) = ? ORDER BY x.rowid`, []any{v.Bytes(), jsonList(nos), r.bank, sketch.PackedSize(len(v))})
}

// near runs a query of numbers and distances between vectors of unit length.
func (r *reader) near(ctx context.Context, what, find string, args []any) ([]query.Near, error) {
	var out []query.Near
	err := eachOf(ctx, r.tx, what, 2, find, args, func(row *rowset) error {
		no, d := row.int(), row.real()
		out = append(out, query.Near{No: no, Cosine: max(-1, min(1, 1-d*d/2))})
		return nil
	})
	return out, err
}

// Dimension is the size of the bank's vectors, 0 while there is none.
func (r *reader) Dimension() (int, error) {
	const find = `SELECT coalesce((SELECT length(vector) FROM fact_vectors WHERE bank = ?1 LIMIT 1),
  (SELECT length(vector) FROM message_vectors WHERE bank = ?1 LIMIT 1))`
	var n sql.NullInt64
	err := r.tx.QueryRowContext(r.ctx, find, r.bank).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the size of vectors: %w", err)
	}
	return sketch.PackedDimension(int(n.Int64)), nil
}
