package projection

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// beforeForget returns the writes that hold text of what is about to be erased, ascending.
func (a *applier) beforeForget(bank int64, f *memory.Forgotten) ([]textWrite, error) {
	if f == nil {
		return nil, nil
	}
	writes, err := a.writesOf(bank, f)
	if err != nil || f.Bank {
		return writes, err
	}
	late, err := a.vectorWritesOf(bank, f)
	known := make(map[uint64]bool, len(writes))
	for _, h := range writes {
		known[h.write] = true
	}
	for _, l := range late {
		if !known[l.write] {
			writes = append(writes, l)
		}
	}
	return writes, err
}

// forget erases what a plan found to be forgotten, and queues the erasure of the stream events that hold its text:
// message events, dead letters about them, and writes.
func (a *applier) forget(bank int64, w memory.Write, f *memory.Forgotten, writes []textWrite) error {
	if f == nil {
		return nil
	}
	if f.Receipt == nil {
		f.Receipt = &memory.Receipt{}
	}
	for _, seq := range f.Messages {
		events, err := a.queueMessage(w, bank, seq)
		if err != nil {
			return err
		}
		f.Receipt.Events += events
		if err := a.eraseMessage(bank, seq); err != nil {
			return err
		}
	}
	for _, seq := range f.Late {
		if err := a.queueErasure(w.Bank, w.Op, StreamMessages, seq, false); err != nil {
			return err
		}
		if err := a.eraseMessage(bank, seq); err != nil {
			return err
		}
	}
	if err := a.removeFacts(bank, f.Facts); err != nil {
		return err
	}
	for _, h := range writes {
		if err := a.queueErasure(w.Bank, w.Op, StreamWrites, h.write, f.Bank); err != nil {
			return err
		}
		rewritten, err := a.rewritten(bank, h, f.Bank)
		if err != nil {
			return err
		}
		f.Receipt.Events++
		f.Receipt.Rewritten += rewritten
	}
	if err := a.trimOutcomes(bank, f, writes); err != nil {
		return err
	}
	if f.Bank {
		if err := a.eraseBank(w.Bank, bank, f.Upto); err != nil {
			return err
		}
	}
	return a.queueLast(w)
}

