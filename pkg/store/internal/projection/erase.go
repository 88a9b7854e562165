package projection

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// removeFacts erases facts: rows, words, vectors, sources, and every other row that names them. Entities that nothing
// names any longer are erased too, because their names are words of what was said. Facts that are not stored change
// nothing.
func (a *applier) removeFacts(bank int64, ids []memory.FactID) error {
	if len(ids) == 0 {
		return nil
	}
	var named []memory.EntityID
	stored, err := a.storedFacts(bank, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		entities, err := a.removeFact(bank, id, stored[id])
		if err != nil {
			return fmt.Errorf("remove fact %s: %w", id, err)
		}
		delete(stored, id)
		named = append(named, entities...)
	}
	if err := a.countEntities(bank); err != nil {
		return err
	}
	if err := a.removeFromRelations(bank, ids); err != nil {
		return err
	}
	slices.Sort(named)
	return a.removeUnnamed(bank, slices.Compact(named))
}

// removeFact removes a fact, and returns the entities that it named. One that is not stored changes nothing.
func (a *applier) removeFact(bank int64, id memory.FactID, was factState) ([]memory.EntityID, error) {
	if was.no == 0 {
		return nil, nil
	}
	var entities []memory.EntityID
	if err := engine.FromJSON([]byte(was.entities), &entities); err != nil {
		return nil, err
	}
	a.cache.DropNode(0, was.no)
	a.cache.DropFacts()
	a.cache.PutSources(bank, id, nil)
	if err := a.putFactEntities(bank, nil, was, factState{no: was.no, entities: "[]"}); err != nil {
		return nil, err
	}
	if err := a.putTerms(bank, 0, was.no, was.neighbourText(), ""); err != nil {
		return nil, err
	}
	if err := a.facts.Reindex(a.tx, was.no, bank, []string{was.text, was.grams}, nil); err != nil {
		return nil, err
	}
	if err := a.keepVectors(was.no); err != nil {
		return nil, err
	}
	a.next.removed("facts", was.no)
	a.counter.Went(bank, memory.RecordFact)
	a.counter.Vector(bank, memory.RecordFact, was.no)
	for _, s := range []string{
		`DELETE FROM facts WHERE id = ?1`, // its sources and its vector are removed with it
		`UPDATE facts SET superseded = NULL WHERE superseded = ?1`,
		`UPDATE facts SET merged = NULL WHERE merged = ?1`,
		`DELETE FROM observation_facts WHERE fact = ?1`,
		`DELETE FROM conflicts WHERE a = ?1`,
		`DELETE FROM conflicts WHERE b = ?1`,
	} {
		if err := a.tx.Exec("remove", s, string(id)); err != nil {
			return nil, err
		}
	}
	return entities, schema.RemoveUses(a.tx, bank, string(id))
}

// removeFromRelations removes facts from relations. Relations from or to them are deleted, and so are those that rest on
// nothing else.
func (a *applier) removeFromRelations(bank int64, ids []memory.FactID) error {
	gone := engine.List(ids)
	for _, end := range []string{"source", "target"} {
		ends := `DELETE FROM relations WHERE bank = ?1 AND ` + end + ` IN (SELECT value FROM json_each(?2))`
		if err := a.tx.Exec("remove relations", ends, bank, gone); err != nil {
			return err
		}
	}
	const reduce = `UPDATE relations SET facts = (SELECT json_group_array(j.value ORDER BY j.key) FROM json_each(relations.facts) j
  WHERE j.value NOT IN (SELECT value FROM json_each(?2)))
WHERE bank = ?1 AND EXISTS (SELECT 1 FROM json_each(relations.facts) j WHERE j.value IN (SELECT value FROM json_each(?2)))
RETURNING source, target, type, facts`
	type edge struct{ source, target, typ string }
	var bare []edge
	err := a.tx.Each("reduce relations", reduce, []any{bank, gone}, func(rows *sql.Rows) error {
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
		return a.tx.Exec("remove relation", `DELETE FROM relations WHERE bank = ? AND source = ? AND target = ? AND type = ?`, bank, e.source, e.target, e.typ)
	})
}

