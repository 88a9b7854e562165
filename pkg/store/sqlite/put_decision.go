package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// putModels stores what changes between the bank and language models: what
// waits for one, what became of its decisions, and which write rests on which
// facts. What was removed for good takes its rows along, and the writes that a
// model made of it are queued to be erased.
func (a *applier) putModels(bank int64, w memory.Write, c memory.Changes) error {
	for _, step := range []func() error{
		func() error { return each(bank, c.Resolved, a.resolve) },
		func() error {
			return each(bank, c.Pending, func(bank int64, q memory.PendingQuestion) error { return a.putPending(bank, w, q) })
		},
		func() error { return each(bank, c.Decisions, a.putDecision) },
		func() error {
			return each(bank, c.Derived, func(bank int64, id memory.FactID) error {
				return a.exec("store what a write rests on", `INSERT INTO derived (bank, fact, write) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
					bank, string(id), int64(w.Seq))
			})
		},
		func() error { return a.eraseDerived(bank, w, c) },
		func() error {
			if c.Observed == 0 {
				return nil
			}
			return a.exec("mark what a model has seen", `UPDATE banks SET observed = max(observed, ?) WHERE no = ?`, int64(c.Observed), bank)
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) resolve(bank int64, k memory.PendingKey) error {
	return a.exec("resolve "+string(k.Kind), `DELETE FROM pending_models WHERE bank = ? AND kind = ? AND id = ?`, bank, string(k.Kind), text(k.ID))
}

func (a *applier) putPending(bank int64, w memory.Write, q memory.PendingQuestion) error {
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("put down %s: %w", q.Kind, err)
	}
	const put = `INSERT INTO pending_models (bank, kind, id, write, at, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, kind, id) DO UPDATE SET write = excluded.write, at = excluded.at, body = excluded.body`
	return a.exec("put down "+string(q.Kind), put, bank, string(q.Kind), text(q.ID), int64(w.Seq), micros(w.Time), text(string(body)))
}

func (a *applier) putDecision(bank int64, d memory.DecisionResult) error {
	const put = `INSERT INTO decisions (bank, fact, target, write, action, made, reason, model, prompt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	return a.exec("store a decision", put, bank, string(d.Fact), string(d.Target), int64(d.Write), string(d.Action), string(d.Made),
		text(d.Reason), text(d.Model), text(d.Prompt))
}

// eraseDerived queues the writes whose texts a model made of facts that are
// gone now, repeats of them too, and this write where it is stale; and takes
// away what names those facts.
func (a *applier) eraseDerived(bank int64, w memory.Write, c memory.Changes) error {
	gone := append(append([]memory.FactID(nil), c.RemovedFacts...), forgottenFacts(c.Forgotten)...)
	if len(gone) == 0 && !c.Stale {
		return nil
	}
	ids := jsonList(gone)
	writes, err := a.writesOn(bank, w, c, gone)
	if err != nil {
		return err
	}
	if c.Stale {
		writes = append(writes, w.Seq)
	}
	for _, seq := range writes {
		if err := a.queueModelWrite(w, c, seq); err != nil {
			return err
		}
	}
	for _, s := range []string{
		`DELETE FROM derived WHERE bank = ?1 AND fact IN (SELECT value FROM json_each(?2))`,
		`DELETE FROM pending_models WHERE bank = ?1 AND kind = 'decide' AND id IN (SELECT value FROM json_each(?2))`,
		`DELETE FROM decisions WHERE bank = ?1 AND fact IN (SELECT value FROM json_each(?2))`,
		`DELETE FROM decisions WHERE bank = ?1 AND target IN (SELECT value FROM json_each(?2))`,
		`DELETE FROM decisions WHERE bank = ?1 AND made <> '' AND made IN (SELECT value FROM json_each(?2))`,
	} {
		if err := a.exec("remove what a model made of facts", s, bank, ids); err != nil {
			return err
		}
	}
	return nil
}

// writesOn gives the writes that a model made of facts that are gone, repeats of
// them too, rising. What is left of a write that a forget rewrites moves to the
// end of the log; so the writes of a model that rest on what it brought follow
// it there, and find what they speak of when they are applied anew.
func (a *applier) writesOn(bank int64, w memory.Write, c memory.Changes, gone []memory.FactID) ([]uint64, error) {
	const find = `WITH rests(write) AS (SELECT d.write FROM json_each(?2) j CROSS JOIN derived d ON d.bank = ?1 AND d.fact = j.value)
SELECT write FROM rests UNION SELECT r.write FROM rests CROSS JOIN ops o ON o.bank = ?1 AND o.write = rests.write
  CROSS JOIN repeats r ON r.bank = ?1 AND r.op = o.op ORDER BY 1`
	const brought = `SELECT DISTINCT k.value ->> '$.id' FROM ops o JOIN json_each(o.outcome, '$.results') k WHERE +o.bank = ?1 AND k.value ->> '$.id' IS NOT NULL
AND o.write IN (SELECT seq FROM erasures WHERE stream = ?2 AND op = ?3 UNION SELECT value FROM json_each(?4))`
	resting := func(facts []memory.FactID) (out []uint64, err error) {
		err = a.rows("find the writes that a model made of it", find, []any{bank, jsonList(facts)}, func(rows *sql.Rows) error {
			var seq uint64
			err := rows.Scan(&seq)
			out = append(out, seq)
			return err
		})
		return out, err
	}
	writes, err := resting(gone)
	if err != nil || c.Forgotten == nil || c.Forgotten.Bank {
		return writes, err
	}
	for known := -1; ; {
		var facts []memory.FactID
		err := a.rows("find what the rewritten writes brought", brought, []any{bank, StreamWrites, w.Op, jsonList(writes)}, func(rows *sql.Rows) error {
			var id memory.FactID
			err := rows.Scan(&id)
			facts = append(facts, id)
			return err
		})
		if err != nil || len(facts) == known {
			return writes, err
		}
		known = len(facts)
		more, err := resting(facts)
		if err != nil {
			return nil, err
		}
		writes = append(writes, more...)
		slices.Sort(writes)
		writes = slices.Compact(writes)
	}
}

// queueModelWrite queues one of them, unless it is queued.
func (a *applier) queueModelWrite(w memory.Write, c memory.Changes, seq uint64) error {
	const queue = `INSERT INTO erasures (bank, stream, seq, op, whole) SELECT ?1, ?2, ?3, ?4, 0
WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE stream = ?2 AND seq = ?3)`
	queued, err := changed(a.tx.ExecContext(a.ctx, queue, string(w.Bank), StreamWrites, int64(seq), w.Op))
	if err != nil {
		return fmt.Errorf("queue the erasure of write %d: %w", seq, err)
	}
	if queued && c.Forgotten != nil && c.Forgotten.Receipt != nil {
		c.Forgotten.Receipt.Events++
		c.Forgotten.Receipt.Rewritten++
	}
	return nil
}

func forgottenFacts(f *memory.Forgotten) []memory.FactID {
	if f == nil {
		return nil
	}
	return f.Facts
}

// stampJSON is a stamp as a column keeps it: ” for none.
func stampJSON(s *memory.Stamp) (string, error) {
	if s == nil {
		return "", nil
	}
	b, err := asJSON(s)
	return text(b), err
}

// stampOf reads what stampJSON wrote.
func stampOf(raw string) (*memory.Stamp, error) {
	if raw == "" {
		return nil, nil
	}
	s := new(memory.Stamp)
	return s, json.Unmarshal([]byte(raw), s)
}
