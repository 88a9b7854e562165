package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// beforeForget keeps what the rows that are about to go say: it leaves
// tombstones of the ops that retained the facts, and gives the writes that
// carried them, rising.
func (a *applier) beforeForget(bank int64, f *memory.Forgotten) ([]holding, error) {
	if f == nil {
		return nil, nil
	}
	if err := a.buryOps(bank, f.Facts); err != nil {
		return nil, err
	}
	writes, err := a.writesHolding(bank, f)
	if err != nil || f.Bank {
		return writes, err
	}
	late, err := a.vectorsHolding(bank, f)
	for _, l := range late {
		if !slices.ContainsFunc(writes, func(h holding) bool { return h.write == l.write }) {
			writes = append(writes, l)
		}
	}
	return writes, err
}

// forget erases what a plan found to be forgotten, and queues the stream
// events that hold it: message events, dead letters about them, and the writes
// that carried the facts.
func (a *applier) forget(bank int64, w memory.Write, f *memory.Forgotten, writes []holding) error {
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
	if err := a.removeFacts(bank, f.Facts); err != nil {
		return err
	}
	for _, h := range writes {
		if err := a.queueErasure(w, StreamWrites, h.write, f.Bank); err != nil {
			return err
		}
		kept, err := a.rewritten(bank, h, f.Bank)
		if err != nil {
			return err
		}
		f.Receipt.Events++
		f.Receipt.Rewritten += kept
	}
	if f.Bank {
		return a.eraseBank(bank)
	}
	return nil
}

// queueMessage queues the event of a message, and what dead letters there may
// be about it. It gives how many events that are.
func (a *applier) queueMessage(w memory.Write, bank int64, seq uint64) (int, error) {
	var state string
	err := a.tx.QueryRowContext(a.ctx, `SELECT state FROM message_events WHERE seq = ? AND bank = ?`, int64(seq), bank).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look up message event %d: %w", seq, err)
	}
	if err := a.queueErasure(w, StreamMessages, seq, false); err != nil || state != string(memory.StateDead) {
		return 1, err
	}
	return 2, a.queueErasure(w, StreamDead, seq, false)
}

func (a *applier) queueErasure(w memory.Write, stream string, seq uint64, whole bool) error {
	return a.exec(fmt.Sprintf("queue the erasure of %s %d", stream, seq),
		`INSERT INTO erasures (bank, stream, seq, op, whole) VALUES (?, ?, ?, ?, ?)`, string(w.Bank), stream, int64(seq), w.Op, whole)
}

// rewritten is 1 for a write of which something is appended anew: it ends a
// window, or there are others of what it brought. The forgotten are gone by now.
func (a *applier) rewritten(bank int64, h holding, whole bool) (int, error) {
	switch {
	case whole || h.vectors && !h.rest:
		return 0, nil
	case h.window || h.vectors:
		return 1, nil
	}
	const find = `SELECT EXISTS (SELECT 1 FROM ops o JOIN json_each(o.outcome, '$.results') r JOIN facts f ON f.id = r.value ->> '$.id'
  WHERE o.write = ?1 AND o.bank = ?2 AND r.value ->> '$.outcome' NOT IN ('updated', 'refused'))
OR EXISTS (SELECT 1 FROM ops o JOIN json_each(o.outcome, '$.observations') r JOIN observations b ON b.id = r.value WHERE o.write = ?1 AND o.bank = ?2)`
	var n int
	if err := a.tx.QueryRowContext(a.ctx, find, int64(h.write), bank).Scan(&n); err != nil {
		return 0, fmt.Errorf("look what stays of write %d: %w", h.write, err)
	}
	return n, nil
}

// holding is a write that may hold words of what is forgotten.
type holding struct {
	write  uint64
	window bool // it ends a window
	// vectors: it is known by the late vectors it holds; rest: it holds others too.
	vectors, rest bool
}

// writesOfBank are all of a bank that is erased.
const writesOfBank = `SELECT write, 0 FROM ops WHERE bank = ?1 UNION SELECT write, 0 FROM windows WHERE bank = ?1
UNION SELECT write, 0 FROM repeats WHERE bank = ?1 ORDER BY 1`

