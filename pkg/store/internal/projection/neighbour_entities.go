package projection

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// What names entities. The queries take the entities as ?1, the bank as ?2, the nodes of each at most as ?3, and the level
// as ?4. They return one row for all nodes of an entity, because stepping through rows costs more than finding them.
const (
	factsNaming = `SELECT j.value, coalesce((SELECT k.live FROM entity_counts k WHERE k.bank = ?2 AND k.entity = j.value), 0),
  (SELECT group_concat(fact || ' ' || said, ' ') FROM (SELECT fact, said FROM fact_entities
    WHERE bank = ?2 AND entity = j.value AND live = 1 ORDER BY said DESC, fact DESC LIMIT ?3)) FROM json_each(?1) j`
	compositesNaming = `SELECT j.value,
  (SELECT group_concat(composite, ' ') FROM (SELECT e.composite FROM composite_entities e JOIN composites c ON c.no = e.composite
    WHERE e.bank = ?2 AND e.entity = j.value AND c.level = ?4 ORDER BY e.composite DESC LIMIT ?3)) FROM json_each(?1) j`
)

// byEntity returns the newest nodes of each of the entities, the one that the fewest live facts name first.
func (v *view) byEntity(lvl int, entities []memory.EntityID) ([][]int64, error) {
	wanted := slices.Compact(slices.Sorted(slices.Values(entities)))
	facts := make(map[memory.EntityID]*cache.EntityFacts, len(wanted))
	var missing []memory.EntityID
	for _, e := range wanted {
		facts[e] = &cache.EntityFacts{}
		if f := v.cache.EntityFacts(v.bank, e); f != nil {
			facts[e] = f
			continue
		}
		missing = append(missing, e)
	}
	if err := v.factsNaming(missing, facts); err != nil {
		return nil, err
	}
	slices.SortFunc(wanted, func(a, b memory.EntityID) int {
		return cmp.Or(cmp.Compare(facts[a].Live, facts[b].Live), cmp.Compare(a, b))
	})
	wanted = wanted[:min(len(wanted), maxLookedEntities)]
	if lvl > 0 {
		return v.compositesNaming(lvl, wanted)
	}
	var out [][]int64
	for _, e := range wanted {
		nos := make([]int64, len(facts[e].Facts))
		for i, f := range facts[e].Facts {
			nos[i] = f.No
		}
		if len(nos) > 0 {
			out = append(out, nos)
		}
	}
	return out, nil
}

// factsNaming reads the facts of the entities into facts, and caches them.
func (v *view) factsNaming(entities []memory.EntityID, facts map[memory.EntityID]*cache.EntityFacts) error {
	if len(entities) == 0 {
		return nil
	}
	return v.tx.Each("read facts of entities", factsNaming, []any{engine.List(entities), v.bank, cache.EntityLimit}, func(rows *sql.Rows) error {
		var e memory.EntityID
		var list sql.NullString
		f := &cache.EntityFacts{}
		if err := rows.Scan(&e, &f.Live, &list); err != nil {
			return err
		}
		numbers, err := engine.ParseNumbers(list.String)
		for pair := range slices.Chunk(numbers, 2) {
			f.Facts = append(f.Facts, cache.DatedFact{No: pair[0], Said: pair[1]})
		}
		facts[e] = f
		v.cache.PutEntityFacts(v.bank, e, f)
		return err
	})
}

// compositesNaming returns the newest composites of the level that name each entity; nothing for an entity that none
// names.
func (v *view) compositesNaming(lvl int, entities []memory.EntityID) ([][]int64, error) {
	lists := make(map[memory.EntityID][]int64, len(entities))
	var missing []memory.EntityID
	for _, e := range entities {
		nos, cached := v.cache.CompositesNaming(v.bank, e, lvl)
		if lists[e] = nos; !cached {
			missing = append(missing, e)
		}
	}
	if len(missing) > 0 {
		err := v.tx.Each("read composites of entities", compositesNaming, []any{engine.List(missing), v.bank, cache.NamingLimit, lvl}, func(rows *sql.Rows) error {
			var e memory.EntityID
			var list sql.NullString
			if err := rows.Scan(&e, &list); err != nil {
				return err
			}
			nos, err := engine.ParseNumbers(list.String)
			lists[e] = nos[:min(len(nos), cache.EntityLimit)]
			v.cache.PutNaming(v.bank, e, lvl, nos)
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
