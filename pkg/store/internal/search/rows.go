package search

import (
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// messageRow reads messages m by number, which it takes as JSON, in a bank.
const messageRow = `SELECT m.seq, m.id, m.session, m.role, m.speaker, coalesce(m.indexed, m.content), m.caption, m.time, m.recalled,
  CASE WHEN m.replaced IS NULL THEN 0 ELSE 1 END FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value WHERE +m.bank = ?`

// Messages returns messages by number, in the order asked; those that do not pass the filter are left out.
func (r *Reader) Messages(nos []int64) ([]recall.MessageRow, error) {
	if r.filter.Plain && r.holds(memory.RecordMessage) {
		return r.heldMessages(nos, false)
	}
	args := append([]any{engine.List(nos), r.bank}, r.filter.Messages.Args...)
	found, err := r.messageRows(nos, messageRow+" AND "+r.filter.Messages.SQL, args)
	return messagesOf(nos, found, true), err
}

// Context returns messages by number, in the order asked, whatever the filter.
func (r *Reader) Context(nos []int64) ([]recall.MessageRow, error) {
	if r.holds(memory.RecordMessage) {
		return r.heldMessages(nos, true)
	}
	found, err := r.messageRows(nos, messageRow, []any{engine.List(nos), r.bank})
	return messagesOf(nos, found, true), err
}

// heldMessages returns messages by number, in the order asked, and reads those that are not held. hidden says whether messages
// are wanted that no search without a filter finds.
func (r *Reader) heldMessages(nos []int64, hidden bool) ([]recall.MessageRow, error) {
	rows, key, state := r.store.rows, sketchKey{r.bank, memory.RecordMessage}, r.state(memory.RecordMessage)
	found, others := rows.findMessages(key, state, nos)
	read, err := r.messageRows(others, messageRow, []any{engine.List(others), r.bank})
	if err != nil {
		return nil, err
	}
	rows.holdMessages(key, state, read)
	return messagesOf(nos, append(found, read...), hidden), nil
}

// messagesOf returns messages in the order asked, with hidden ones or without.
func messagesOf(nos []int64, found []heldMessage, hidden bool) []recall.MessageRow {
	if len(found) == 0 {
		return nil
	}
	out := make([]recall.MessageRow, 0, len(found))
	for _, m := range found {
		if hidden || !m.hidden {
			out = append(out, m.MessageRow)
		}
	}
	return inOrderAsked(nos, out, func(m recall.MessageRow) int64 { return m.No })
}

func (r *Reader) messageRows(nos []int64, sqlText string, args []any) ([]heldMessage, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	found := make([]heldMessage, 0, len(nos))
	err := r.tx.Batch("read messages", 10, sqlText, args, func(row *engine.Rowset) error {
		m := recall.MessageRow{No: row.Int(), ID: memory.MessageID(row.Text()), Session: memory.SessionID(row.Text()), Role: memory.Role(row.Text()),
			Speaker: row.Text(), Text: row.Text(), Caption: row.Text(), Said: engine.Time(row.Int()), Recalled: row.Bool()}
		found = append(found, heldMessage{m, row.Bool()})
		return nil
	})
	return found, err
}

// Around returns the neighbours of messages in their session, the nearest first.
func (r *Reader) Around(nos []int64, before, after int) ([]recall.Neighbourhood, error) {
	const find = `SELECT m.seq, m.session,
  (SELECT group_concat(seq, ' ') FROM (SELECT b.seq FROM messages b WHERE b.bank = m.bank AND b.session = m.session AND b.seq < m.seq
    ORDER BY b.seq DESC LIMIT ?3)),
  (SELECT group_concat(seq, ' ') FROM (SELECT n.seq FROM messages n WHERE n.bank = m.bank AND n.session = m.session AND n.seq > m.seq
    ORDER BY n.seq LIMIT ?4))
FROM json_each(?1) j CROSS JOIN messages m ON m.seq = j.value WHERE +m.bank = ?2`
	asked, holds := nos, r.holds(memory.RecordMessage)
	found := make([]recall.Neighbourhood, 0, len(nos))
	if holds {
		var known []recall.Neighbourhood
		known, nos = r.store.rows.neighbours(sketchKey{r.bank, memory.RecordMessage}, r.state(memory.RecordMessage), nos, before, after)
		if found = append(found, known...); len(nos) == 0 {
			return found, nil
		}
	}
	var sessions []memory.SessionID
	err := r.tx.Batch("read neighbours", 4, find, []any{engine.List(nos), r.bank, before, after}, func(row *engine.Rowset) (err error) {
		n := recall.Neighbourhood{No: row.Int()}
		sessions = append(sessions, memory.SessionID(row.Text()))
		if n.Before, err = engine.ParseNumbers(row.Text()); err != nil {
			return err
		}
		n.After, err = engine.ParseNumbers(row.Text())
		found = append(found, n)
		return err
	})
	if err == nil && holds {
		err = r.readSessions(sessions)
	}
	return inOrderAsked(asked, found, func(n recall.Neighbourhood) int64 { return n.No }), err
}

// Facts returns facts by number, in the order asked; those that do not pass the filter are left out.
func (r *Reader) Facts(nos []int64) ([]recall.FactRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	const find = `SELECT f.no, f.id, f.text, f.speaker, f.type, f.entities, f.said, f.occurred_from, f.occurred_to,
  f.confidence, f.pinned FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value WHERE +f.bank = ? AND `
	args := append([]any{engine.List(nos), r.bank}, r.filter.Facts.Args...)
	found := make([]recall.FactRow, 0, len(nos))
	err := r.tx.Batch("read facts", 11, find+r.filter.Facts.SQL, args, func(row *engine.Rowset) error {
		f := recall.FactRow{No: row.Int(), ID: memory.FactID(row.Text()), Text: row.Text(), Speaker: row.Text(), Type: memory.Type(row.Text())}
		err := engine.FromJSON([]byte(row.Text()), &f.Entities)
		f.Said, f.Occurred = engine.Time(row.Int()), engine.Span(row.IntOrNull(), row.IntOrNull())
		f.Confidence, f.Pinned = row.Float(), row.Bool()
		found = append(found, f)
		return err
	})
	return inOrderAsked(nos, found, func(f recall.FactRow) int64 { return f.No }), err
}

// FactNumbers returns the numbers of facts by id, ascending; those that do not pass the filter are left out.
func (r *Reader) FactNumbers(ids []memory.FactID) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := append([]any{engine.List(ids), r.bank}, r.filter.Facts.Args...)
	return r.tx.Numbers("look up facts", `SELECT f.no FROM json_each(?) j CROSS JOIN facts f ON f.id = j.value WHERE +f.bank = ? AND `+
		r.filter.Facts.SQL+` ORDER BY f.no`, args...)
}

