package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

const messageRow = `SELECT m.seq, m.id, m.session, m.speaker, coalesce(m.indexed, m.content), m.caption, m.time, m.recalled
FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value WHERE m.bank = ?`

// Messages gives messages by number, in the order asked, through the filter.
func (r *reader) Messages(nos []int64) ([]query.MessageRow, error) {
	args := append([]any{jsonList(nos), r.bank}, r.filter.messageArgs...)
	return r.messageRows(nos, messageRow+" AND "+r.filter.messages, args)
}

// Context gives messages by number without the filter.
func (r *reader) Context(nos []int64) ([]query.MessageRow, error) {
	return r.messageRows(nos, messageRow, []any{jsonList(nos), r.bank})
}

func (r *reader) messageRows(nos []int64, sqlText string, args []any) ([]query.MessageRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	found := make([]query.MessageRow, 0, len(nos))
	err := r.many("read messages", 8, sqlText, args, func(row *rowset) error {
		found = append(found, query.MessageRow{No: row.int(), ID: memory.MessageID(row.text()), Session: memory.SessionID(row.text()), Speaker: row.text(),
			Text: row.text(), Caption: row.text(), Said: fromMicros(row.int()), Recalled: row.bool()})
		return nil
	})
	return asAsked(nos, found, func(m query.MessageRow) int64 { return m.No }), err
}

// Around gives the neighbours of messages in their session, the nearest first.
func (r *reader) Around(nos []int64, before, after int) ([]query.Neighbourhood, error) {
	const find = `SELECT m.seq,
  (SELECT group_concat(seq, ' ') FROM (SELECT b.seq FROM messages b WHERE b.bank = m.bank AND b.session = m.session AND b.seq < m.seq
    ORDER BY b.seq DESC LIMIT ?3)),
  (SELECT group_concat(seq, ' ') FROM (SELECT n.seq FROM messages n WHERE n.bank = m.bank AND n.session = m.session AND n.seq > m.seq
    ORDER BY n.seq LIMIT ?4))
FROM json_each(?1) j CROSS JOIN messages m ON m.seq = j.value WHERE m.bank = ?2`
	found := make([]query.Neighbourhood, 0, len(nos))
	err := r.many("read neighbours", 3, find, []any{jsonList(nos), r.bank, before, after}, func(row *rowset) (err error) {
		n := query.Neighbourhood{No: row.int()}
		if n.Before, err = parseNumbers(row.text()); err != nil {
			return err
		}
		n.After, err = parseNumbers(row.text())
		found = append(found, n)
		return err
	})
	return asAsked(nos, found, func(n query.Neighbourhood) int64 { return n.No }), err
}

// Facts gives facts by number, in the order asked, through the filter.
func (r *reader) Facts(nos []int64) ([]query.FactRow, error) {
	if len(nos) == 0 {
		return nil, nil
	}
	const find = `SELECT f.no, f.id, f.text, f.speaker, f.type, f.entities, f.said, f.occurred_from, f.occurred_to,
  f.confidence, f.pinned FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value WHERE f.bank = ? AND `
	args := append([]any{jsonList(nos), r.bank}, r.filter.factArgs...)
	found := make([]query.FactRow, 0, len(nos))
	err := r.many("read facts", 11, find+r.filter.facts, args, func(row *rowset) error {
		f := query.FactRow{No: row.int(), ID: memory.FactID(row.text()), Text: row.text(), Speaker: row.text(), Type: memory.Type(row.text())}
		err := fromJSON([]byte(row.text()), &f.Entities)
		f.Said, f.Occurred = fromMicros(row.int()), spanOf(row.optional(), row.optional())
		f.Confidence, f.Pinned = row.real(), row.bool()
		found = append(found, f)
		return err
	})
	return asAsked(nos, found, func(f query.FactRow) int64 { return f.No }), err
}

// FactNumbers gives the numbers of facts by id, through the filter.
func (r *reader) FactNumbers(ids []memory.FactID) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := append([]any{jsonList(ids), r.bank}, r.filter.factArgs...)
	return r.numbers("look up facts", `SELECT f.no FROM json_each(?) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ? AND `+
		r.filter.facts+` ORDER BY f.no`, args...)
}

