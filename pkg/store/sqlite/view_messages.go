package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// storedMessage reads an event e with its message m, and with c, the message
// that is stored under its id.
const storedMessage = `SELECT e.seq, coalesce(m.id, e.id, ''), coalesce(m.seq, c.seq, 0), e.session, coalesce(m.speaker, e.speaker, ''),
  m.time, coalesce(m.replaces, ''), e.state
FROM message_events e LEFT JOIN messages m ON m.seq = e.seq LEFT JOIN messages c ON m.seq IS NULL AND c.bank = e.bank AND c.id = e.id `

func scanStored(rows *sql.Rows) (consolidate.StoredMessage, error) {
	var m consolidate.StoredMessage
	var said sql.NullInt64
	err := rows.Scan(&m.Seq, &m.ID, &m.Canonical, &m.Session, &m.Speaker, &said, &m.Replaces, &m.State)
	if said.Valid {
		m.Said = fromMicros(said.Int64)
	}
	return m, err
}

// Messages gives what is stored of message events, in the order asked. Said is
// zero and Speaker may be empty where the message itself is not stored.
func (v *view) Messages(seqs []uint64) ([]consolidate.StoredMessage, error) {
	const find = storedMessage + `WHERE e.seq IN (SELECT value FROM json_each(?1)) AND +e.bank = ?2`
	return numbered(v, "read message events", find, seqs, func(rows *sql.Rows) (uint64, consolidate.StoredMessage, error) {
		m, err := scanStored(rows)
		return m.Seq, m, err
	})
}

// MessagesByID gives what is stored under message ids, in the order asked: of
// each the event that is stored, and after it its duplicates, by sequence.
func (v *view) MessagesByID(ids []memory.MessageID) ([]consolidate.StoredMessage, error) {
	const find = storedMessage + `WHERE e.seq IN (
  SELECT x.seq FROM json_each(?1) j CROSS JOIN messages x ON x.bank = ?2 AND x.id = j.value
  UNION SELECT d.seq FROM json_each(?1) j CROSS JOIN message_events d ON d.bank = ?2 AND d.id = j.value AND d.id IS NOT NULL)
ORDER BY m.seq IS NULL, e.seq`
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := listed(v, "look up messages", find, []any{jsonList(ids), v.bank}, scanStored)
	byID := make(map[memory.MessageID][]consolidate.StoredMessage, len(ids))
	for _, m := range found {
		byID[m.ID] = append(byID[m.ID], m)
	}
	var out []consolidate.StoredMessage
	for _, list := range inOrder(ids, byID) {
		out = append(out, list...)
	}
	return out, err
}

// MessagesOf gives the message events of a session, of a speaker, or of the
// bank, up to a sequence, in stream order; a repeat of a message's id is of its
// own session and speaker, and goes with the message it repeats. Letter case
// makes no other speaker.
func (v *view) MessagesOf(session memory.SessionID, speaker string, upto uint64) ([]consolidate.StoredMessage, error) {
	query, args := storedMessage+`WHERE e.bank = ?1 AND e.seq <= ?2 ORDER BY e.seq`, []any{v.bank, int64(upto)}
	switch {
	case session != "":
		query = storedMessage + `WHERE e.bank = ?1 AND e.seq <= ?2 AND (e.session = ?3 OR c.session = ?3) ORDER BY e.seq`
		args = append(args, text(string(session)))
	case speaker != "":
		query = storedMessage + `WHERE e.bank = ?1 AND e.seq <= ?2 AND (m.speaker IN (SELECT value FROM json_each(?3))
  OR e.speaker IN (SELECT value FROM json_each(?3)) OR c.speaker IN (SELECT value FROM json_each(?3))) ORDER BY e.seq`
		spellings, err := v.spellings(speaker)
		if err != nil {
			return nil, err
		}
		args = append(args, jsonList(spellings))
	}
	return listed(v, "list message events", query, args, scanStored)
}

// spellings gives a speaker's name as it is given and as it is stored, case
// folded; none for no name.
func (v *view) spellings(speaker string) ([]string, error) {
	if speaker == "" {
		return nil, nil
	}
	out := []string{text(speaker)}
	find := `SELECT DISTINCT speaker FROM message_events WHERE bank = ?1 AND speaker IS NOT NULL AND ?2 < 0
UNION SELECT * FROM (` + fmt.Sprintf(distinct, "messages", "speaker") + `) UNION SELECT * FROM (` + fmt.Sprintf(distinct, "facts", "speaker") + `)`
	err := v.rows("list speakers", find, []any{v.bank, -1}, func(rows *sql.Rows) error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		if s != out[0] && memory.NormalText(s) == memory.NormalText(speaker) {
			out = append(out, s)
		}
		return nil
	})
	return out, err
}

// Replacements gives the replacements in effect for the message ids, in the order asked.
func (v *view) Replacements(ids []memory.MessageID) ([]memory.Replacement, error) {
	const find = `SELECT r.id, r.by, r.time FROM json_each(?1) j CROSS JOIN replacements r ON r.id = j.value WHERE r.bank = ?2`
	return numbered(v, "read replacements", find, ids, func(rows *sql.Rows) (memory.MessageID, memory.Replacement, error) {
		var r memory.Replacement
		var at int64
		err := rows.Scan(&r.ID, &r.By, &at)
		r.Time = fromMicros(at)
		return r.ID, r, err
	})
}

// Tombstoned reports which of the message events were forgotten.
func (v *view) Tombstoned(seqs []uint64) (map[uint64]bool, error) {
	const find = `SELECT seq FROM message_events WHERE seq IN (SELECT value FROM json_each(?1)) AND +bank = ?2 AND +state = 'forgotten'
UNION SELECT t.seq FROM json_each(?1) j CROSS JOIN tombstones t ON t.bank = ?2 AND t.seq = j.value WHERE t.id NOT LIKE 'op:%'`
	out := map[uint64]bool{}
	if len(seqs) == 0 {
		return out, nil
	}
	err := v.rows("read tombstones", find, []any{jsonList(seqs), v.bank}, func(rows *sql.Rows) error {
		var seq uint64
		err := rows.Scan(&seq)
		out[seq] = true
		return err
	})
	return out, err
}
