package sqlite

import (
	"database/sql"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// EntitiesNamed gives the entities that bear one of the names as name or
// alias, redirects followed, by id.
func (r *reader) EntitiesNamed(names []string) ([]memory.EntityID, error) {
	folded := make([]string, len(names))
	for i, n := range names {
		folded[i] = memory.NormalText(n)
	}
	found, err := r.texts("look up entities", `SELECT DISTINCT coalesce(e.redirect, n.entity) AS id
FROM json_each(?) j CROSS JOIN entity_names n ON n.bank = ? AND n.name = j.value
LEFT JOIN entities e ON e.bank = n.bank AND e.id = n.entity ORDER BY id`, jsonList(folded), r.bank)
	return entityIDs(found), err
}

// entitiesMeant resolves what an entities filter names: ids, redirects
// followed, or bare names and aliases. What is not known stands as it is.
func (r *reader) entitiesMeant(names []string) ([]memory.EntityID, error) {
	var ids []string
	var bare []string
	for _, n := range names {
		id, err := memory.ParseEntityID("entities", n)
		if err != nil {
			return nil, err
		}
		ids = append(ids, string(id))
		if typ, _, found := strings.Cut(n, ":"); !found || !memory.EntityType(strings.ToLower(typ)).Known() {
			bare = append(bare, n)
		}
	}
	found, err := r.texts("follow entities", `SELECT DISTINCT coalesce(e.redirect, j.value) AS id
FROM json_each(?) j LEFT JOIN entities e ON e.bank = ? AND e.id = j.value ORDER BY id`, jsonList(ids), r.bank)
	if err != nil || len(bare) == 0 {
		return entityIDs(found), err
	}
	more, err := r.EntitiesNamed(bare)
	return append(entityIDs(found), more...), err
}

func entityIDs(list []string) []memory.EntityID {
	out := make([]memory.EntityID, len(list))
	for i, s := range list {
		out[i] = memory.EntityID(s)
	}
	return out
}

// Relations gives up to limit relations from or to one of the records, the
// strongest first, ties by their ends.
func (r *reader) Relations(ids []string, limit int) ([]memory.Relation, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	const find = `SELECT source, target, type, strength, facts FROM (
  SELECT e.* FROM json_each(?1) j CROSS JOIN relations e ON e.bank = ?2 AND e.source = j.value
  UNION SELECT e.* FROM json_each(?1) j CROSS JOIN relations e INDEXED BY relations_target ON e.bank = ?2 AND e.target = j.value
) ORDER BY strength DESC, source, target, type LIMIT ?3`
	var out []memory.Relation
	err := r.scanAll("read relations", find, []any{jsonList(ids), r.bank, limit}, func(rows *sql.Rows) error {
		var e memory.Relation
		var facts []byte
		if err := rows.Scan(&e.From, &e.To, &e.Type, &e.Strength, &facts); err != nil {
			return err
		}
		err := fromJSON(facts, &e.Facts)
		out = append(out, e)
		return err
	})
	return out, err
}

// Uses gives what feedback reported of records, by id.
func (r *reader) Uses(ids []string) ([]memory.Use, error) {
	const find = `SELECT u.record, u.retrieved, u.used, u.success, u.failure, u.at
FROM json_each(?) j CROSS JOIN uses u ON u.bank = ? AND u.record = j.value ORDER BY u.record`
	var out []memory.Use
	err := r.scanAll("read uses", find, []any{jsonList(ids), r.bank}, func(rows *sql.Rows) error {
		var u memory.Use
		var at int64
		err := rows.Scan(&u.ID, &u.Retrieved, &u.Used, &u.Success, &u.Failure, &at)
		u.At = fromMicros(at)
		out = append(out, u)
		return err
	})
	return out, err
}

// OpenConflicts gives up to limit open conflicts one of the facts is party to, by id.
func (r *reader) OpenConflicts(ids []memory.FactID, limit int) ([]memory.Conflict, error) {
	return r.conflicts(`SELECT id, a, b, reason, state, coalesce(winner, ''), version FROM conflicts
WHERE bank = ?2 AND state = 'open' AND (a IN (SELECT value FROM json_each(?1)) OR b IN (SELECT value FROM json_each(?1)))
ORDER BY id LIMIT ?3`, jsonList(ids), r.bank, limit)
}

// Conflicts gives up to limit conflicts in a state ("" = all), by id.
func (r *reader) Conflicts(state memory.ConflictState, from query.Place, limit int) ([]memory.Conflict, query.Place, error) {
	list, err := r.conflicts(`SELECT id, a, b, reason, state, coalesce(winner, ''), version FROM conflicts
WHERE bank = ?1 AND (?2 = '' OR state = ?2) AND id > ?3 ORDER BY id LIMIT ?4`, r.bank, string(state), from.ID, limit+1)
	if err != nil || len(list) <= limit {
		return list, query.Place{}, err
	}
	list = list[:limit]
	return list, query.Place{ID: string(list[limit-1].ID)}, nil
}

func (r *reader) conflicts(sqlText string, args ...any) ([]memory.Conflict, error) {
	var out []memory.Conflict
	err := r.scanAll("read conflicts", sqlText, args, func(rows *sql.Rows) error {
		var c memory.Conflict
		err := rows.Scan(&c.ID, &c.A, &c.B, &c.Reason, &c.State, &c.Winner, &c.Version)
		out = append(out, c)
		return err
	})
	return out, err
}

// Entities gives up to limit entities of a type whose name or alias holds match.
func (r *reader) Entities(typ memory.EntityType, match string, from query.Place, limit int) ([]memory.Entity, query.Place, error) {
	const find = `SELECT e.id, e.type, e.name,
  (SELECT json_group_array(spelling) FROM (SELECT DISTINCT n.spelling FROM entity_names n
    WHERE n.bank = e.bank AND n.entity = e.id AND n.spelling <> e.name ORDER BY n.spelling)),
  (SELECT count(*) FROM fact_entities k JOIN facts f ON f.no = k.fact WHERE k.bank = e.bank AND k.entity = e.id AND f.live = 1)
FROM entities e WHERE e.bank = ?1 AND e.redirect IS NULL AND (?2 = '' OR e.type = ?2) AND e.id > ?3
AND (?4 = '' OR EXISTS (SELECT 1 FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id AND instr(n.name, ?4) > 0))
ORDER BY e.id LIMIT ?5`
	var out []memory.Entity
	args := []any{r.bank, string(typ), from.ID, memory.NormalText(match), limit + 1}
	err := r.scanAll("list entities", find, args, func(rows *sql.Rows) error {
		var e memory.Entity
		var aliases []byte
		if err := rows.Scan(&e.ID, &e.Type, &e.Name, &aliases, &e.Facts); err != nil {
			return err
		}
		err := fromJSON(aliases, &e.Aliases)
		out = append(out, e)
		return err
	})
	if err != nil || len(out) <= limit {
		return out, query.Place{}, err
	}
	out = out[:limit]
	return out, query.Place{ID: string(out[limit-1].ID)}, nil
}

// Naming gives up to limit facts that name one of the entities, newest said first.
func (r *reader) Naming(entities []memory.EntityID, limit int) ([]int64, error) {
	args := append([]any{jsonList(entities), r.bank}, r.filter.factArgs...)
	return r.numbers("find facts by entity", `SELECT DISTINCT f.no FROM json_each(?) j CROSS JOIN fact_entities n ON n.entity = j.value
CROSS JOIN facts f ON f.no = n.fact WHERE n.bank = ? AND `+r.filter.facts+` ORDER BY f.said DESC, f.no LIMIT ?`, append(args, limit)...)
}

// NamingEach gives up to limit facts that name an entity, newest said first, for
// each of the entities.
func (r *reader) NamingEach(entities []memory.EntityID, limit int) (map[memory.EntityID][]int64, error) {
	out := make(map[memory.EntityID][]int64, len(entities))
	if len(entities) == 0 {
		return out, nil
	}
	naming, args := `SELECT n.fact AS no FROM fact_entities n WHERE n.bank = ? AND n.entity = j.value AND n.live = 1 ORDER BY n.said DESC, n.fact`, []any{r.bank}
	if !r.filter.plain {
		naming = `SELECT f.no FROM fact_entities n CROSS JOIN facts f ON f.no = n.fact WHERE n.bank = ? AND n.entity = j.value AND ` + r.filter.facts + ` ORDER BY f.said DESC, f.no`
		args = append(args, r.filter.factArgs...)
	}
	find := "SELECT j.value, (SELECT group_concat(no, ' ') FROM (" + naming + " LIMIT ?)) FROM json_each(?) j"
	err := r.many("find facts by entity", 2, find, append(args, limit, jsonList(entities)), func(row *rowset) (err error) {
		e := memory.EntityID(row.text())
		out[e], err = parseNumbers(row.text())
		return err
	})
	return out, err
}
