package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// eraseMessage erases a message event: its row and words go, its event is
// forgotten, and a tombstone keeps it from coming back.
func (a *applier) eraseMessage(bank int64, seq uint64) error {
	a.erased = true
	var id, state string
	const event = `SELECT coalesce(m.id, e.id, ''), e.state FROM message_events e LEFT JOIN messages m ON m.seq = e.seq WHERE e.seq = ? AND e.bank = ?`
	err := a.tx.QueryRowContext(a.ctx, event, int64(seq), bank).Scan(&id, &state)
	if errors.Is(err, sql.ErrNoRows) || state == string(memory.StateForgotten) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up message event %d: %w", seq, err)
	}
	what := fmt.Sprintf("erase message %d", seq)
	if id == "" {
		id = string(memory.SequenceID(seq))
	}
	const bury = `INSERT INTO tombstones (bank, id, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	if err := a.exec(what, bury, bank, id, int64(seq)); err != nil {
		return err
	}
	const forget = `UPDATE message_events SET state = 'forgotten', id = NULL, speaker = NULL WHERE seq = ?`
	if err := a.exec(what, forget, int64(seq)); err != nil {
		return err
	}
	return a.eraseMessageRow(bank, seq, what)
}

func (a *applier) eraseMessageRow(bank int64, seq uint64, what string) error {
	const find = `SELECT coalesce(indexed, content), caption, grams, id, replaces FROM messages WHERE seq = ?`
	w := messageWords{seq: seq, bank: bankToken(bank)}
	var id, replaces string
	err := a.tx.QueryRowContext(a.ctx, find, int64(seq)).Scan(&w.content, &w.caption, &w.grams, &id, &replaces)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	const unindex = `INSERT INTO messages_fts (messages_fts, rowid, bank, content, caption, grams) VALUES ('delete', ?, ?, ?, ?, ?)`
	if err := a.index(what, unindex, w); err != nil {
		return err
	}
	if err := a.exec(what, `DELETE FROM messages WHERE seq = ?`, int64(seq)); err != nil {
		return err
	}
	if err := a.dropUses(bank, id); err != nil {
		return err
	}
	if err := a.exec(what, `DELETE FROM replacements WHERE bank = ? AND id = ?`, bank, id); err != nil {
		return err
	}
	return a.restoreReplaced(bank, seq, replaces, what)
}

// restoreReplaced gives the message that an erased one took the place of its
// place again, or to the next that replaces it.
func (a *applier) restoreReplaced(bank int64, by uint64, replaced, what string) error {
	if replaced == "" {
		return nil
	}
	const mark = `UPDATE messages SET replaced = (SELECT min(r.time) FROM messages r
  WHERE r.bank = messages.bank AND r.replaces = messages.id AND r.replaces <> '' AND r.seq > messages.seq)
WHERE bank = ? AND id = ?`
	if err := a.exec(what, mark, bank, replaced); err != nil {
		return err
	}
	gone, err := changed(a.tx.ExecContext(a.ctx, `DELETE FROM replacements WHERE bank = ? AND id = ? AND by = ?`, bank, replaced, int64(by)))
	if err != nil || !gone {
		return err
	}
	const next = `INSERT INTO replacements (bank, id, by, time)
SELECT r.bank, r.replaces, r.seq, r.time FROM messages r
JOIN messages m ON m.bank = r.bank AND m.id = r.replaces AND m.seq < r.seq
JOIN message_events e ON e.seq = r.seq AND e.state NOT IN ('pending', 'dead')
WHERE r.bank = ? AND r.replaces = ? AND r.replaces <> '' ORDER BY r.time, r.seq LIMIT 1`
	return a.exec(what, next, bank, replaced)
}