// writesHolding gives, rising, the MEM_WRITES events that may hold words of
// what is forgotten: the ends of windows in which the messages, or the sources
// of the facts, were new, the writes of the facts' own ops, and those that gave
// the observations ready-made, repeats included.
func (a *applier) writesHolding(bank int64, f *memory.Forgotten) ([]holding, error) {
	const find = `WITH
gone(no) AS (SELECT f.no FROM json_each(?2) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ?1),
events(seq) AS (SELECT value FROM json_each(?3) UNION SELECT s.seq FROM gone JOIN fact_sources s ON s.fact = gone.no),
ended(write) AS (SELECT w.write FROM events JOIN message_events e ON e.seq = events.seq
  JOIN windows w ON w.bank = e.bank AND w.session = e.session AND w.last >= e.seq AND w.first <= e.seq WHERE e.bank = ?1),
named(op, window) AS (SELECT o.op, 1 FROM ops o WHERE +o.bank = ?1 AND o.write IN (SELECT write FROM ended)
  UNION SELECT k.value, 0 FROM gone JOIN facts f ON f.no = gone.no JOIN json_each(f.ops) k),
held(write, window) AS (SELECT write, 1 FROM ended
UNION SELECT o.write, named.window FROM named JOIN ops o ON o.bank = ?1 AND o.op = named.op
UNION SELECT r.write, named.window FROM named JOIN repeats r ON r.bank = ?1 AND r.op = named.op)
SELECT write, max(window) FROM held GROUP BY write ORDER BY 1`
	query, args := find, []any{bank, jsonList(f.Facts), jsonList(f.Messages)}
	if f.Bank {
		query, args = writesOfBank, []any{bank}
	}
	var out []holding
	scan := func(rows *sql.Rows) error {
		var h holding
		err := rows.Scan(&h.write, &h.window)
		out = append(out, h)
		return err
	}
	if err := a.rows("find the writes that hold it", query, args, scan); err != nil || f.Bank || len(f.Observations) == 0 {
		return out, err
	}
	return out, a.rows("find the writes that gave the observations", writesObserving, []any{bank, jsonList(f.Observations)}, scan)
}

const writesObserving = `WITH given(op) AS (SELECT o.op FROM ops o JOIN json_each(o.outcome, '$.observations') k
  WHERE o.bank = ?1 AND k.value IN (SELECT value FROM json_each(?2)))
SELECT o.write, 0 FROM given JOIN ops o ON o.bank = ?1 AND o.op = given.op
UNION SELECT r.write, 0 FROM given JOIN repeats r ON r.bank = ?1 AND r.op = given.op ORDER BY 1`

// buryOps leaves a tombstone for each op that retained one of the facts.
func (a *applier) buryOps(bank int64, facts []memory.FactID) error {
	const bury = `INSERT INTO tombstones (bank, id, seq)
SELECT DISTINCT f.bank, 'op:' || k.value, coalesce((SELECT o.write FROM ops o WHERE o.bank = f.bank AND o.op = k.value), 0)
FROM json_each(?2) j CROSS JOIN facts f ON f.id = j.value JOIN json_each(f.ops) k WHERE f.bank = ?1
ON CONFLICT DO NOTHING`
	return a.exec("bury the ops", bury, bank, jsonList(facts))
}

// eraseBank takes away what is left of a bank, so that there is no such bank.
// Tombstones stay, and ops without their outcomes, so that neither a message
// nor a write of it comes back.
func (a *applier) eraseBank(bank int64) error {
	for table, columns := range map[string]string{"messages": "content, caption, grams", "facts": "text, grams", "composites": "text, grams", "observations": "text, grams"} {
		number := "no"
		if table == "messages" {
			number = "seq"
		}
		unindex := fmt.Sprintf(`INSERT INTO %[1]s_fts (%[1]s_fts, rowid, bank, %[2]s) SELECT 'delete', %[3]s, bank, %[2]s FROM %[1]s_text
WHERE %[3]s IN (SELECT %[3]s FROM %[1]s WHERE bank = ?)`, table, columns, number)
		if err := a.exec("unindex the bank's "+table, unindex, bank); err != nil {
			return err
		}
	}
	for _, table := range []string{"messages", "message_events", "replacements", "windows", "composites", "facts", "fact_entities", "observations", "relations", "conflicts",
		"entities", "entity_names", "entity_counts", "node_terms", "vector_events", "pending_models", "decisions", "derived", "uses", "usage", "usage_events"} {
		if err := a.exec("erase the bank's "+table, `DELETE FROM `+table+` WHERE bank = ?`, bank); err != nil {
			return err
		}
	}
	if err := a.exec("empty the bank's outcomes", `UPDATE ops SET outcome = '{}' WHERE bank = ?`, bank); err != nil {
		return err
	}
	return a.exec("erase the bank's profile", `UPDATE banks SET profile = '', version = 0, consolidated = 0, observed = 0 WHERE no = ?`, bank)
}
