package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// Conservation counts message events by what became of them.
func (r *reader) Conservation() (memory.Conservation, error) {
	var c memory.Conservation
	counts := map[memory.MessageState]*int{
		memory.StateForgotten: &c.Forgotten, memory.StateDead: &c.Dead, memory.StateDuplicate: &c.Duplicate, memory.StateThrottled: &c.Throttled,
		memory.StateSkipped: &c.Skipped, memory.StateCommitted: &c.Committed, memory.StateEmpty: &c.Empty, memory.StatePending: &c.Pending,
	}
	err := r.scanAll("count message events", `SELECT state, count(*) FROM message_events WHERE bank = ? GROUP BY state`, []any{r.bank},
		func(rows *sql.Rows) error {
			var state memory.MessageState
			var n int
			if err := rows.Scan(&state, &n); err != nil {
				return err
			}
			at, known := counts[state]
			if !known {
				return fmt.Errorf("message state %q is not known", string(state))
			}
			*at = n
			return nil
		})
	c.Published = c.Sum()
	return c, err
}

// Tally counts live facts, composites, observations, entities and open conflicts.
func (r *reader) Tally() (query.Tally, error) {
	const count = `SELECT (SELECT count(*) FROM facts WHERE bank = ?1 AND live = 1),
  (SELECT count(*) FROM composites WHERE bank = ?1), (SELECT count(*) FROM observations WHERE bank = ?1),
  (SELECT count(*) FROM entities WHERE bank = ?1 AND redirect IS NULL),
  (SELECT count(*) FROM conflicts WHERE bank = ?1 AND state = 'open')`
	var t query.Tally
	err := r.tx.QueryRowContext(r.ctx, count, r.bank).Scan(&t.Facts, &t.Composites, &t.Observations, &t.Entities, &t.Conflicts)
	if err != nil {
		return t, fmt.Errorf("count records: %w", err)
	}
	return t, nil
}

// Pending gives, for each session with pending messages, how many, the first
// and last of them, by session.
func (r *reader) Pending(limit int) ([]query.PendingSession, error) {
	const find = `SELECT session, count(*), min(seq), max(seq), min(stored), max(stored) FROM message_events
WHERE bank = ? AND state = 'pending' GROUP BY session ORDER BY session LIMIT ?`
	var out []query.PendingSession
	err := r.scanAll("list pending sessions", find, []any{r.bank, limit}, func(rows *sql.Rows) error {
		var p query.PendingSession
		var oldest, newest int64
		err := rows.Scan(&p.Session, &p.Messages, &p.First, &p.Last, &oldest, &newest)
		p.Oldest, p.Newest = fromMicros(oldest), fromMicros(newest)
		out = append(out, p)
		return err
	})
	return out, err
}

// Banks gives up to limit banks whose id is past after, by id.
func (db *DB) Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error) {
	var out []memory.Bank
	err := db.read(ctx, func(tx *sql.Tx) error {
		r := &reader{ctx: ctx, tx: tx}
		return r.scanAll("list banks", `SELECT profile FROM banks WHERE id > ? AND profile <> '' ORDER BY id LIMIT ?`, []any{string(after), limit},
			func(rows *sql.Rows) error {
				var raw []byte
				if err := rows.Scan(&raw); err != nil {
					return err
				}
				var b memory.Bank
				err := json.Unmarshal(raw, &b)
				out = append(out, b)
				return err
			})
	})
	return out, err
}
