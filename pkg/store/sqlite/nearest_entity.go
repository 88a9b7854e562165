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
	compositesNaming = `SELECT j.value,
  (SELECT group_concat(composite, ' ') FROM (SELECT e.composite FROM composite_entities e JOIN composites c ON c.no = e.composite
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
		if b := v.memo.entity(v.bank, e); b != nil {
			known[e] = b
			continue
		}
		missing = append(missing, e)
	}
	if err := v.factsNaming(missing, known); err != nil {
		return nil, err
	}
	quiet := quietest(wanted, known)
	if lvl > 0 {
		return v.compositesNaming(lvl, quiet)
	}
	var out [][]int64
	for _, e := range quiet {
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

// factsNaming reads what there is of the entities into known, and keeps it.
func (v *view) factsNaming(entities []memory.EntityID, known map[memory.EntityID]*busy) error {
	if len(entities) == 0 {
		return nil
	}
	return v.rows("read facts of entities", factsNaming, []any{jsonList(entities), v.bank, entityBudget}, func(rows *sql.Rows) error {
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
		v.memo.putEntity(v.bank, e, b)
		return err
	})
}

// compositesNaming gives the newest composites of the level that name each
// entity; none for one that no composite names.
func (v *view) compositesNaming(lvl int, entities []memory.EntityID) ([][]int64, error) {
	lists := make(map[memory.EntityID][]int64, len(entities))
	var missing []memory.EntityID
	for _, e := range entities {
		nos, known := v.memo.compositesNaming(v.bank, e, lvl)
		if lists[e] = nos; !known {
			missing = append(missing, e)
		}
	}
	if len(missing) > 0 {
		err := v.rows("read composites of entities", compositesNaming, []any{jsonList(missing), v.bank, namedKept, lvl}, func(rows *sql.Rows) error {
			var e memory.EntityID
			var list sql.NullString
			if err := rows.Scan(&e, &list); err != nil {
				return err
			}
			nos, err := parseNumbers(list.String)
			lists[e] = nos[:min(len(nos), entityBudget)]
			v.memo.putNaming(v.bank, e, lvl, nos)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var out [][]int64
	for _, e := range entities {
		if len(lists[e]) > 0 {
			out = append(out, lists[e])
		}
	}
	return out, nil
}
