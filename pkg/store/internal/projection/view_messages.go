package projection

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// storedMessage reads an event e with its message m, and with c, the message that is stored under the id of a duplicate.
const storedMessage = `SELECT e.seq, coalesce(m.id, e.id, ''), coalesce(m.seq, c.seq, 0), e.session, coalesce(m.speaker, e.speaker, ''),
  m.time, coalesce(m.replaces, ''), e.state
FROM message_events e LEFT JOIN messages m ON m.seq = e.seq LEFT JOIN messages c ON m.seq IS NULL AND c.bank = e.bank AND c.id = e.id `

func scanStored(rows *sql.Rows) (plan.StoredMessage, error) {
	var m plan.StoredMessage
	var said sql.NullInt64
	err := rows.Scan(&m.Seq, &m.ID, &m.Canonical, &m.Session, &m.Speaker, &said, &m.Replaces, &m.State)
	if said.Valid {
		m.Said = engine.Time(said.Int64)
	}
	return m, err
}

// Messages returns what is stored of message events, in the order asked. Said is zero and Speaker may be empty when the
// message itself is not stored.
func (v *view) Messages(seqs []uint64) ([]plan.StoredMessage, error) {
	const find = storedMessage + `WHERE e.seq IN (SELECT value FROM json_each(?1)) AND +e.bank = ?2`
	found, err := keyed(v, "read message events", find, seqs, scanStored, func(m plan.StoredMessage) uint64 { return m.Seq })
	if err == nil {
		events := make(map[uint64]*storedEvent, len(found))
		for _, m := range found {
			events[m.Seq] = &storedEvent{state: m.State, session: m.Session, kept: m.Canonical == m.Seq}
		}
		v.known.askedEvents(seqs, events)
	}
	return found, err
}

// MessagesByID returns what is stored under message ids, in the order asked: of each the event that is stored, followed by
// its duplicates, by sequence.
func (v *view) MessagesByID(ids []memory.MessageID) ([]plan.StoredMessage, error) {
	const find = storedMessage + `WHERE e.seq IN (
  SELECT x.seq FROM json_each(?1) j CROSS JOIN messages x ON x.bank = ?2 AND x.id = j.value
  UNION SELECT d.seq FROM json_each(?1) j CROSS JOIN message_events d ON d.bank = ?2 AND d.id = j.value AND d.id IS NOT NULL)
ORDER BY m.seq IS NULL, e.seq`
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := engine.All(v.tx, "look up messages", find, []any{engine.List(ids), v.bank}, scanStored)
	byID := make(map[memory.MessageID][]plan.StoredMessage, len(ids))
	for _, m := range found {
		byID[m.ID] = append(byID[m.ID], m)
	}
	var out []plan.StoredMessage
	for _, list := range engine.InOrder(ids, byID) {
		out = append(out, list...)
	}
	return out, err
}

// MessagesOf returns the message events of a session, of a speaker, or of the bank, up to a sequence, in stream order. A
// duplicate belongs to its own session and speaker and also to those of the message it repeats. The case of speakers is
// ignored.
func (v *view) MessagesOf(session memory.SessionID, speaker string, upto uint64) ([]plan.StoredMessage, error) {
	query, args := storedMessage+`WHERE e.bank = ?1 AND e.seq <= ?2 ORDER BY e.seq`, []any{v.bank, int64(upto)}
	switch {
	case session != "":
		query = storedMessage + `WHERE e.bank = ?1 AND e.seq <= ?2 AND (e.session = ?3 OR c.session = ?3) ORDER BY e.seq`
		args = append(args, engine.Text(string(session)))
	case speaker != "":
		query = storedMessage + `WHERE e.bank = ?1 AND e.seq <= ?2 AND (m.speaker IN (SELECT value FROM json_each(?3))
  OR e.speaker IN (SELECT value FROM json_each(?3)) OR c.speaker IN (SELECT value FROM json_each(?3))) ORDER BY e.seq`
		spellings, err := v.spellings(speaker)
		if err != nil {
			return nil, err
		}
		args = append(args, engine.List(spellings))
	}
	return engine.All(v.tx, "list message events", query, args, scanStored)
}

// spellings returns a speaker's name as it is given and as it is stored, ignoring case; nil for no name.
func (v *view) spellings(speaker string) ([]string, error) {
	if speaker == "" {
		return nil, nil
	}
	out := []string{engine.Text(speaker)}
	find := `SELECT DISTINCT speaker FROM message_events WHERE bank = ?1 AND speaker IS NOT NULL AND ?2 < 0
UNION SELECT * FROM (` + schema.Distinct("messages", "speaker") + `) m UNION SELECT * FROM (` + schema.Distinct("facts", "speaker") + `) f`
	all, err := engine.Column[string](v.tx, "list speakers", find, v.bank, -1)
	for _, s := range all {
		if s != out[0] && memory.NormalText(s) == memory.NormalText(speaker) {
			out = append(out, s)
		}
	}
	return out, err
}

// Replacements returns the replacements in effect for the message ids, in the order asked.
func (v *view) Replacements(ids []memory.MessageID) ([]memory.Replacement, error) {
	const find = `SELECT r.id, r.by, r.time FROM json_each(?1) j CROSS JOIN replacements r ON r.id = j.value WHERE r.bank = ?2`
	return keyed(v, "read replacements", find, ids, func(rows *sql.Rows) (r memory.Replacement, err error) {
		var at int64
		err = rows.Scan(&r.ID, &r.By, &at)
		r.Time = engine.Time(at)
		return r, err
	}, func(r memory.Replacement) memory.MessageID { return r.ID })
}

// Tombstoned reports which of the message events were forgotten.
func (v *view) Tombstoned(seqs []uint64) (map[uint64]bool, error) {
	const find = `SELECT seq FROM message_events WHERE seq IN (SELECT value FROM json_each(?1)) AND +bank = ?2 AND +state = 'forgotten'
UNION SELECT t.seq FROM json_each(?1) j CROSS JOIN tombstones t ON t.bank = ?2 AND t.seq = j.value`
	out := map[uint64]bool{}
	if len(seqs) == 0 {
		return out, nil
	}
	forgotten, err := engine.Column[uint64](v.tx, "read tombstones", find, engine.List(seqs), v.bank)
	for _, seq := range forgotten {
		out[seq] = true
	}
	return out, err
}
