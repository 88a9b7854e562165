package search

import (
	"database/sql"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// EntitiesNamed returns the entities that have one of the names as name or alias, by id. It follows redirects.
func (r *Reader) EntitiesNamed(names []string) ([]memory.EntityID, error) {
	normal := make([]string, len(names))
	for i, n := range names {
		normal[i] = memory.NormalText(n)
	}
	return engine.Column[memory.EntityID](r.tx, "look up entities", `SELECT DISTINCT coalesce(e.redirect, n.entity) AS id
FROM json_each(?) j CROSS JOIN entity_names n ON n.bank = ? AND n.name = j.value
LEFT JOIN entities e ON e.bank = n.bank AND e.id = n.entity ORDER BY id`, engine.List(normal), r.bank)
}

// Spellings returns the names and aliases of entities as they are written, sorted.
func (r *Reader) Spellings(entities []memory.EntityID) ([]string, error) {
	return engine.Column[string](r.tx, "look up the names of entities", `SELECT DISTINCT n.spelling
FROM json_each(?) j CROSS JOIN entity_names n ON n.bank = ? AND n.entity = j.value ORDER BY 1`, engine.List(entities), r.bank)
}

// PeopleBeginning returns, up to limit names of persons that go on behind one of the beginnings, by beginning and name.
func (r *Reader) PeopleBeginning(beginnings []string, limit int) ([]recall.NamedPerson, error) {
	if len(beginnings) == 0 {
		return nil, nil
	}
	var out []recall.NamedPerson
	err := r.tx.Batch("look up people", 3, findPeople, []any{engine.List(beginnings), r.bank, limit}, func(row *engine.Rowset) error {
		out = append(out, recall.NamedPerson{Beginning: row.Text(), Name: row.Text(), ID: memory.EntityID(row.Text())})
		return nil
	})
	return out, err
}

// findPeople keeps SQLite, by its plus signs, from the index of entities: it would read every person of the bank for each
// beginning.
const findPeople = `SELECT j.value, n.name, coalesce(e.redirect, n.entity) FROM json_each(?) j
CROSS JOIN entity_names n ON n.bank = ? AND n.name > j.value AND n.name < j.value || char(1114111)
LEFT JOIN entities e ON e.bank = n.bank AND e.id = n.entity
WHERE +n.entity >= 'person:' AND +n.entity < 'person;' ORDER BY 1, 2, 3 LIMIT ?`

// resolveEntities resolves what a filter by entity names: ids, or bare names and aliases. It follows redirects. An id
// that is not stored is kept as it is.
func (r *Reader) resolveEntities(names []string) ([]memory.EntityID, error) {
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
	found, err := engine.Column[memory.EntityID](r.tx, "follow entities", `SELECT DISTINCT coalesce(e.redirect, j.value) AS id
FROM json_each(?) j LEFT JOIN entities e ON e.bank = ? AND e.id = j.value ORDER BY id`, engine.List(ids), r.bank)
	if err != nil || len(bare) == 0 {
		return found, err
	}
	more, err := r.EntitiesNamed(bare)
	return append(found, more...), err
}

// Relations returns up to limit relations from or to one of the records, the strongest first, ties by their ends.
func (r *Reader) Relations(ids []string, limit int) ([]memory.Relation, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	const find = `SELECT source, target, type, strength, facts FROM (
  SELECT e.* FROM json_each(?1) j CROSS JOIN relations e ON e.bank = ?2 AND e.source = j.value
  UNION SELECT e.* FROM json_each(?1) j CROSS JOIN relations e INDEXED BY relations_target ON e.bank = ?2 AND e.target = j.value
) ORDER BY strength DESC, source, target, type LIMIT ?3`
	return engine.All(r.tx, "read relations", find, []any{engine.List(ids), r.bank, limit}, func(rows *sql.Rows) (e memory.Relation, err error) {
		var facts []byte
		if err = rows.Scan(&e.From, &e.To, &e.Type, &e.Strength, &facts); err == nil {
			err = engine.FromJSON(facts, &e.Facts)
		}
		return e, err
	})
}

// Uses returns what feedback reported of records, by id.
func (r *Reader) Uses(ids []string) ([]memory.Use, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	const find = `SELECT u.record, u.retrieved, u.used, u.success, u.failure, u.at
FROM json_each(?) j CROSS JOIN uses u ON u.bank = ? AND u.record = j.value ORDER BY u.record`
	return engine.All(r.tx, "read uses", find, []any{engine.List(ids), r.bank}, func(rows *sql.Rows) (u memory.Use, err error) {
		var at int64
		err = rows.Scan(&u.ID, &u.Retrieved, &u.Used, &u.Success, &u.Failure, &at)
		u.At = engine.Time(at)
		return u, err
	})
}

// OpenConflicts returns up to limit open conflicts that one of the facts is party to, by id.
func (r *Reader) OpenConflicts(ids []memory.FactID, limit int) ([]memory.Conflict, error) {
	return r.conflicts(`x.bank = ?2 AND x.state = 'open' AND (x.a IN (SELECT value FROM json_each(?1)) OR x.b IN (SELECT value FROM json_each(?1)))
ORDER BY x.id LIMIT ?3`, engine.List(ids), r.bank, limit)
}

// Conflicts returns up to limit conflicts in a state ("" = all), by id, and the place after the last.
func (r *Reader) Conflicts(state memory.ConflictState, from query.Position, limit int) ([]memory.Conflict, query.Position, error) {
	list, err := r.conflicts(`x.bank = ?1 AND (?2 = '' OR x.state = ?2) AND x.id > ?3 ORDER BY x.id LIMIT ?4`, r.bank, string(state), from.ID, limit+1)
	list, last := page(list, limit)
	return list, query.Position{ID: string(last.ID)}, err
}

func (r *Reader) conflicts(where string, args ...any) ([]memory.Conflict, error) {
	return engine.All(r.tx, "read conflicts", `SELECT `+schema.ConflictColumns+` FROM conflicts x WHERE `+where, args, schema.ScanConflict)
}

// Entities returns up to limit entities of a type ("" = all) whose name or alias contains match, by id, and the place
// after the last.
func (r *Reader) Entities(typ memory.EntityType, match string, from query.Position, limit int) ([]memory.Entity, query.Position, error) {
	const find = `SELECT e.id, e.type, e.name,
  (SELECT json_group_array(spelling) FROM (SELECT DISTINCT n.spelling FROM entity_names n
    WHERE n.bank = e.bank AND n.entity = e.id AND n.spelling <> e.name ORDER BY n.spelling)),
  (SELECT count(*) FROM fact_entities k JOIN facts f ON f.no = k.fact WHERE k.bank = e.bank AND k.entity = e.id AND f.live = 1)
FROM entities e WHERE e.bank = ?1 AND e.redirect IS NULL AND (?2 = '' OR e.type = ?2) AND e.id > ?3
AND (?4 = '' OR EXISTS (SELECT 1 FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id AND instr(n.name, ?4) > 0))
ORDER BY e.id LIMIT ?5`
	args := []any{r.bank, string(typ), from.ID, memory.NormalText(match), limit + 1}
	list, err := engine.All(r.tx, "list entities", find, args, func(rows *sql.Rows) (e memory.Entity, err error) {
		var aliases []byte
		if err = rows.Scan(&e.ID, &e.Type, &e.Name, &aliases, &e.Facts); err == nil {
			err = engine.FromJSON(aliases, &e.Aliases)
		}
		return e, err
	})
	list, last := page(list, limit)
	return list, query.Position{ID: string(last.ID)}, err
}

// Naming returns up to limit facts that name one of the entities, the latest said first.
func (r *Reader) Naming(entities []memory.EntityID, limit int) ([]int64, error) {
	args := append([]any{engine.List(entities), r.bank}, r.filter.Facts.Args...)
	return r.tx.Numbers("find facts by entity", `SELECT no FROM (SELECT DISTINCT f.no, f.said FROM json_each(?) j CROSS JOIN fact_entities n ON n.entity = j.value
CROSS JOIN facts f ON f.no = n.fact WHERE n.bank = ? AND `+r.filter.Facts.SQL+`) ORDER BY said DESC, no LIMIT ?`, append(args, limit)...)
}

// NamingEach returns, for each of the entities, up to limit facts that name it, the latest said first.
func (r *Reader) NamingEach(entities []memory.EntityID, limit int) (map[memory.EntityID][]int64, error) {
	out := make(map[memory.EntityID][]int64, len(entities))
	if len(entities) == 0 {
		return out, nil
	}
	naming, args := `SELECT n.fact AS no FROM fact_entities n WHERE n.bank = ? AND n.entity = j.value AND n.live = 1 ORDER BY n.said DESC, n.fact`, []any{r.bank}
	if !r.filter.Plain {
		naming = `SELECT f.no FROM fact_entities n CROSS JOIN facts f ON f.no = n.fact WHERE n.bank = ? AND n.entity = j.value AND ` + r.filter.Facts.SQL + ` ORDER BY f.said DESC, f.no`
		args = append(args, r.filter.Facts.Args...)
	}
	find := "SELECT j.value, (SELECT group_concat(no, ' ') FROM (" + naming + " LIMIT ?)) FROM json_each(?) j"
	err := r.tx.Batch("find facts by entity", 2, find, append(args, limit, engine.List(entities)), func(row *engine.Rowset) (err error) {
		e := memory.EntityID(row.Text())
		out[e], err = engine.ParseNumbers(row.Text())
		return err
	})
	return out, err
}
