package sqlite

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// putEntity stores the whole new state of an entity. One that is stored as
// given costs two reads and no write.
func (a *applier) putEntity(bank int64, e memory.Entity) error {
	was, err := (&view{ctx: a.ctx, tx: a.tx, bank: bank}).Entities([]memory.EntityID{e.ID})
	if err != nil {
		return err
	}
	name := text(e.Name)
	aliases := make([]string, 0, len(e.Aliases))
	for _, s := range e.Aliases {
		if s = text(s); s != name {
			aliases = append(aliases, s)
		}
	}
	slices.Sort(aliases)
	aliases = slices.Compact(aliases)
	if len(was) == 1 && was[0].Type == e.Type && was[0].Name == name && was[0].Redirect == e.Redirect && slices.Equal(was[0].Aliases, aliases) {
		return nil
	}
	const put = `INSERT INTO entities (bank, id, type, name, redirect) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET type = excluded.type, name = excluded.name, redirect = excluded.redirect`
	what := fmt.Sprintf("store entity %q", string(e.ID))
	if err := a.exec(what, put, bank, text(string(e.ID)), string(e.Type), name, orNull(string(e.Redirect))); err != nil {
		return err
	}
	if err := a.exec(what, `DELETE FROM entity_names WHERE bank = ? AND entity = ?`, bank, text(string(e.ID))); err != nil {
		return err
	}
	const insert = `INSERT INTO entity_names (bank, name, entity, spelling) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	return each(bank, append([]string{name}, aliases...), func(bank int64, s string) error {
		return a.exec(what, insert, bank, memory.NormalText(s), text(string(e.ID)), s)
	})
}

// putRelation stores a relation by its ends and type.
func (a *applier) putRelation(bank int64, r memory.Relation) error {
	const put = `INSERT INTO relations (bank, source, target, type, strength, facts) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, source, target, type) DO UPDATE SET strength = excluded.strength, facts = excluded.facts`
	facts, err := listJSON(r.Facts)
	if err != nil {
		return err
	}
	return a.exec(fmt.Sprintf("store relation %s %s %s", r.From, r.Type, r.To), put,
		bank, text(r.From), text(r.To), string(r.Type), r.Strength, facts)
}

// putConflict stores the whole new state of a conflict.
func (a *applier) putConflict(bank int64, x memory.Conflict) error {
	const put = `INSERT INTO conflicts (id, bank, a, b, reason, state, winner, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = excluded.b, reason = excluded.reason, state = excluded.state,
  winner = excluded.winner, version = excluded.version WHERE conflicts.bank = excluded.bank`
	return a.exec("store conflict "+string(x.ID), put, string(x.ID), bank, string(x.A), string(x.B), text(x.Reason), string(x.State),
		orNull(string(x.Winner)), int64(x.Version))
}

func (a *applier) removeConflict(bank int64, id memory.ConflictID) error {
	return a.exec("remove conflict "+string(id), `DELETE FROM conflicts WHERE id = ? AND bank = ?`, string(id), bank)
}

// dropUses forgets what is known of the use of a record that is no more.
func (a *applier) dropUses(bank int64, record string) error {
	return a.exec("remove the uses of "+record, `DELETE FROM uses WHERE bank = ? AND record = ?`, bank, text(record))
}

// addUse adds what feedback reported to what is known of a record.
func (a *applier) addUse(bank int64, u memory.Use) error {
	const add = `INSERT INTO uses (bank, record, retrieved, used, success, failure, at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, record) DO UPDATE SET retrieved = retrieved + excluded.retrieved, used = used + excluded.used,
  success = success + excluded.success, failure = failure + excluded.failure, at = max(at, excluded.at)`
	return a.exec("add the use of "+u.ID, add, bank, text(u.ID), u.Retrieved, u.Used, u.Success, u.Failure, micros(u.At))
}