// Links returns the sources of facts that pass the filter, by fact number and then stream sequence.
func (r *Reader) Links(facts []int64) ([]recall.Link, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	join, where, args := " CROSS JOIN messages m ON m.seq = s.seq", " WHERE +m.bank = ? AND "+r.filter.Messages.SQL, r.filter.Messages.Args
	if r.filter.Plain { // the sources of a fact are stored messages of its bank
		join, where, args = "", " WHERE TRUE"+schema.Messages().Hidden("s.seq"), nil
	}
	find := `SELECT s.fact, s.seq FROM json_each(?) j CROSS JOIN fact_sources s ON s.fact = j.value` + join + where + ` ORDER BY s.fact, s.seq`
	var out []recall.Link
	err := r.tx.Batch("read sources", 2, find, append([]any{engine.List(facts), r.bank}, args...), func(row *engine.Rowset) error {
		out = append(out, recall.Link{Fact: row.Int(), Message: row.Int()})
		return nil
	})
	return out, err
}

// EndedMessages returns those of the messages that are sources of facts, none of which is valid at the time of the filter.
func (r *Reader) EndedMessages(messages []int64) ([]int64, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	if r.filter.Plain {
		if r.holds(memory.RecordFact) {
			rest, known := r.store.rows.resting(sketchKey{r.bank, memory.RecordFact}, r.state(memory.RecordFact), messages)
			if known {
				messages = rest
			}
			if len(messages) == 0 {
				return nil, nil
			}
		}
		nos, err := r.tx.Numbers("find messages whose facts ended", `SELECT j.value FROM json_each(?1) j
WHERE NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.seq = j.value`+schema.Facts().Hidden("s.fact")+`)
  AND EXISTS (SELECT 1 FROM fact_sources s WHERE s.seq = j.value) ORDER BY j.value`, engine.List(messages), r.bank)
		return slices.Compact(nos), err
	}
	return r.tx.Numbers("find messages whose facts ended", `SELECT s.seq FROM json_each(?) j CROSS JOIN fact_sources s ON s.seq = j.value
CROSS JOIN facts f ON f.no = s.fact WHERE +f.bank = ? GROUP BY s.seq HAVING max(CASE WHEN `+r.filter.valid.SQL+` THEN 1 ELSE 0 END) = 0 ORDER BY s.seq`,
		append([]any{engine.List(messages), r.bank}, r.filter.valid.Args...)...)
}

// Successors returns the facts that superseded what messages said. At an earlier time they are also found by the state
// that facts describe, because a fact that is valid again today names no successor.
func (r *Reader) Successors(messages []int64) ([]recall.Succession, error) {
	find := `WITH RECURSIVE ended AS MATERIALIZED (
  SELECT s.seq, f.no, f.subject, f.attribute, coalesce(f.superseded, f.merged) AS next FROM json_each(?) j
    CROSS JOIN fact_sources s ON s.seq = j.value CROSS JOIN facts f ON f.no = s.fact WHERE NOT ` + r.filter.valid.SQL + `
), later(seq, ended, id, steps) AS (
  SELECT seq, no, next, 1 FROM ended WHERE next IS NOT NULL
  UNION
  SELECT l.seq, l.ended, coalesce(f.superseded, f.merged), l.steps + 1 FROM later l CROSS JOIN facts f ON f.id = l.id
    WHERE l.steps < 32 AND coalesce(f.superseded, f.merged) IS NOT NULL
), after(no, seq, ended) AS (
  SELECT f.no, l.seq, l.ended FROM later l CROSS JOIN facts f ON f.id = l.id
  UNION
  SELECT f.no, n.seq, n.no FROM ended n CROSS JOIN facts f ON f.bank = ? AND f.subject = n.subject AND f.attribute = n.attribute WHERE ? = 1
) SELECT f.no, a.seq, e.text, e.speaker, e.said FROM after a CROSS JOIN facts f ON f.no = a.no CROSS JOIN facts e ON e.no = a.ended WHERE +f.bank = ? AND `
	args := append([]any{engine.List(messages)}, r.filter.valid.Args...)
	args = append(append(args, r.bank, len(r.filter.valid.Args) > 0, r.bank), r.filter.Facts.Args...)
	return engine.All(r.tx, "read what superseded facts", find+r.filter.Facts.SQL+` ORDER BY f.no, a.seq, e.no`, args, func(rows *sql.Rows) (s recall.Succession, err error) {
		var said int64
		err = rows.Scan(&s.Fact, &s.Message, &s.Text, &s.Speaker, &said)
		s.Said = engine.Time(said)
		return s, err
	})
}
