package sqlite

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// The nodes of rows: ?1 rows as JSON, ?2 bank, ?3 level.
var nodesOfRows = [2]string{
	`SELECT f.no, f.id, 0, f.text, k.vector, f.entities, f.tags, f.confidence, f.said, f.occurred_from, f.occurred_to, coalesce((SELECT p.id FROM composites p WHERE p.no = f.parent), ''), '[]'
FROM json_each(?1) j CROSS JOIN facts f ON f.no = j.value LEFT JOIN fact_vectors k ON k.fact = f.no WHERE f.bank = ?2 AND f.live = 1 AND ?3 = 0`,
	`SELECT c.no, c.id, c.level, c.text, coalesce(k.vector, v.vector), c.entities, c.tags, c.confidence, c.said, c.occurred_from, c.occurred_to, coalesce((SELECT p.id FROM composites p WHERE p.no = c.parent), ''), c.children
FROM json_each(?1) j CROSS JOIN composites c ON c.no = j.value LEFT JOIN composite_vectors k ON k.composite = c.no
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE c.bank = ?2 AND c.level = ?3`,
}

// nodesByRow gives live nodes of the level by row number, in no order.
func (v *view) nodesByRow(lvl int, nos []int64) ([]memory.Node, error) {
	out := make([]memory.Node, 0, len(nos))
	var missing []int64
	for _, no := range nos {
		if n, known := v.memo.node(lvl, no); !known {
			missing = append(missing, no)
		} else if n.Level == lvl {
			out = append(out, n)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	err := v.rows("read candidates", nodesOfRows[min(lvl, 1)], []any{jsonList(missing), v.bank, lvl}, func(rows *sql.Rows) error {
		no, n, err := scanNode(rows)
		if err == nil {
			out = append(out, v.memo.putNodeNamed(v.bank, lvl, no, n))
		}
		return err
	})
	return out, err
}

// The vectors of rows: ?1 rows as JSON, ?2 bank.
var vectorsOfRows = [2]string{
	`SELECT k.fact, k.vector FROM json_each(?1) j CROSS JOIN fact_vectors k ON k.fact = j.value WHERE k.bank = ?2`,
	`SELECT k.composite, coalesce(k.vector, v.vector) FROM json_each(?1) j CROSS JOIN composite_vectors k ON k.composite = j.value
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE k.bank = ?2`,
}

// quickest gives, of rows of the level that can be compared with the vector and
// may be as near as least, the limit nearest by their coarse vectors, and all that
// are as near as the last of them; in no order. It reads their vectors and nothing else.
func (v *view) quickest(lvl int, nos []int64, vector memory.Vector, least float64, limit int) ([]int64, error) {
	type scored struct {
		no    int64
		score float32
	}
	all := make([]scored, 0, 2*limit)
	asked, floor := sketch.Coarsen(sketch.Pack(vector)), float32(least-sketch.CoarseError)
	add := func(no int64, c sketch.Coarse) {
		if c.Dimension() != len(vector) {
			return
		}
		if score := asked.Cosine(c); score >= floor {
			all = append(all, scored{no, score})
		}
	}
	var missing []int64
	for _, no := range nos {
		if c, known := v.memo.vector(lvl, no); known {
			add(no, c)
		} else {
			missing = append(missing, no)
		}
	}
	if len(missing) > 0 {
		var no int64
		var raw sql.RawBytes
		err := v.rows("read vectors of candidates", vectorsOfRows[min(lvl, 1)], []any{jsonList(missing), v.bank}, func(rows *sql.Rows) error {
			err := rows.Scan(&no, &raw)
			if err == nil {
				add(no, v.memo.putVector(lvl, no, raw))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]int64, 0, min(limit, len(all)))
	for i, s := range all {
		if i >= limit && s.score < all[limit-1].score {
			break
		}
		out = append(out, s.no)
	}
	return out, nil
}
