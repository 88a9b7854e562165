package search

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// findSessions is the statement that lists sessions, of a bank, behind a sequence or 0, up to a number. The index of sessions
// says in one step for each which there are and what their last message is (s and l), and so which a page holds (p); only
// their messages are read, once.
func findSessions(oldestFirst bool) string {
	direction, past := "DESC", "<"
	if oldestFirst {
		direction, past = "ASC", ">"
	}
	return fmt.Sprintf(`WITH RECURSIVE s(session) AS (SELECT min(session) FROM messages WHERE bank = ?1
  UNION ALL SELECT (SELECT min(m.session) FROM messages m WHERE m.bank = ?1 AND m.session > s.session) FROM s WHERE s.session IS NOT NULL),
l AS (SELECT session, (SELECT max(m.seq) FROM messages m WHERE m.bank = ?1 AND m.session = s.session) AS last FROM s WHERE session IS NOT NULL),
p AS (SELECT session, last FROM l WHERE ?2 = 0 OR last %s ?2 ORDER BY last %s LIMIT ?3)
SELECT p.session, count(*), p.last, min(m.time), max(m.time),
  (SELECT count(*) FROM message_events e WHERE e.bank = ?1 AND e.session = p.session AND e.state = 'pending'),
  (SELECT max(e.stored) FROM message_events e WHERE e.bank = ?1 AND e.session = p.session AND e.state = 'pending')
FROM p CROSS JOIN messages m WHERE m.bank = ?1 AND m.session = p.session GROUP BY p.session, p.last ORDER BY p.last %s`, past, direction, direction)
}

// Sessions returns up to limit sessions with stored messages, by the sequence of the last of them, and the place after
// the last session.
func (r *Reader) Sessions(oldestFirst bool, from query.Position, limit int) ([]wire.Session, query.Position, error) {
	var places []query.Position
	list, err := engine.All(r.tx, "list sessions", findSessions(oldestFirst), []any{r.bank, from.No, limit + 1}, func(rows *sql.Rows) (s wire.Session, err error) {
		var first, last int64
		var newest sql.NullInt64
		err = rows.Scan(&s.Session, &s.Messages, &s.Seq, &first, &last, &s.Pending, &newest)
		s.First, s.Last = engine.Time(first), engine.Time(last)
		if newest.Valid {
			at := engine.Time(newest.Int64)
			s.Until = &at
		}
		places = append(places, query.Position{No: int64(s.Seq)})
		return s, err
	})
	if err != nil {
		return nil, query.Position{}, err
	}
	places, last := page(places, limit)
	return list[:len(places)], last, nil
}

// Windows returns up to limit windows that ended, of a session or of all, the last end first, and the place after them.
func (r *Reader) Windows(session memory.SessionID, from query.Position, limit int) ([]wire.WindowStatus, query.Position, error) {
	const find = `SELECT id, session, first, last, generation, outcome, reason, write FROM windows WHERE bank = ?1 AND (?2 = '' OR session = ?2)
AND (?3 = 0 OR (write, id) < (?3, ?4)) ORDER BY write DESC, id DESC LIMIT ?5`
	var places []query.Position
	list, err := engine.All(r.tx, "list windows", find, []any{r.bank, string(session), from.No, from.ID, limit + 1}, func(rows *sql.Rows) (w wire.WindowStatus, err error) {
		w.State = wire.WindowEnded
		err = rows.Scan(&w.ID, &w.Session, &w.First, &w.Last, &w.Generation, &w.Outcome, &w.Reason, &w.Write)
		places = append(places, query.Position{No: int64(w.Write), ID: string(w.ID)})
		return w, err
	})
	if err != nil {
		return nil, query.Position{}, err
	}
	places, last := page(places, limit)
	return list[:len(places)], last, nil
}

// Located returns up to limit ids of message events, by sequence, and up to limit of their sessions with how many of the
// events are theirs.
func (r *Reader) Located(seqs []uint64, limit int) ([]memory.MessageID, []wire.SessionCount, error) {
	const find = `SELECT coalesce(m.id, e.id) FROM json_each(?) j CROSS JOIN message_events e ON e.seq = j.value LEFT JOIN messages m ON m.seq = e.seq
WHERE e.bank = ? AND coalesce(m.id, e.id, '') <> '' ORDER BY e.seq LIMIT ?`
	list := engine.List(seqs)
	ids, err := engine.Column[memory.MessageID](r.tx, "read the ids of messages", find, list, r.bank, limit)
	if err != nil {
		return nil, nil, err
	}
	const count = `SELECT e.session, count(*) AS n FROM json_each(?) j CROSS JOIN message_events e ON e.seq = j.value WHERE +e.bank = ?
GROUP BY e.session ORDER BY n DESC, e.session LIMIT ?`
	sessions, err := engine.All(r.tx, "count messages by session", count, []any{list, r.bank, limit}, func(rows *sql.Rows) (s wire.SessionCount, err error) {
		err = rows.Scan(&s.Session, &s.Messages)
		return s, err
	})
	return ids, sessions, err
}
