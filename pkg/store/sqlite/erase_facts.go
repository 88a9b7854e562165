package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// removeFacts erases facts: rows, words, vectors, sources, and every other row
// that names them. Entities that nothing names any more go too, for their names
// are words of what was said. Facts that are not there change nothing.
func (a *applier) removeFacts(bank int64, ids []memory.FactID) error {
	if len(ids) == 0 {
		return nil
	}
	var named []memory.EntityID
	for _, id := range ids {
		entities, err := a.removeFact(bank, id)
		if err != nil {
			return fmt.Errorf("remove fact %s: %w", id, err)
		}
		named = append(named, entities...)
	}
	if err := a.forgetSupport(bank, ids); err != nil {
		return err
	}
	slices.Sort(named)
	return a.dropUnnamed(bank, slices.Compact(named))
}

func (a *applier) removeFact(bank int64, id memory.FactID) ([]memory.EntityID, error) {
	const find = `SELECT no, text, grams, entities, live, said FROM facts WHERE id = ? AND bank = ?`
	var was factBefore
	err := a.tx.QueryRowContext(a.ctx, find, string(id), bank).Scan(&was.no, &was.text, &was.grams, &was.entities, &was.live, &was.said)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entities []memory.EntityID
	if err := fromJSON([]byte(was.entities), &entities); err != nil {
		return nil, err
	}
	a.memo.dropNode(0, was.no)
	if err := a.putFactEntities(bank, nil, was, factBefore{no: was.no, entities: "[]"}); err != nil {
		return nil, err
	}
	if err := a.putTerms(bank, 0, was.no, was.indexed(), ""); err != nil {
		return nil, err
	}
	if err := a.unindex("facts_fts", was.no, bank, was.text, was.grams); err != nil {
		return nil, err
	}
	for _, s := range []string{
		`DELETE FROM facts WHERE id = ?1`, // its sources and vector go with it
		`UPDATE facts SET superseded = NULL WHERE superseded = ?1`,
		`UPDATE facts SET merged = NULL WHERE merged = ?1`,
		`DELETE FROM observation_facts WHERE fact = ?1`,
		`DELETE FROM conflicts WHERE a = ?1`,
		`DELETE FROM conflicts WHERE b = ?1`,
	} {
		if err := a.exec("remove", s, string(id)); err != nil {
			return nil, err
		}
	}
	return entities, a.dropUses(bank, string(id))
}

// forgetSupport takes facts out of relations: those from or to them go, and so
// do those that rest on nothing else.
func (a *applier) forgetSupport(bank int64, ids []memory.FactID) error {
	gone := jsonList(ids)
	for _, end := range []string{"source", "target"} {
		ends := `DELETE FROM relations WHERE bank = ?1 AND ` + end + ` IN (SELECT value FROM json_each(?2))`
		if err := a.exec("remove relations", ends, bank, gone); err != nil {
			return err
		}
	}
	const lessen = `UPDATE relations SET facts = (SELECT json_group_array(j.value ORDER BY j.key) FROM json_each(relations.facts) j
  WHERE j.value NOT IN (SELECT value FROM json_each(?2)))
WHERE bank = ?1 AND EXISTS (SELECT 1 FROM json_each(relations.facts) j WHERE j.value IN (SELECT value FROM json_each(?2)))
RETURNING source, target, type, facts`
	type edge struct{ source, target, typ string }
	var bare []edge
	err := a.rows("lessen relations", lessen, []any{bank, gone}, func(rows *sql.Rows) error {
		var e edge
		var left string
		err := rows.Scan(&e.source, &e.target, &e.typ, &left)
		if left == "[]" {
			bare = append(bare, e)
		}
		return err
	})
	if err != nil {
		return err
	}
	return each(bank, bare, func(bank int64, e edge) error {
		return a.exec("remove relation", `DELETE FROM relations WHERE bank = ? AND source = ? AND target = ? AND type = ?`, bank, e.source, e.target, e.typ)
	})
}

// dropUnnamed removes those of the entities that no fact names, under this id
// or one that redirects to it: with their spellings, and every row that names them.
func (a *applier) dropUnnamed(bank int64, entities []memory.EntityID) error {
	const named = `SELECT EXISTS (SELECT 1 FROM fact_entities WHERE bank = ?1 AND entity = ?2)
  OR EXISTS (SELECT 1 FROM entities e JOIN fact_entities f ON f.bank = e.bank AND f.entity = e.id WHERE e.bank = ?1 AND e.redirect = ?2)`
	for _, e := range entities {
		a.memo.dropEntities(bank, e)
		a.memo.dropNamings(bank, []memory.EntityID{e})
		var still bool
		if err := a.tx.QueryRowContext(a.ctx, named, bank, string(e)).Scan(&still); err != nil {
			return fmt.Errorf("look up entity %q: %w", string(e), err)
		}
		if still {
			continue
		}
		for _, s := range []string{
			`DELETE FROM entity_names WHERE bank = ?1 AND entity IN (SELECT id FROM entities WHERE bank = ?1 AND (id = ?2 OR redirect = ?2))`,
			`DELETE FROM entities WHERE bank = ?1 AND (id = ?2 OR redirect = ?2)`,
			`DELETE FROM relations WHERE bank = ?1 AND source = ?2`,
			`DELETE FROM relations WHERE bank = ?1 AND target = ?2`,
			`DELETE FROM composite_entities WHERE bank = ?1 AND entity = ?2`,
			`DELETE FROM entity_counts WHERE bank = ?1 AND entity = ?2`,
			`DELETE FROM uses WHERE bank = ?1 AND record = ?2`,
		} {
			if err := a.exec("remove entity", s, bank, string(e)); err != nil {
				return err
			}
		}
	}
	return nil
}