// trimOutcomes removes what erased writes told of forgotten facts and of refused ones from their outcomes: a key, for
// instance, is a word of the caller. What is left is what the rest of such a write gives in a rebuild.
func (a *applier) trimOutcomes(bank int64, f *memory.Forgotten, writes []textWrite) error {
	if f.Bank || len(writes) == 0 {
		return nil
	}
	list := make([]uint64, len(writes))
	for i, h := range writes {
		list[i] = h.write
	}
	type row struct {
		write   int64
		outcome memory.WriteOutcome
	}
	const find = `SELECT o.write, o.outcome FROM json_each(?2) j CROSS JOIN ops o ON o.write = j.value WHERE o.bank = ?1 AND o.outcome ->> '$.results' IS NOT NULL`
	rows, err := engine.All(a.tx, "read the outcomes of erased writes", find, []any{bank, engine.List(list)}, func(rows *sql.Rows) (r row, err error) {
		var raw []byte
		if err = rows.Scan(&r.write, &raw); err == nil {
			err = engine.FromJSON(raw, &r.outcome)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, id := range f.Facts {
		gone[string(id)] = true
	}
	for _, r := range rows {
		r.outcome.Results = slices.DeleteFunc(r.outcome.Results, func(x memory.WriteResult) bool {
			return x.Outcome == memory.OutcomeRefused || gone[x.ID]
		})
		if len(r.outcome.Results) == 0 { // of an edit
			r.outcome.Version = 0
		}
		raw, err := schema.OutcomeJSON(r.outcome)
		if err != nil {
			return err
		}
		if err := a.tx.Exec("trim an outcome", `UPDATE ops SET outcome = ? WHERE write = ?`, raw, r.write); err != nil {
			return err
		}
	}
	return nil
}

// queueLast queues what follows when all else that a forget erases is erased: the dead letters about it, and the
// forget's own event, which names a speaker.
func (a *applier) queueLast(w memory.Write) error {
	if w.Forget == nil {
		return nil
	}
	return a.queueErasure(w.Bank, w.Op, StreamWrites, w.Seq, false)
}

// queueMessage queues the erasure of a message event. It returns how many events that is with the dead letter about it,
// which goes with those of the other messages (queueLast).
func (a *applier) queueMessage(w memory.Write, bank int64, seq uint64) (int, error) {
	var state string
	found, err := a.tx.Find(fmt.Sprintf("look up message event %d", seq), `SELECT state FROM message_events WHERE seq = ? AND bank = ?`,
		[]any{int64(seq), bank}, &state)
	if err != nil || !found {
		return 0, err
	}
	if err := a.queueErasure(w.Bank, w.Op, StreamMessages, seq, false); err != nil || state != string(memory.StateDead) {
		return 1, err
	}
	return 2, nil
}

func (a *applier) queueErasure(bank memory.BankID, op, stream string, seq uint64, whole bool) error {
	return a.tx.Exec(fmt.Sprintf("queue the erasure of %s %d", stream, seq),
		`INSERT INTO erasures (bank, stream, seq, op, whole) VALUES (?, ?, ?, ?, ?)`, string(bank), stream, int64(seq), op, whole)
}

// rewritten returns 1 for a write of which a rest is appended again: it ends a window, or other records of it remain.
// What is forgotten is erased by now.
func (a *applier) rewritten(bank int64, h textWrite, whole bool) (int, error) {
	switch {
	case whole || h.vectors && !h.rest:
		return 0, nil
	case h.window || h.vectors:
		return 1, nil
	}
	const find = `SELECT EXISTS (SELECT 1 FROM ops o CROSS JOIN json_each(o.outcome, '$.results') r JOIN facts f ON f.id = r.value ->> '$.id'
  WHERE o.write = ?1 AND o.bank = ?2 AND r.value ->> '$.outcome' NOT IN ('updated', 'refused'))
OR EXISTS (SELECT 1 FROM ops o CROSS JOIN json_each(o.outcome, '$.observations') r JOIN observations b ON b.id = r.value WHERE o.write = ?1 AND o.bank = ?2)`
	var stays bool
	if err := a.tx.Get(fmt.Sprintf("look what stays of write %d", h.write), find, []any{int64(h.write), bank}, &stays); err != nil || !stays {
		return 0, err
	}
	return 1, nil
}

// eraseBank erases what is left of a bank, but for the message events behind a sequence, which make it anew. Without any
// it no longer exists. Tombstones stay, which name sequences alone so that another bank of the name can use its ids, and
// hashes of ops without their outcomes, so that neither a message nor a write of it comes back.
func (a *applier) eraseBank(id memory.BankID, bank int64, upto uint64) error {
	clear(a.next)
	if err := a.db.schema.EraseBank(a.tx, a.counter, bank, upto); err != nil {
		return err
	}
	if err := a.hashOps(id, bank); err != nil {
		return err
	}
	const free = `UPDATE tombstones SET id = 'seq:' || seq WHERE bank = ? AND seq <= ?
AND NOT EXISTS (SELECT 1 FROM tombstones o WHERE o.bank = tombstones.bank AND o.seq = tombstones.seq AND (o.id < tombstones.id OR o.id = 'seq:' || o.seq))`
	if err := a.tx.Exec("free the ids of the bank", free, bank, int64(upto)); err != nil {
		return err
	}
	const reset = `UPDATE banks SET profile = '', version = 0, consolidated = 0, observed = 0, written = 0 WHERE no = ?`
	if err := a.tx.Exec("erase the bank's profile", reset, bank); err != nil {
		return err
	}
	delete(a.made, id)
	if row := a.banks[id]; row != nil {
		row.profile = nil
	}
	var first sql.NullInt64
	if err := a.tx.Get("look for later messages", `SELECT min(stored) FROM message_events WHERE bank = ?`, []any{bank}, &first); err != nil || !first.Valid {
		return err
	}
	_, err := a.makeBank(id, engine.Time(first.Int64))
	return err
}

// hashOps replaces the ops of a bank by their hashes, because an op is a word of its caller, and empties their outcomes.
func (a *applier) hashOps(id memory.BankID, bank int64) error {
	for _, table := range []string{"ops", "repeats"} {
		ops, err := engine.Column[string](a.tx, "list "+table, `SELECT DISTINCT op FROM `+table+` WHERE bank = ?`, bank)
		if err != nil {
			return err
		}
		for _, op := range ops {
			if err := a.tx.Exec("hash "+table, `UPDATE `+table+` SET op = ? WHERE bank = ? AND op = ?`, memory.HashedOp(id, op), bank, op); err != nil {
				return err
			}
		}
	}
	return a.tx.Exec("empty the bank's outcomes", `UPDATE ops SET outcome = '{}' WHERE bank = ?`, bank)
}

// vectorWritesOf returns the writes that hold late vectors of what is forgotten, ascending, and deletes the notes about
// them: what is left of such a write is appended again, and noted again.
func (a *applier) vectorWritesOf(bank int64, f *memory.Forgotten) ([]textWrite, error) {
	const find = `SELECT DISTINCT write FROM vector_events WHERE bank = ?1
AND id IN (SELECT value FROM json_each(?2) UNION SELECT CAST(value AS TEXT) FROM json_each(?3)) ORDER BY write`
	facts, messages := engine.List(f.Facts), engine.List(f.Messages)
	out, err := engine.All(a.tx, "find the writes that hold its vectors", find, []any{bank, facts, messages}, func(rows *sql.Rows) (textWrite, error) {
		h := textWrite{vectors: true}
		err := rows.Scan(&h.write)
		return h, err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		const others = `SELECT EXISTS (SELECT 1 FROM vector_events WHERE write = ?1 AND bank = ?2
AND id NOT IN (SELECT value FROM json_each(?3) UNION SELECT CAST(value AS TEXT) FROM json_each(?4)))`
		write := int64(out[i].write)
		if err := a.tx.Get("look for other vectors", others, []any{write, bank, facts, messages}, &out[i].rest); err != nil {
			return nil, err
		}
		if err := a.tx.Exec("delete the notes on late vectors", `DELETE FROM vector_events WHERE write = ?`, write); err != nil {
			return nil, err
		}
	}
	return out, nil
}
