package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// WindowOf gives the end of the window in which a message was new, of its
// latest generation; nil while there is none.
func (r *reader) WindowOf(id memory.MessageID) (*query.WindowResult, error) {
	const find = `SELECT w.outcome, w.reason, w.write, o.outcome FROM messages m
JOIN windows w ON w.bank = m.bank AND w.session = m.session AND w.last >= m.seq AND w.first <= m.seq
LEFT JOIN ops o ON o.write = w.write AND o.bank = w.bank
WHERE m.bank = ? AND m.id = ? ORDER BY w.generation DESC, w.write DESC LIMIT 1`
	var end query.WindowResult
	var raw []byte
	err := r.tx.QueryRowContext(r.ctx, find, r.bank, string(id)).Scan(&end.Outcome, &end.Reason, &end.Write, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the window of message %q: %w", string(id), err)
	}
	var out memory.WriteOutcome
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, fmt.Errorf("read the outcome of write %d: %w", end.Write, err)
		}
	}
	end.Results = out.Results
	return &end, nil
}

// SourcesNamed gives messages as sources, by sequence.
func (r *reader) SourcesNamed(ids []memory.MessageID) ([]memory.Source, error) {
	var out []memory.Source
	err := r.scanAll("look up messages", `SELECT DISTINCT m.seq, m.id, m.time FROM json_each(?) j
JOIN messages m ON m.bank = ? AND m.id = j.value ORDER BY m.seq`, []any{jsonList(ids), r.bank}, func(rows *sql.Rows) error {
		var s memory.Source
		var said int64
		err := rows.Scan(&s.Seq, &s.Message, &said)
		s.Said = fromMicros(said)
		s.Start = s.Said
		out = append(out, s)
		return err
	})
	return out, err
}
