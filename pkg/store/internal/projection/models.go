package projection

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// putModels stores what changes between the bank and language models: what waits for one, what became of its decisions,
// and which write rests on which facts. With facts that are removed for good their rows go, and the writes in which a
// model wrote about them are queued for erasure.
func (a *applier) putModels(bank int64, w memory.Write, c memory.Changes) error {
	return inTurn(
		func() error { return each(bank, c.Resolved, a.removePending) },
		func() error {
			return each(bank, c.Pending, func(bank int64, q memory.PendingQuestion) error { return a.putPending(bank, w, q) })
		},
		func() error { return each(bank, c.Decisions, a.putDecision) },
		func() error {
			return each(bank, c.Derived, func(bank int64, id memory.FactID) error {
				return a.tx.Exec("store what a write rests on", `INSERT INTO derived (bank, fact, write) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
					bank, string(id), int64(w.Seq))
			})
		},
		func() error { return a.eraseDerived(bank, w, c) },
		func() error {
			if c.Observed == 0 {
				return nil
			}
			return a.tx.Exec("mark what a model has seen", `UPDATE banks SET observed = ?1 WHERE no = ?2 AND observed < ?1`, int64(c.Observed), bank)
		},
	)
}

func (a *applier) removePending(bank int64, k memory.PendingKey) error {
	return a.tx.Exec("resolve "+string(k.Kind), `DELETE FROM pending_models WHERE bank = ? AND kind = ? AND id = ?`, bank, string(k.Kind), engine.Text(k.ID))
}

func (a *applier) putPending(bank int64, w memory.Write, q memory.PendingQuestion) error {
	what := "queue " + string(q.Kind)
	body, err := engine.JSON(q)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	const put = `INSERT INTO pending_models (bank, kind, id, write, at, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, kind, id) DO UPDATE SET write = excluded.write, at = excluded.at, body = excluded.body`
	return a.tx.Exec(what, put, bank, string(q.Kind), engine.Text(q.ID), int64(w.Seq), engine.Micros(w.Time), engine.Text(body))
}

func (a *applier) putDecision(bank int64, d memory.DecisionResult) error {
	const put = `INSERT INTO decisions (bank, fact, target, write, action, made, reason, model, prompt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	return a.tx.Exec("store a decision", put, bank, string(d.Fact), string(d.Target), int64(d.Write), string(d.Action), string(d.Made),
		engine.Text(d.Reason), engine.Text(d.Model), engine.Text(d.Prompt))
}

// eraseDerived queues for erasure the writes whose texts a model wrote about facts that are gone now, their repeats, and
// this write if it is stale. It deletes the rows that name those facts.
func (a *applier) eraseDerived(bank int64, w memory.Write, c memory.Changes) error {
	gone := append(append([]memory.FactID(nil), c.RemovedFacts...), forgottenFacts(c.Forgotten)...)
	if len(gone) == 0 && !c.Stale {
		return nil
	}
	ids := engine.List(gone)
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
		if err := a.tx.Exec("remove what a model made of facts", s, bank, ids); err != nil {
			return err
		}
	}
	return nil
}

// writesOn returns the writes that a model made about facts that are gone, and their repeats, ascending. What is left of
// a write that a forget rewrites moves to the end of the log. So the model's writes that rest on facts of that write
// follow it there, and find those facts when they are applied again.
func (a *applier) writesOn(bank int64, w memory.Write, c memory.Changes, gone []memory.FactID) ([]uint64, error) {
	const find = `WITH rests(write) AS (SELECT d.write FROM json_each(?2) j CROSS JOIN derived d ON d.bank = ?1 AND d.fact = j.value)
SELECT write FROM rests UNION SELECT r.write FROM rests CROSS JOIN ops o ON o.bank = ?1 AND o.write = rests.write
  CROSS JOIN repeats r ON r.bank = ?1 AND r.op = o.op ORDER BY 1`
	const factsOf = `SELECT DISTINCT k.value ->> '$.id' FROM ops o CROSS JOIN json_each(o.outcome, '$.results') k WHERE +o.bank = ?1 AND k.value ->> '$.id' IS NOT NULL
AND o.write IN (SELECT seq FROM erasures WHERE stream = ?2 AND op = ?3 UNION SELECT value FROM json_each(?4))`
	resting := func(facts []memory.FactID) ([]uint64, error) {
		return engine.Column[uint64](a.tx, "find the writes that a model made of it", find, bank, engine.List(facts))
	}
	writes, err := resting(gone)
	if err != nil || c.Forgotten == nil || c.Forgotten.Bank {
		return writes, err
	}
	for previous := -1; ; {
		facts, err := engine.Column[memory.FactID](a.tx, "find the facts of the rewritten writes", factsOf, bank, StreamWrites, w.Op, engine.List(writes))
		if err != nil || len(facts) == previous {
			return writes, err
		}
		previous = len(facts)
		more, err := resting(facts)
		if err != nil {
			return nil, err
		}
		writes = append(writes, more...)
		slices.Sort(writes)
		writes = slices.Compact(writes)
	}
}

// queueModelWrite queues one of these writes, unless it is queued.
func (a *applier) queueModelWrite(w memory.Write, c memory.Changes, seq uint64) error {
	const queue = `INSERT INTO erasures (bank, stream, seq, op, whole) SELECT ?1, ?2, ?3, ?4, 0
WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE stream = ?2 AND seq = ?3)`
	queued, err := a.tx.Changed(fmt.Sprintf("queue the erasure of write %d", seq), queue, string(w.Bank), StreamWrites, int64(seq), w.Op)
	if err != nil {
		return err
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