// removeUnnamed removes those of the entities that no fact names, under their id or one that redirects to it, with their
// spellings and every row that names them.
func (a *applier) removeUnnamed(bank int64, entities []memory.EntityID) error {
	const named = `SELECT EXISTS (SELECT 1 FROM fact_entities WHERE bank = ?1 AND entity = ?2)
  OR EXISTS (SELECT 1 FROM entities e JOIN fact_entities f ON f.bank = e.bank AND f.entity = e.id WHERE e.bank = ?1 AND e.redirect = ?2)`
	for _, e := range entities {
		a.cache.DropEntityFacts(bank, e)
		a.cache.DropNaming(bank, e)
		var still bool
		if err := a.tx.Get(fmt.Sprintf("look up entity %q", string(e)), named, []any{bank, string(e)}, &still); err != nil {
			return err
		}
		if still {
			continue
		}
		group, err := engine.Column[string](a.tx, "list the names of an entity", `SELECT id FROM entities WHERE bank = ?1 AND (id = ?2 OR redirect = ?2)`, bank, string(e))
		if err != nil {
			return err
		}
		a.unnamed = append(a.unnamed, group...)
		for _, s := range []string{
			`DELETE FROM entity_names WHERE bank = ?1 AND entity IN (SELECT id FROM entities WHERE bank = ?1 AND (id = ?2 OR redirect = ?2))`,
			`DELETE FROM entities WHERE bank = ?1 AND (id = ?2 OR redirect = ?2)`,
			`DELETE FROM relations WHERE bank = ?1 AND source = ?2`,
			`DELETE FROM relations WHERE bank = ?1 AND target = ?2`,
			`DELETE FROM composite_entities WHERE bank = ?1 AND entity = ?2`,
			`DELETE FROM entity_counts WHERE bank = ?1 AND entity = ?2`,
			`DELETE FROM uses WHERE bank = ?1 AND record = ?2`,
		} {
			if err := a.tx.Exec("remove entity", s, bank, string(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// queueAliases queues the erasure of the writes that gave removed entities other names, repeats included: their outcome
// names the entity. What would take an apply back and names one goes at once.
func (a *applier) queueAliases(bank int64, w memory.Write) error {
	if len(a.unnamed) == 0 {
		return nil
	}
	const naming = `DELETE FROM undos WHERE bank = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) g WHERE instr(undos.body, json_quote(g.value)) > 0)`
	if err := a.tx.Exec("remove the undos that name entities", naming, bank, engine.List(a.unnamed)); err != nil {
		return err
	}
	const find = `WITH named(op) AS (SELECT o.op FROM ops o CROSS JOIN json_each(o.outcome, '$.results') k
  WHERE o.bank = ?1 AND k.value ->> '$.id' IN (SELECT value FROM json_each(?2)))
SELECT o.write FROM named JOIN ops o ON o.bank = ?1 AND o.op = named.op
UNION SELECT r.write FROM named JOIN repeats r ON r.bank = ?1 AND r.op = named.op ORDER BY 1`
	writes, err := engine.Column[uint64](a.tx, "find the writes that named entities", find, bank, engine.List(a.unnamed))
	a.unnamed = nil
	if err != nil || len(writes) == 0 {
		return err
	}
	for _, seq := range writes {
		if err := a.queueErasure(w.Bank, w.Op, StreamWrites, seq, false); err != nil {
			return err
		}
	}
	a.trim = writes
	return nil
}

// trimNaming takes the results out of the outcomes of writes that gave removed entities other names. What finds writes
// by the facts of their results runs before it.
func (a *applier) trimNaming(bank int64) error {
	if len(a.trim) == 0 {
		return nil
	}
	const trim = `UPDATE ops SET outcome = json_remove(outcome, '$.results') WHERE bank = ?1 AND write IN (SELECT value FROM json_each(?2))`
	err := a.tx.Exec("trim their outcomes", trim, bank, engine.List(a.trim))
	a.trim = nil
	return err
}

// eraseMessage erases a message event: its row and words are deleted, the event becomes forgotten, and a tombstone keeps
// it from coming back.
func (a *applier) eraseMessage(bank int64, seq uint64) error {
	a.erased = true
	var id, state, session string
	what := fmt.Sprintf("erase message %d", seq)
	const event = `SELECT coalesce(m.id, e.id, ''), e.state, e.session FROM message_events e LEFT JOIN messages m ON m.seq = e.seq WHERE e.seq = ? AND e.bank = ?`
	found, err := a.tx.Find(what, event, []any{int64(seq), bank}, &id, &state, &session)
	if err != nil || !found || state == string(memory.StateForgotten) {
		return err
	}
	if err := a.bury(bank, memory.MessageID(id), seq); err != nil {
		return err
	}
	const forget = `UPDATE message_events SET state = 'forgotten', id = NULL, speaker = NULL WHERE seq = ?`
	if err := a.tx.Exec(what, forget, int64(seq)); err != nil {
		return err
	}
	a.counter.Event(bank, memory.SessionID(session), memory.MessageState(state), memory.StateForgotten)
	return a.eraseMessageRow(bank, seq, what)
}

func (a *applier) eraseMessageRow(bank int64, seq uint64, what string) error {
	const find = `SELECT coalesce(indexed, content), caption, grams, id, replaces FROM messages WHERE seq = ?`
	var content, caption, grams, id, replaces string
	found, err := a.tx.Find(what, find, []any{int64(seq)}, &content, &caption, &grams, &id, &replaces)
	if err != nil || !found {
		return err
	}
	if err := a.messages.Reindex(a.tx, int64(seq), bank, []string{content, caption, grams}, nil); err != nil {
		return err
	}
	if err := a.tx.Exec(what, `DELETE FROM messages WHERE seq = ?`, int64(seq)); err != nil {
		return err
	}
	a.counter.Went(bank, memory.RecordMessage)
	a.counter.Vector(bank, memory.RecordMessage, int64(seq))
	if err := schema.RemoveUses(a.tx, bank, id); err != nil {
		return err
	}
	if err := a.tx.Exec(what, `DELETE FROM replacements WHERE bank = ? AND id = ?`, bank, id); err != nil {
		return err
	}
	return a.restoreReplaced(bank, seq, replaces, what)
}

// restoreReplaced gives the message that an erased one replaced its place back, or to the next that replaces it.
func (a *applier) restoreReplaced(bank int64, by uint64, replaced, what string) error {
	if replaced == "" {
		return nil
	}
	const mark = `UPDATE messages SET replaced = (SELECT min(r.time) FROM messages r
  WHERE r.bank = messages.bank AND r.replaces = messages.id AND r.replaces <> '' AND r.seq > messages.seq)
WHERE bank = ? AND id = ?`
	if err := a.tx.Exec(what, mark, bank, replaced); err != nil {
		return err
	}
	removed, err := a.tx.Changed(what, `DELETE FROM replacements WHERE bank = ? AND id = ? AND by = ?`, bank, replaced, int64(by))
	if err != nil || !removed {
		return err
	}
	const next = `INSERT INTO replacements (bank, id, by, time)
SELECT r.bank, r.replaces, r.seq, r.time FROM messages r
JOIN messages m ON m.bank = r.bank AND m.id = r.replaces AND m.seq < r.seq
JOIN message_events e ON e.seq = r.seq AND e.state NOT IN ('pending', 'dead')
WHERE r.bank = ? AND r.replaces = ? AND r.replaces <> '' ORDER BY r.time, r.seq LIMIT 1`
	return a.tx.Exec(what, next, bank, replaced)
}
