package projection

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// storedEntities returns those of the entities that are stored.
func (a *applier) storedEntities(bank int64, list []memory.Entity) (map[memory.EntityID]memory.Entity, error) {
	ids := make([]memory.EntityID, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	var out map[memory.EntityID]memory.Entity
	if a.known != nil {
		out, ids = split(ids, a.known.entities)
	} else {
		out = make(map[memory.EntityID]memory.Entity, len(ids))
	}
	found, err := (&view{tx: a.tx, bank: bank}).Entities(ids)
	for _, e := range found {
		out[e.ID] = e
	}
	return out, err
}

// putEntities stores the whole new state of entities. One that is stored as given costs no write.
func (a *applier) putEntities(bank int64, c memory.Changes) error {
	stored := a.stored.entities
	if len(c.RemovedFacts) > 0 { // which may have taken entities with them
		var err error
		if stored, err = a.storedEntities(bank, c.Entities); err != nil {
			return err
		}
	}
	given := make(map[memory.EntityID]bool, len(c.Entities))
	for _, e := range c.Entities {
		was, known := stored[e.ID]
		delete(stored, e.ID) // given again, it is no longer what was read
		if err := a.putEntity(bank, e, was, known, !known && !given[e.ID]); err != nil {
			return err
		}
		given[e.ID] = true
	}
	return nil
}

// putEntity stores the whole new state of an entity, unless it is known to be stored like this. A new one has no names yet.
func (a *applier) putEntity(bank int64, e, was memory.Entity, known, isNew bool) error {
	name := engine.Text(e.Name)
	aliases := make([]string, 0, len(e.Aliases))
	for _, s := range e.Aliases {
		if s = engine.Text(s); s != name {
			aliases = append(aliases, s)
		}
	}
	slices.Sort(aliases)
	aliases = slices.Compact(aliases)
	if known && was.Type == e.Type && was.Name == name && was.Redirect == e.Redirect && slices.Equal(was.Aliases, aliases) {
		return nil
	}
	const put = `INSERT INTO entities (bank, id, type, name, redirect) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET type = excluded.type, name = excluded.name, redirect = excluded.redirect`
	what, id := fmt.Sprintf("store entity %q", string(e.ID)), engine.Text(string(e.ID))
	if err := a.tx.Exec(what, put, bank, id, string(e.Type), name, engine.TextOrNull(string(e.Redirect))); err != nil {
		return err
	}
	if !isNew {
		if err := a.tx.Exec(what, `DELETE FROM entity_names WHERE bank = ? AND entity = ?`, bank, id); err != nil {
			return err
		}
	}
	const insert = `INSERT INTO entity_names (bank, name, entity, spelling) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	return each(bank, append([]string{name}, aliases...), func(bank int64, s string) error {
		return a.tx.Exec(what, insert, bank, memory.NormalText(s), id, s)
	})
}

// putRelation stores a relation by its ends and type.
func (a *applier) putRelation(bank int64, r memory.Relation) error {
	const put = `INSERT INTO relations (bank, source, target, type, strength, facts) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, source, target, type) DO UPDATE SET strength = excluded.strength, facts = excluded.facts`
	facts, err := engine.JSONList(r.Facts)
	if err != nil {
		return err
	}
	return a.tx.Exec(fmt.Sprintf("store relation %s %s %s", r.From, r.Type, r.To), put,
		bank, engine.Text(r.From), engine.Text(r.To), string(r.Type), r.Strength, facts)
}

// removeRelation deletes a relation by its ends and type.
func (a *applier) removeRelation(bank int64, r memory.Relation) error {
	return a.tx.Exec("remove a relation", `DELETE FROM relations WHERE bank = ? AND source = ? AND target = ? AND type = ?`, bank, r.From, r.To, string(r.Type))
}

// putConflict stores the whole new state of a conflict.
func (a *applier) putConflict(bank int64, x memory.Conflict) error {
	const put = `INSERT INTO conflicts (id, bank, a, b, reason, state, winner, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = excluded.b, reason = excluded.reason, state = excluded.state,
  winner = excluded.winner, version = excluded.version WHERE conflicts.bank = excluded.bank`
	return a.tx.Exec("store conflict "+string(x.ID), put, string(x.ID), bank, string(x.A), string(x.B), engine.Text(x.Reason), string(x.State),
		engine.TextOrNull(string(x.Winner)), int64(x.Version))
}

func (a *applier) removeConflict(bank int64, id memory.ConflictID) error {
	return a.tx.Exec("remove conflict "+string(id), `DELETE FROM conflicts WHERE id = ? AND bank = ?`, string(id), bank)
}

// addUse adds what feedback reported to the counters of a record.
func (a *applier) addUse(bank int64, u memory.Use) error {
	const add = `INSERT INTO uses (bank, record, retrieved, used, success, failure, at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, record) DO UPDATE SET retrieved = uses.retrieved + excluded.retrieved, used = uses.used + excluded.used,
  success = uses.success + excluded.success, failure = uses.failure + excluded.failure,
  at = CASE WHEN excluded.at > uses.at THEN excluded.at ELSE uses.at END`
	return a.tx.Exec("add the use of "+u.ID, add, bank, engine.Text(u.ID), u.Retrieved, u.Used, u.Success, u.Failure, engine.Micros(u.At))
}

// keepUndo keeps what takes an apply back, of the last ones. It holds words, so every forget removes all of it.
func (a *applier) keepUndo(bank int64, w memory.Write, c memory.Changes) error {
	if c.Forgotten != nil {
		return a.tx.Exec("remove the undos", `DELETE FROM undos WHERE bank = ?`, bank)
	}
	if c.Undone != "" {
		return a.tx.Exec("remove an undo", `DELETE FROM undos WHERE bank = ? AND op = ?`, bank, engine.Text(c.Undone))
	}
	if c.Undo == nil {
		return nil
	}
	body, err := engine.JSON(c.Undo)
	if err != nil {
		return fmt.Errorf("write an undo: %w", err)
	}
	if err := a.tx.Exec("keep an undo", `INSERT INTO undos (bank, write, op, body) VALUES (?, ?, ?, ?)`, bank, int64(w.Seq), opOf(w), engine.Text(body)); err != nil {
		return err
	}
	const trim = `DELETE FROM undos WHERE bank = ?1 AND write <= (SELECT write FROM undos WHERE bank = ?1 ORDER BY write DESC LIMIT 1 OFFSET ?2)`
	return a.tx.Exec("remove old undos", trim, bank, memory.MaxUndos)
}
