package search

import (
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Composites returns composites by number, in the order asked, with the leaves that pass the filter.
func (r *Reader) Composites(nos []int64) ([]recall.CompositeRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	find := `SELECT c.no, c.id, c.level, c.text, c.said, c.confidence, ` + r.filter.Composites.SQL + `
FROM json_each(?) j CROSS JOIN composites c ON c.no = j.value WHERE +c.bank = ?`
	found, leaves := make(map[int64]recall.CompositeRow, len(nos)), map[int64][]int64{}
	notWhole := map[int64]bool{}
	err := r.tx.Together(func(tx *engine.Tx) error {
		return tx.Batch("read composites", 7, find, append(slices.Clone(r.filter.Composites.Args), engine.List(nos), r.bank), func(row *engine.Rowset) error {
			c := recall.CompositeRow{No: row.Int(), ID: memory.CompositeID(row.Text()), Level: int(row.Int()), Text: row.Text(),
				Said: engine.Time(row.Int()), Confidence: row.Float(), Whole: row.Bool()}
			found[c.No] = c
			return nil
		})
	}, func(tx *engine.Tx) error {
		const leavesOf = schema.Leaves + `SELECT t.root, f.no, (`
		args := append([]any{engine.List(nos), r.bank}, r.filter.Facts.Args...)
		return tx.Batch("read leaves", 3, leavesOf+r.filter.Facts.SQL+`) FROM t CROSS JOIN facts f ON f.parent = t.no ORDER BY t.root, f.no`, args, func(row *engine.Rowset) error {
			root, leaf, passes := row.Int(), row.Int(), row.Bool()
			if passes {
				leaves[root] = append(leaves[root], leaf)
			} else {
				notWhole[root] = true
			}
			return nil
		})
	})
	for no, c := range found {
		c.Leaves, c.Whole = leaves[no], c.Whole && !notWhole[no]
		found[no] = c
	}
	return engine.InOrder(nos, found), err
}

// CompositeNumbers returns the numbers of composites by id, ascending.
func (r *Reader) CompositeNumbers(ids []memory.CompositeID) ([]int64, error) {
	return r.tx.Numbers("look up composites", `SELECT c.no FROM json_each(?) j CROSS JOIN composites c ON c.id = j.value
WHERE +c.bank = ? ORDER BY c.no`, engine.List(ids), r.bank)
}

// Observations returns observations by number, in the order asked; those that do not pass the filter are left out.
// Without a filter their facts may have ended.
func (r *Reader) Observations(nos []int64) ([]recall.ObservationRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	find := `SELECT o.no, o.id, o.text, o.entities, o.said, o.confidence
FROM json_each(?) j CROSS JOIN observations o ON o.no = j.value WHERE +o.bank = ?`
	args := []any{engine.List(nos), r.bank}
	if !r.filter.Plain {
		find += " AND " + r.filter.Observations.SQL
		args = append(args, r.filter.Observations.Args...)
	}
	found := make(map[int64]recall.ObservationRow, len(nos))
	err := r.tx.Each("read observations", find, args, func(rows *sql.Rows) error {
		var o recall.ObservationRow
		var said int64
		var entities []byte
		if err := rows.Scan(&o.No, &o.ID, &o.Text, &entities, &said, &o.Confidence); err != nil {
			return err
		}
		o.Said = engine.Time(said)
		err := engine.FromJSON(entities, &o.Entities)
		found[o.No] = o
		return err
	})
	return engine.InOrder(nos, found), err
}

// Roots returns up to limit composites without a parent, by descending level and then id, and the place after the last.
func (r *Reader) Roots(from query.Position, limit int) ([]memory.Item, query.Position, error) {
	const find = `SELECT no, id, level FROM composites WHERE bank = ?1 AND parent IS NULL
AND (?2 = '' OR level < ?3 OR (level = ?3 AND id > ?2)) ORDER BY level DESC, id LIMIT ?4`
	var nos []int64
	places, err := engine.All(r.tx, "list the tree's roots", find, []any{r.bank, from.ID, from.At, limit + 1}, func(rows *sql.Rows) (p query.Position, err error) {
		var no int64
		err = rows.Scan(&no, &p.ID, &p.At)
		nos = append(nos, no)
		return p, err
	})
	if err != nil {
		return nil, query.Position{}, err
	}
	places, last := page(places, limit)
	nos = nos[:len(places)]
	items, err := r.Items(memory.RecordComposite, nos)
	return items, last, err
}

// Children returns the direct children of a composite, facts before composites, by id.
func (r *Reader) Children(parent memory.CompositeID) ([]memory.Item, error) {
	out := []memory.Item{}
	for _, kind := range []schema.Kind{schema.Facts(), schema.Composites()} {
		find := `SELECT no FROM ` + kind.Table + ` WHERE +bank = ? AND parent = (SELECT no FROM composites WHERE id = ?) ORDER BY id`
		nos, err := r.tx.Numbers("list children", find, r.bank, string(parent))
		if err != nil {
			return nil, err
		}
		items, err := r.Items(kind.Record, nos)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, nil
}
