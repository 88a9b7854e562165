package sqlite

import (
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// What there is of entities: ?1 them as JSON, ?2 bank, ?3 nodes of each at most,
// ?4 level. One row for all the nodes of one: stepping through them costs more
// than finding them.
const (
	factsNaming = `SELECT j.value, coalesce((SELECT k.live FROM entity_counts k WHERE k.bank = ?2 AND k.entity = j.value), 0),
  (SELECT group_concat(fact || ' ' || said, ' ') FROM (SELECT fact, said FROM fact_entities
    WHERE bank = ?2 AND entity = j.value AND live = 1 ORDER BY said DESC, fact DESC LIMIT ?3)) FROM json_each(?1) j`
	compositesNaming = `SELECT j.value, coalesce((SELECT k.live FROM entity_counts k WHERE k.bank = ?2 AND k.entity = j.value), 0),
  (SELECT group_concat(composite || ' 0', ' ') FROM (SELECT e.composite FROM composite_entities e JOIN composites c ON c.no = e.composite
    WHERE e.bank = ?2 AND e.entity = j.value AND c.level = ?4 ORDER BY e.composite DESC LIMIT ?3)) FROM json_each(?1) j`
)

// quietEntities gives the newest nodes of the entities, those that the fewest
// live facts name first.
func (v *view) quietEntities(lvl int, entities []memory.EntityID) ([][]int64, error) {
	wanted := slices.Compact(slices.Sorted(slices.Values(entities)))
	known := make(map[memory.EntityID]*busy, len(wanted))
	var missing []memory.EntityID
	for _, e := range wanted {
		known[e] = &busy{}
		if b := v.memo.entity(v.bank, e); b != nil && lvl == 0 {
			known[e] = b
			continue
		}
		missing = append(missing, e)
	}
	if err := v.naming(lvl, missing, known); err != nil {
		return nil, err
	}
	var out [][]int64
	for _, e := range quietest(wanted, known) {
		nos := make([]int64, len(known[e].facts))
		for i, f := range known[e].facts {
			nos[i] = f.no
		}
		if len(nos) > 0 {
			out = append(out, nos)
		}
	}
	return out, nil
}

// naming reads what there is of the entities into known; of facts it is kept.
func (v *view) naming(lvl int, entities []memory.EntityID, known map[memory.EntityID]*busy) error {
	if len(entities) == 0 {
		return nil
	}
	query, args := factsNaming, []any{jsonList(entities), v.bank, entityBudget}
	if lvl > 0 {
		query, args = compositesNaming, append(args, lvl)
	}
	return v.rows("read nodes of entities", query, args, func(rows *sql.Rows) error {
		var e memory.EntityID
		var list sql.NullString
		b := &busy{}
		if err := rows.Scan(&e, &b.live, &list); err != nil {
			return err
		}
		numbers, err := parseNumbers(list.String)
		for pair := range slices.Chunk(numbers, 2) {
			b.facts = append(b.facts, dated{pair[0], pair[1]})
		}
		known[e] = b
		if lvl == 0 {
			v.memo.putEntity(v.bank, e, b)
		}
		return err
	})
}
