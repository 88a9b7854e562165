package sqlite

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The nodes of rows: ?1 rows as JSON, ?2 bank, ?3 level.
var nodesOfRows = [2]string{
	`SELECT f.no, f.id, 0, f.text, k.vector, f.entities, f.tags, f.confidence, f.said, f.occurred_from, f.occurred_to, coalesce(f.parent, ''), '[]'
FROM json_each(?1) j CROSS JOIN facts f ON f.no = j.value LEFT JOIN fact_vectors k ON k.fact = f.no WHERE f.bank = ?2 AND f.live = 1 AND ?3 = 0`,
	`SELECT c.no, c.id, c.level, c.text, k.vector, c.entities, c.tags, c.confidence, c.said, c.occurred_from, c.occurred_to, coalesce(c.parent, ''), c.children
FROM json_each(?1) j CROSS JOIN composites c ON c.no = j.value LEFT JOIN composite_vectors k ON k.composite = c.no WHERE c.bank = ?2 AND c.level = ?3`,
}

// nodesByRow gives live nodes of the level by row number, in no order.
func (v *view) nodesByRow(lvl int, nos []int64) ([]*nearNode, error) {
	out := make([]*nearNode, 0, len(nos))
	var missing []int64
	for _, no := range nos {
		if n := v.memo.node(lvl, no); n == nil {
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
			out = append(out, v.memo.putNode(lvl, no, n))
		}
		return err
	})
	return out, err
}

// quickest gives the first limit of the nodes that can be compared with the
// vector, by descending cosine in single precision, ties by id.
func quickest(nodes []*nearNode, vector memory.Vector, limit int) []*nearNode {
	type scored struct {
		node  *nearNode
		score float32
	}
	all := make([]scored, 0, len(nodes))
	for _, n := range nodes {
		if len(n.Vector) == len(vector) {
			all = append(all, scored{n, dot(vector, n.Vector) * n.inverse})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(a.node.ID, b.node.ID)
	})
	out := make([]*nearNode, min(limit, len(all)))
	for i := range out {
		out[i] = all[i].node
	}
	return out
}

// dot is the product of two vectors of one size, in four parts: a processor
// computes them side by side.
func dot(a, b memory.Vector) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
