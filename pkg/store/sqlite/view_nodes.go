package sqlite

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Both queries take ids as ?1 and the bank as ?2; the second the level as ?3.
const (
	factNodes = `SELECT f.no, f.id, 0, f.text, k.vector, f.entities, f.tags, f.confidence, f.said, f.occurred_from, f.occurred_to, coalesce((SELECT p.id FROM composites p WHERE p.no = f.parent), ''), '[]'
FROM json_each(?1) j CROSS JOIN facts f ON f.id = j.value LEFT JOIN fact_vectors k ON k.fact = f.no
WHERE f.bank = ?2 AND f.live = 1 AND ?3 = 0`
	compositeNodes = `SELECT c.no, c.id, c.level, c.text, coalesce(k.vector, v.vector), c.entities, c.tags, c.confidence, c.said, c.occurred_from, c.occurred_to, coalesce((SELECT p.id FROM composites p WHERE p.no = c.parent), ''), c.children
FROM json_each(?1) j CROSS JOIN composites c ON c.id = j.value LEFT JOIN composite_vectors k ON k.composite = c.no
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE c.bank = ?2 AND c.level = ?3`
)

// scanNode reads a node and the number of its row.
func scanNode(rows *sql.Rows) (no int64, n memory.Node, err error) {
	var said int64
	var from, to sql.NullInt64
	var vector, entities, tags, children []byte
	err = rows.Scan(&no, &n.ID, &n.Level, &n.Text, &vector, &entities, &tags, &n.Confidence, &said, &from, &to, &n.Parent, &children)
	if err != nil {
		return no, n, err
	}
	if len(vector) > 0 {
		n.Vector = sketch.Unpack(vector)
	}
	n.Said, n.Occurred = fromMicros(said), spanOf(from, to)
	err = allJSON(entities, &n.Entities, tags, &n.Tags, children, &n.Children)
	n.Entities, n.Tags, n.Children = none(n.Entities), none(n.Tags), none(n.Children)
	return no, n, err
}

// Nodes gives live facts (level 0) or composites of the level as nodes, with
// vectors, in the order asked.
func (v *view) Nodes(level int, ids []string) ([]memory.Node, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	query := factNodes
	if level > 0 {
		query = compositeNodes
	}
	found := make(map[string]memory.Node, len(ids))
	var missing []string
	for _, id := range ids {
		if n, known := v.memo.nodeNamed(v.bank, level, id); known {
			found[id] = n
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return inOrder(ids, found), nil
	}
	err := v.rows("read nodes", query, []any{jsonList(missing), v.bank, level}, func(rows *sql.Rows) error {
		no, n, err := scanNode(rows)
		if err == nil {
			found[n.ID] = v.memo.putNodeNamed(v.bank, level, no, n)
		}
		return err
	})
	return inOrder(ids, found), err
}

// Composites gives composites by id, with vectors, in the order asked.
func (v *view) Composites(ids []memory.CompositeID) ([]memory.Composite, error) {
	const find = `SELECT c.id, c.level, c.text, c.representative, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said,
  c.confidence, c.version, coalesce(k.vector, v.vector), c.made
FROM json_each(?1) j CROSS JOIN composites c ON c.id = j.value LEFT JOIN composite_vectors k ON k.composite = c.no
LEFT JOIN fact_vectors v ON v.fact = k.fact WHERE c.bank = ?2`
	found := make(map[memory.CompositeID]memory.Composite, len(ids))
	var missing []memory.CompositeID
	for _, id := range ids {
		if c, known := v.memo.composite(v.bank, id); known {
			c.Bank = v.id
			found[id] = c
		} else {
			missing = append(missing, id)
		}
	}
	read, err := numbered(v, "read composites", find, missing, func(rows *sql.Rows) (memory.CompositeID, memory.Composite, error) {
		c := memory.Composite{Bank: v.id}
		var said int64
		var from, to sql.NullInt64
		var children, entities, tags, vector []byte
		var made string
		err := rows.Scan(&c.ID, &c.Level, &c.Text, &c.Representative, &children, &entities, &tags, &from, &to, &said, &c.Confidence, &c.Version, &vector, &made)
		if err != nil {
			return c.ID, c, err
		}
		c.Said, c.Occurred = fromMicros(said), spanOf(from, to)
		if len(vector) > 0 {
			c.Vector = sketch.Unpack(vector)
		}
		if c.By, err = stampOf(made); err != nil {
			return c.ID, c, err
		}
		err = allJSON(children, &c.Children, entities, &c.Entities, tags, &c.Tags)
		c.Children, c.Entities, c.Tags = none(c.Children), none(c.Entities), none(c.Tags)
		return c.ID, c, err
	})
	for _, c := range read {
		found[c.ID] = c
		v.memo.putComposite(v.bank, c)
	}
	return inOrder(ids, found), err
}