// Links gives what facts rest on, by fact number and then stream sequence.
func (r *reader) Links(facts []int64) ([]query.Link, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	join, where, args := " CROSS JOIN messages m ON m.seq = s.seq", " WHERE m.bank = ? AND "+r.filter.messages, r.filter.messageArgs
	if r.filter.plain { // a fact rests on messages of its bank that are there
		join, where, args = "", " WHERE 1"+noneReplaced("s.seq"), nil
	}
	var out []query.Link
	err := r.many("read sources", 2, `SELECT s.fact, s.seq FROM json_each(?) j CROSS JOIN fact_sources s ON s.fact = j.value`+join+where+` ORDER BY s.fact, s.seq`,
		append([]any{jsonList(facts), r.bank}, args...), func(row *rowset) error {
			out = append(out, query.Link{Fact: row.int(), Message: row.int()})
			return nil
		})
	return out, err
}

// Unheld gives those of the messages that facts rest on of which none holds.
func (r *reader) Unheld(messages []int64) ([]int64, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	if r.filter.plain {
		nos, err := r.numbers("find messages whose facts ended", `SELECT j.value FROM json_each(?1) j
WHERE NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.seq = j.value`+noneEnded("s.fact")+`)
  AND EXISTS (SELECT 1 FROM fact_sources s WHERE s.seq = j.value) ORDER BY j.value`, jsonList(messages), r.bank)
		return slices.Compact(nos), err
	}
	return r.numbers("find messages whose facts ended", `SELECT s.seq FROM json_each(?) j CROSS JOIN fact_sources s ON s.seq = j.value
CROSS JOIN facts f ON f.no = s.fact WHERE f.bank = ? GROUP BY s.seq HAVING max(`+r.filter.held+`) = 0 ORDER BY s.seq`,
		append([]any{jsonList(messages), r.bank}, r.filter.heldArgs...)...)
}

// Successors gives the facts that took the place of what messages said. What
// held at an earlier time is also looked for by the state it gives: a fact that
// holds again today names nothing that took its place in between.
func (r *reader) Successors(messages []int64) ([]query.Succession, error) {
	find := `WITH RECURSIVE ended AS MATERIALIZED (
  SELECT s.seq, f.no, f.subject, f.attribute, coalesce(f.superseded, f.merged) AS next FROM json_each(?) j
    CROSS JOIN fact_sources s ON s.seq = j.value CROSS JOIN facts f ON f.no = s.fact WHERE NOT ` + r.filter.held + `
), later(seq, ended, id, steps) AS (
  SELECT seq, no, next, 1 FROM ended WHERE next IS NOT NULL
  UNION
  SELECT l.seq, l.ended, coalesce(f.superseded, f.merged), l.steps + 1 FROM later l CROSS JOIN facts f ON f.id = l.id
    WHERE l.steps < 32 AND coalesce(f.superseded, f.merged) IS NOT NULL
), after(no, seq, ended) AS (
  SELECT f.no, l.seq, l.ended FROM later l CROSS JOIN facts f ON f.id = l.id
  UNION
  SELECT f.no, n.seq, n.no FROM ended n CROSS JOIN facts f ON f.bank = ? AND f.subject = n.subject AND f.attribute = n.attribute WHERE ?
) SELECT f.no, a.seq, e.text, e.speaker, e.said FROM after a CROSS JOIN facts f ON f.no = a.no CROSS JOIN facts e ON e.no = a.ended WHERE f.bank = ? AND `
	var out []query.Succession
	args := append([]any{jsonList(messages)}, r.filter.heldArgs...)
	args = append(append(args, r.bank, len(r.filter.heldArgs) > 0, r.bank), r.filter.factArgs...)
	err := r.scanAll("read what took the place of facts", find+r.filter.facts+` ORDER BY f.no, a.seq, e.no`, args, func(rows *sql.Rows) error {
		var s query.Succession
		var said int64
		err := rows.Scan(&s.Fact, &s.Message, &s.Text, &s.Speaker, &said)
		s.Said = fromMicros(said)
		out = append(out, s)
		return err
	})
	return out, err
}

func spanOf(from, to sql.NullInt64) memory.Span {
	var s memory.Span
	if from.Valid {
		t := fromMicros(from.Int64)
		s.From = &t
	}
	if to.Valid {
		t := fromMicros(to.Int64)
		s.To = &t
	}
	return s
}

// fromJSON reads a JSON column; an empty one leaves v as it is.
func fromJSON(raw []byte, v any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read a JSON column: %w", err)
	}
	return nil
}
