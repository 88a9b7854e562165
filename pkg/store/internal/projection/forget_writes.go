package projection

import (
	"database/sql"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// textWrite is a write that may hold text of what is forgotten.
type textWrite struct {
	write   uint64
	window  bool // it ends a window
	vectors bool // it was found by the late vectors that it holds
	rest    bool // it holds late vectors of other records too
}

// writesOfBank returns all writes of a bank that is erased.
const writesOfBank = `SELECT write, 0 FROM ops WHERE bank = ?1 UNION SELECT write, 0 FROM windows WHERE bank = ?1
UNION SELECT write, 0 FROM repeats WHERE bank = ?1 ORDER BY 1`

// writesOf returns, ascending, the MEM_WRITES events that may hold text of what is forgotten: the ends of windows in which
// the messages, or the sources of the facts, were new, the writes of the facts' own ops, and those that gave the
// observations ready-made, repeats included.
func (a *applier) writesOf(bank int64, f *memory.Forgotten) ([]textWrite, error) {
	const find = `WITH
gone(no) AS (SELECT f.no FROM json_each(?2) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ?1),
ended(write) AS (SELECT value FROM json_each(?3)),
named(op, ends) AS (SELECT o.op, 1 FROM ops o WHERE +o.bank = ?1 AND o.write IN (SELECT write FROM ended)
  UNION SELECT k.value, 0 FROM gone JOIN facts f ON f.no = gone.no CROSS JOIN json_each(f.ops) k),
held(write, ends) AS (SELECT write, 1 FROM ended
UNION SELECT o.write, named.ends FROM named JOIN ops o ON o.bank = ?1 AND o.op = named.op
UNION SELECT r.write, named.ends FROM named JOIN repeats r ON r.bank = ?1 AND r.op = named.op)
SELECT write, max(ends) FROM held GROUP BY write ORDER BY 1`
	query, args := writesOfBank, []any{bank}
	if !f.Bank {
		ended, err := a.endsOf(bank, f)
		if err != nil {
			return nil, err
		}
		query, args = find, []any{bank, engine.List(f.Facts), engine.List(ended)}
	}
	var out []textWrite
	scan := func(rows *sql.Rows) error {
		var h textWrite
		err := rows.Scan(&h.write, &h.window)
		out = append(out, h)
		return err
	}
	if err := a.tx.Each("find the writes that hold it", query, args, scan); err != nil || f.Bank || len(f.Observations) == 0 {
		return out, err
	}
	return out, a.tx.Each("find the writes that gave the observations", writesObserving, []any{bank, engine.List(f.Observations)}, scan)
}

const writesObserving = `WITH given(op) AS (SELECT o.op FROM ops o CROSS JOIN json_each(o.outcome, '$.observations') k
  WHERE o.bank = ?1 AND k.value IN (SELECT value FROM json_each(?2)))
SELECT o.write, 0 FROM given JOIN ops o ON o.bank = ?1 AND o.op = given.op
UNION SELECT r.write, 0 FROM given JOIN repeats r ON r.bank = ?1 AND r.op = given.op ORDER BY 1`

// endsOf returns the writes that ended the windows in which the messages, or the sources of the facts, were new. The
// windows of a session are read once: each of its messages is in few of them, and which ones no index tells.
func (a *applier) endsOf(bank int64, f *memory.Forgotten) ([]uint64, error) {
	const findEvents = `WITH gone(no) AS (SELECT f.no FROM json_each(?2) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ?1),
events(seq) AS (SELECT value FROM json_each(?3) UNION SELECT s.seq FROM gone JOIN fact_sources s ON s.fact = gone.no)
SELECT e.session, e.seq FROM events JOIN message_events e ON e.seq = events.seq WHERE e.bank = ?1 ORDER BY e.seq`
	events := map[string][]int64{} // sequences by session, ascending
	var sessions []string
	first, last := int64(-1), int64(-1)
	args := []any{bank, engine.List(f.Facts), engine.List(f.Messages)}
	err := a.tx.Batch("find the sessions of what is forgotten", 2, findEvents, args, func(row *engine.Rowset) error {
		session, seq := row.Text(), row.Int()
		if events[session] == nil {
			sessions = append(sessions, session)
		}
		if first < 0 {
			first = seq
		}
		events[session], last = append(events[session], seq), seq
		return nil
	})
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	const findWindows = `SELECT w.session, w.first, w.last, w.write FROM json_each(?2) j CROSS JOIN windows w
ON w.bank = ?1 AND w.session = j.value AND w.last >= ?3 AND w.first <= ?4`
	var ended []uint64
	err = a.tx.Batch("find the windows of what is forgotten", 4, findWindows, []any{bank, engine.List(sessions), first, last}, func(row *engine.Rowset) error {
		of, from, to, write := events[row.Text()], row.Int(), row.Int(), row.Int()
		if at, _ := slices.BinarySearch(of, from); at < len(of) && of[at] <= to {
			ended = append(ended, uint64(write))
		}
		return nil
	})
	return ended, err
}
