package sqlite

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// putReplacement puts a replacement into effect; of several the one said
// earliest stands.
func (a *applier) putReplacement(bank int64, r memory.Replacement) error {
	const put = `INSERT INTO replacements (bank, id, by, time) VALUES (?, ?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET by = excluded.by, time = excluded.time
WHERE (excluded.time, excluded.by) < (replacements.time, replacements.by)`
	return a.exec(fmt.Sprintf("replace message %q", string(r.ID)), put, bank, text(string(r.ID)), int64(r.By), micros(r.Time))
}

// endMessage sets what became of a message event. A malformed event stays
// dead, a duplicate a duplicate, a forgotten one forgotten; the end of a window
// replaces an earlier one, but never by dead.
func (a *applier) endMessage(bank int64, e memory.MessageEnd) error {
	const end = `UPDATE message_events SET state = ?1 WHERE seq = ?2 AND bank = ?3 AND state <> ?1 AND (state = 'pending'
  OR (?1 <> 'dead' AND state IN ('dead', 'throttled', 'skipped', 'committed', 'empty') AND EXISTS (SELECT 1 FROM messages WHERE seq = ?2)))`
	return a.exec(fmt.Sprintf("end message %d", e.Seq), end, string(e.State), int64(e.Seq), bank)
}

// endWindow keeps how a window ended: the first end stands, but a dead one
// gives way to any other.
func (a *applier) endWindow(bank int64, write uint64, w *memory.WindowEnd) error {
	if w == nil || len(w.New) == 0 {
		return nil
	}
	const end = `INSERT INTO windows (id, bank, session, first, last, generation, outcome, reason, write) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason, write = excluded.write
WHERE windows.outcome = 'dead' AND excluded.outcome <> 'dead'`
	session := w.SessionID
	if session == "" {
		session = w.Session
	}
	return a.exec("end window "+string(w.ID), end, string(w.ID), bank, text(string(session)), int64(w.First()), int64(w.Last()),
		w.Generation, string(w.Outcome), text(w.Reason), int64(write))
}
