package sqlite

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// leaves walks from composites down to the facts at their bottom. CROSS JOIN
// keeps SQLite from walking the other way, from all facts that have a parent.
const leaves = `WITH RECURSIVE t(root, no) AS (
  SELECT c.no, c.no FROM json_each(?) j CROSS JOIN composites c ON c.no = j.value WHERE c.bank = ?
  UNION ALL
  SELECT t.root, k.no FROM t CROSS JOIN composites k ON k.parent = t.no
) `

// Composites gives composites by number, in the order asked, with the leaves
// that pass the filter.
func (r *reader) Composites(nos []int64) ([]query.CompositeRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	const find = `SELECT c.no, c.id, c.level, c.text, c.said, c.confidence
FROM json_each(?) j CROSS JOIN composites c ON c.no = j.value WHERE c.bank = ?`
	found := make(map[int64]query.CompositeRow, len(nos))
	err := r.many("read composites", 6, find, []any{jsonList(nos), r.bank}, func(row *rowset) error {
		c := query.CompositeRow{No: row.int(), ID: memory.CompositeID(row.text()), Level: int(row.int()), Text: row.text(),
			Said: fromMicros(row.int()), Confidence: row.real(), Whole: true}
		found[c.No] = c
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	args := append([]any{jsonList(nos), r.bank}, r.filter.factArgs...)
	err = r.many("read leaves", 3, leaves+`SELECT t.root, f.no, (`+r.filter.facts+`) FROM t CROSS JOIN facts f ON f.parent = t.no ORDER BY t.root, f.no`,
		args, func(row *rowset) error {
			root, leaf, passes := row.int(), row.int(), row.bool()
			c := found[root]
			if passes {
				c.Leaves = append(c.Leaves, leaf)
			} else {
				c.Whole = false
			}
			found[root] = c
			return nil
		})
	return inOrder(nos, found), err
}

// CompositeNumbers gives the numbers of composites by id.
func (r *reader) CompositeNumbers(ids []memory.CompositeID) ([]int64, error) {
	return r.numbers("look up composites", `SELECT c.no FROM json_each(?) j CROSS JOIN composites c ON c.id = j.value
WHERE c.bank = ? ORDER BY c.no`, jsonList(ids), r.bank)
}

// Observations gives observations by number, in the order asked: those that
// pass the filter. Without a filter their facts may have ended.
func (r *reader) Observations(nos []int64) ([]query.ObservationRow, error) {
	find := `SELECT o.no, o.id, o.text, o.entities, o.said, o.confidence
FROM json_each(?) j CROSS JOIN observations o ON o.no = j.value WHERE o.bank = ?`
	args := []any{jsonList(nos), r.bank}
	if !r.filter.plain {
		find += " AND " + r.filter.observed
		args = append(args, r.filter.observedArgs...)
	}
	found := make(map[int64]query.ObservationRow, len(nos))
	err := r.scanAll("read observations", find, args, func(rows *sql.Rows) error {
		var o query.ObservationRow
		var said int64
		var entities []byte
		if err := rows.Scan(&o.No, &o.ID, &o.Text, &entities, &said, &o.Confidence); err != nil {
			return err
		}
		o.Said = fromMicros(said)
		err := fromJSON(entities, &o.Entities)
		found[o.No] = o
		return err
	})
	return inOrder(nos, found), err
}

// Roots gives up to limit composites that stand under no other, by descending
// level and then id.
func (r *reader) Roots(from query.Place, limit int) ([]memory.Item, query.Place, error) {
	const find = `SELECT no, id, level FROM composites WHERE bank = ?1 AND parent IS NULL
AND (?2 = '' OR level < ?3 OR (level = ?3 AND id > ?2)) ORDER BY level DESC, id LIMIT ?4`
	var nos []int64
	var last query.Place
	err := r.scanAll("list the tree's roots", find, []any{r.bank, from.ID, from.At, limit + 1}, func(rows *sql.Rows) error {
		var no int64
		var p query.Place
		if err := rows.Scan(&no, &p.ID, &p.At); err != nil {
			return err
		}
		if len(nos) < limit {
			last = p
		}
		nos = append(nos, no)
		return nil
	})
	if err != nil {
		return nil, query.Place{}, err
	}
	if len(nos) <= limit {
		last = query.Place{}
	} else {
		nos = nos[:limit]
	}
	items, err := r.Items(memory.RecordComposite, nos)
	return items, last, err
}

// Children gives the direct children of a composite, by id.
func (r *reader) Children(parent memory.CompositeID) ([]memory.Item, error) {
	facts, err := r.numbers("list children", `SELECT no FROM facts WHERE +bank = ? AND parent = (SELECT no FROM composites WHERE id = ?) ORDER BY id`, r.bank, string(parent))
	if err != nil {
		return nil, err
	}
	below, err := r.numbers("list children", `SELECT no FROM composites WHERE +bank = ? AND parent = (SELECT no FROM composites WHERE id = ?) ORDER BY id`, r.bank, string(parent))
	if err != nil {
		return nil, err
	}
	items, err := r.Items(memory.RecordFact, facts)
	if err != nil {
		return nil, err
	}
	more, err := r.Items(memory.RecordComposite, below)
	return append(items, more...), err
}
