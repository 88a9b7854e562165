package projection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// ApplyMessages stores message events, in order, as one transaction. The work of one event does not grow with the store:
// facts are neither read nor written.
func (db *DB) ApplyMessages(ctx context.Context, after, last uint64, events []consolidate.MessageEvent) error {
	return db.ApplyMessagesAhead(ctx, memory.MessagePosition{Seq: after}, memory.MessagePosition{Seq: last}, events)
}

// ApplyMessagesAhead stores message events, in order, that move the position from one to another.
func (db *DB) ApplyMessagesAhead(ctx context.Context, from, to memory.MessagePosition, events []consolidate.MessageEvent) error {
	last := to.Last()
	err := db.apply(ctx, func(a *applier) error {
		if err := a.advanceMessages(from, to); err != nil {
			return err
		}
		if err := a.readIDs(events); err != nil {
			return err
		}
		prev := from.Seq
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkOrder(StreamMessages, prev, e.Seq, last); err != nil {
				return err
			}
			if done := from.Of(e.Bank); e.Seq <= done && e.State != "" {
				return fmt.Errorf("apply message event %d: those of bank %q are applied up to %d: %w", e.Seq, string(e.Bank), done, memory.ErrInvalid)
			}
			prev = e.Seq
			if err := a.applyMessage(e); err != nil {
				return fmt.Errorf("apply message event %d: %w", e.Seq, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("apply messages %d to %d: %w", from.Seq, last, err)
	}
	return nil
}

func (a *applier) applyMessage(e consolidate.MessageEvent) error {
	if e.State == "" { // a flush or another event that is not kept
		return a.note(StreamMessages, e.Seq, engine.Micros(e.Stored))
	}
	if e.State == memory.StateForgotten {
		return a.accountForErased(e)
	}
	bank, err := a.makeBank(e.Bank, e.Stored)
	if err != nil {
		return err
	}
	row := eventRow{seq: e.Seq, bank: bank, session: e.Session, state: e.State, stored: engine.Micros(e.Stored)}
	m, id := e.Message, idOf(e)
	key := keyOf(e.Bank, id)
	if a.ids.buried[key] && !a.ids.stored[key] { // a retry of what was forgotten
		row.state = memory.StateForgotten
		return inTurn(
			func() error { return a.queueErasure(e.Bank, "", StreamMessages, e.Seq, false) },
			func() error {
				if m != nil {
					return nil
				}
				return a.queueErasure(e.Bank, "", StreamDead, e.Seq, false)
			},
			func() error { return a.putEvent(row) },
			func() error { return a.bury(bank, id, e.Seq) })
	}
	if m == nil {
		row.id, row.speaker = engine.TextOrNull(string(e.ID)), engine.TextOrNull(e.Speaker)
		return a.putEvent(row)
	}
	if a.ids.stored[key] {
		row.state, row.id, row.speaker = memory.StateDuplicate, engine.TextOrNull(string(m.ID)), engine.TextOrNull(m.Speaker)
		return a.putEvent(row)
	}
	a.ids.stored[key] = true
	if err := a.putMessage(bank, e); err != nil {
		return err
	}
	if err := a.putEvent(row); err != nil {
		return err
	}
	if err := a.markReplaced(bank, m, e.Seq); err != nil {
		return err
	}
	return a.emit(e.Bank, memory.Change{
		ID: memory.NewChangeID(StreamMessages, e.Seq, 0), What: memory.ChangeMessage, Op: memory.OutcomeAdded,
		Record: string(m.ID), Message: e.Seq, Time: memory.At(e.Stored),
	}, e.Trace)
}

// accountForErased stores that a message event was forgotten which the log no longer holds. Of a bank that was erased
// its time is not known: its erasure removes the row, and the tombstone stays.
func (a *applier) accountForErased(e consolidate.MessageEvent) error {
	bank, err := a.nameBank(e.Bank)
	if err == nil && !e.Stored.IsZero() {
		bank, err = a.makeBank(e.Bank, e.Stored)
	}
	if err != nil {
		return err
	}
	a.ids.buried[keyOf(e.Bank, e.Erased)] = true
	row := eventRow{seq: e.Seq, bank: bank, session: e.Session, state: e.State, stored: engine.Micros(e.Stored)}
	return inTurn(func() error { return a.putEvent(row) }, func() error { return a.bury(bank, e.Erased, e.Seq) })
}

// bury leaves the tombstone of a message event.
func (a *applier) bury(bank int64, id memory.MessageID, seq uint64) error {
	const bury = `INSERT INTO tombstones (bank, id, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	return a.tx.Exec(fmt.Sprintf("bury message %d", seq), bury, bank, engine.Text(string(cmp.Or(id, memory.SequenceID(seq)))), int64(seq))
}

// eventRow is a row of message_events.
type eventRow struct {
	seq         uint64
	bank        int64
	session     memory.SessionID
	state       memory.MessageState
	stored      int64
	id, speaker any
}

func (a *applier) putEvent(r eventRow) error {
	const insert = `INSERT INTO message_events (seq, bank, session, state, stored, id, speaker) VALUES (?, ?, ?, ?, ?, ?, ?)`
	a.counter.Event(r.bank, r.session, "", r.state)
	return a.tx.Exec("store event", insert, int64(r.seq), r.bank, engine.Text(string(r.session)), string(r.state), r.stored, r.id, r.speaker)
}

// putMessage stores a message, whose id is free, and its words.
func (a *applier) putMessage(bank int64, e consolidate.MessageEvent) error {
	const insert = `INSERT INTO messages (seq, bank, id, session, role, speaker, content, caption, indexed, grams,
  time, stored, topic, replaces, recalled, images, metadata, extra)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	m := e.Message
	images, err1 := engine.JSONOrNull(len(m.Images) == 0, m.Images)
	metadata, err2 := engine.JSONOrNull(len(m.Metadata) == 0, m.Metadata)
	extra, err3 := engine.JSONOrNull(len(m.Extra) == 0, m.Extra)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	content, caption := engine.Text(m.Content), engine.Text(m.Caption())
	var indexed any
	if e.Indexed != "" && e.Indexed != m.Content {
		content = engine.Text(e.Indexed)
		indexed = content
	}
	grams := schema.Grams(content, caption)
	err := a.tx.Exec("store message", insert, int64(e.Seq), bank, engine.Text(string(m.ID)), engine.Text(string(e.Session)), string(m.Role),
		engine.Text(m.Speaker), engine.Text(m.Content), caption, indexed, grams, engine.Micros(m.Time), engine.Micros(e.Stored), engine.Text(m.Topic),
		engine.Text(string(m.Replaces)), m.Recalled, images, metadata, extra)
	if err != nil {
		return err
	}
	a.counter.Came(bank, memory.RecordMessage, int64(e.Seq))
	return a.messages.Reindex(a.tx, int64(e.Seq), bank, nil, []string{content, caption, grams})
}

// markReplaced marks the message that m replaces, if it is stored. A message that arrives later is not marked.
func (a *applier) markReplaced(bank int64, m *memory.Message, seq uint64) error {
	if m.Replaces == "" || m.Replaces == m.ID {
		return nil
	}
	const mark = `UPDATE messages SET replaced = CASE WHEN replaced < ?1 THEN replaced ELSE ?1 END WHERE bank = ?2 AND id = ?3 AND seq < ?4`
	a.counter.Reworded(bank, memory.RecordMessage)
	return a.tx.Exec("mark what it replaces", mark, engine.Micros(m.Time), bank, engine.Text(string(m.Replaces)), int64(seq))
}

// putReplacement puts a replacement into effect; of several the one that was said first stands.
func (a *applier) putReplacement(bank int64, r memory.Replacement) error {
	const put = `INSERT INTO replacements (bank, id, by, time) VALUES (?, ?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET by = excluded.by, time = excluded.time
WHERE (excluded.time, excluded.by) < (replacements.time, replacements.by)`
	return a.tx.Exec(fmt.Sprintf("replace message %q", string(r.ID)), put, bank, engine.Text(string(r.ID)), int64(r.By), engine.Micros(r.Time))
}

// storedEvent is what decides whether a message event ends.
type storedEvent struct {
	state   memory.MessageState
	session memory.SessionID
	kept    bool // its message is stored
}

// storedEvents returns what is stored of message events.
func (a *applier) storedEvents(bank int64, ends []memory.MessageEnd) (map[uint64]storedEvent, error) {
	const find = `SELECT e.seq, e.state, e.session, EXISTS (SELECT 1 FROM messages m WHERE m.seq = e.seq)
FROM json_each(?1) j CROSS JOIN message_events e ON e.seq = j.value WHERE +e.bank = ?2`
	seqs := make([]uint64, len(ends))
	for i, e := range ends {
		seqs[i] = e.Seq
	}
	out := make(map[uint64]storedEvent, len(ends))
	if a.known != nil {
		out, seqs = split(seqs, a.known.events)
	}
	if len(seqs) == 0 {
		return out, nil
	}
	err := a.tx.Each("look up message events", find, []any{engine.List(seqs), bank}, func(rows *sql.Rows) error {
		var seq uint64
		var e storedEvent
		err := rows.Scan(&seq, &e.state, &e.session, &e.kept)
		out[seq] = e
		return err
	})
	return out, err
}

// ends reports whether a message event takes the state of an end. A malformed event stays dead, a duplicate a duplicate, a
// forgotten one forgotten; the end of a window replaces an earlier one, but never by dead.
func (e storedEvent) ends(state memory.MessageState) bool {
	switch e.state {
	case state:
		return false
	case memory.StatePending:
		return true
	case memory.StateDead, memory.StateThrottled, memory.StateSkipped, memory.StateCommitted, memory.StateEmpty:
		return e.kept && state != memory.StateDead
	}
	return false
}

// endMessages sets what became of message events, those in succession with one state at once.
func (a *applier) endMessages(bank int64, ends []memory.MessageEnd) error {
	const end = `UPDATE message_events SET state = ? WHERE seq IN (SELECT value FROM json_each(?))`
	for len(ends) > 0 {
		state, seqs := ends[0].State, []int64(nil)
		for len(ends) > 0 && ends[0].State == state {
			seq := ends[0].Seq
			ends = ends[1:]
			was := a.stored.events[seq]
			if !was.ends(state) {
				continue
			}
			seqs = append(seqs, int64(seq))
			a.counter.Event(bank, was.session, was.state, state)
			was.state = state
			a.stored.events[seq] = was
		}
		if len(seqs) == 0 {
			continue
		}
		if err := a.tx.Exec(fmt.Sprintf("end messages from %d on", seqs[0]), end, string(state), engine.List(seqs)); err != nil {
			return err
		}
	}
	return nil
}

// endWindow stores how a window ended: the first end stands, but a dead one gives way to any other.
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
	return a.tx.Exec("end window "+string(w.ID), end, string(w.ID), bank, engine.Text(string(session)), int64(w.First()), int64(w.Last()),
		w.Generation, string(w.Outcome), engine.Text(w.Reason), int64(write))
}
