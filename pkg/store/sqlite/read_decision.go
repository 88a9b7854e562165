package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const decisionColumns = `SELECT d.fact, d.target, d.action, d.made, d.reason, d.write, d.model, d.prompt FROM decisions d WHERE d.bank = ?2 AND (
  d.fact IN (SELECT value FROM json_each(?1)) OR d.target IN (SELECT value FROM json_each(?1))) ORDER BY d.fact, d.target, d.write`

func scanDecision(rows *sql.Rows) (d memory.DecisionResult, err error) {
	err = rows.Scan(&d.Fact, &d.Target, &d.Action, &d.Made, &d.Reason, &d.Write, &d.Model, &d.Prompt)
	return d, err
}

// DecisionsOf gives what became of a model's decisions that one of the facts
// was party to, by fact, target and write.
func (v *view) DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	return listed(v, "read decisions", decisionColumns, []any{jsonList(facts), v.bank}, scanDecision)
}

// DecisionsOf gives what became of a model's decisions that one of the facts
// was party to, by fact, target and write.
func (r *reader) DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error) {
	var out []memory.DecisionResult
	err := r.scanAll("read decisions", decisionColumns, []any{jsonList(facts), r.bank}, func(rows *sql.Rows) error {
		d, err := scanDecision(rows)
		out = append(out, d)
		return err
	})
	return out, err
}

// AppliedDecisions gives the decisions of models about these facts that were
// applied, by fact, target and write.
func (db *DB) AppliedDecisions(ctx context.Context, bank memory.BankID, facts []memory.FactID) ([]memory.DecisionResult, error) {
	const find = `SELECT d.fact, d.target, d.action, d.made, d.reason, d.write, d.model, d.prompt FROM decisions d JOIN banks b ON b.no = d.bank
WHERE b.id = ? AND d.reason = '' AND d.fact IN (SELECT value FROM json_each(?)) ORDER BY d.fact, d.target, d.write`
	var out []memory.DecisionResult
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "read applied decisions", find, []any{string(bank), jsonList(facts)}, func(rows *sql.Rows) error {
			d, err := scanDecision(rows)
			out = append(out, d)
			return err
		})
	})
	return out, err
}

// Pending gives up to limit questions of a kind that wait for a model, the
// longest waiting first, then by id.
func (v *view) Pending(kind memory.PendingKind, limit int) ([]memory.PendingQuestion, error) {
	const find = `SELECT id, write, at, body FROM pending_models WHERE bank = ? AND kind = ? ORDER BY write, id LIMIT ?`
	return listed(v, "read what waits for a model", find, []any{v.bank, string(kind), limit}, func(rows *sql.Rows) (memory.PendingQuestion, error) {
		var q memory.PendingQuestion
		var at int64
		var body []byte
		if err := rows.Scan(&q.ID, &q.Write, &at, &body); err != nil {
			return q, err
		}
		q.Kind, q.At = kind, fromMicros(at)
		return q, fromJSON(body, &q)
	})
}

// LastObserved is the MEM_WRITES sequence up to which a model has seen the facts, 0 for none.
func (v *view) LastObserved() (seq uint64, err error) {
	err = v.tx.QueryRowContext(v.ctx, `SELECT observed FROM banks WHERE no = ?`, v.bank).Scan(&seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read what a model has seen: %w", err)
	}
	return seq, nil
}

// Look runs fn on one unchanging state of a bank, outside any write. A bank
// that was never made is memory.ErrNotFound.
func (db *DB) Look(ctx context.Context, bank memory.BankID, fn func(consolidate.View) error) error {
	return db.readBank(ctx, bank, func(r *reader) error {
		return fn(&view{ctx: r.ctx, tx: r.tx, id: bank, bank: r.bank})
	})
}

// Backlogs gives what waits for a model, by bank; banks without anything are left out.
func (db *DB) Backlogs(ctx context.Context) ([]consolidate.Backlog, error) {
	const find = `SELECT b.id, count(*) FILTER (WHERE p.kind = 'decide'), count(*) FILTER (WHERE p.kind = 'summarise'), count(*) FILTER (WHERE p.kind = 'observe'),
  min(p.at) FILTER (WHERE p.kind = 'decide'), min(p.at) FILTER (WHERE p.kind = 'summarise')
FROM pending_models p JOIN banks b ON b.no = p.bank GROUP BY b.id ORDER BY b.id`
	var out []consolidate.Backlog
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "count what waits for a model", find, nil, func(rows *sql.Rows) error {
			var l consolidate.Backlog
			var decision, summary sql.NullInt64
			err := rows.Scan(&l.Bank, &l.Decisions, &l.Summaries, &l.Requests, &decision, &summary)
			if decision.Valid {
				l.OldestDecision = fromMicros(decision.Int64)
			}
			if summary.Valid {
				l.OldestSummary = fromMicros(summary.Int64)
			}
			out = append(out, l)
			return err
		})
	})
	return out, err
}

// Unobserved gives the banks with at least so many live facts that no model has
// observed yet, by id.
func (db *DB) Unobserved(ctx context.Context, least int) ([]consolidate.Unobserved, error) {
	const find = `SELECT id, n FROM (SELECT b.id, (SELECT count(*) FROM facts f WHERE f.bank = b.no AND f.live = 1 AND f.version > b.observed) AS n
FROM banks b WHERE b.profile <> '') WHERE n >= ? ORDER BY id`
	var out []consolidate.Unobserved
	err := db.read(ctx, func(tx *sql.Tx) error {
		return eachRow(ctx, tx, "count facts no model has observed", find, []any{max(1, least)}, func(rows *sql.Rows) error {
			var u consolidate.Unobserved
			err := rows.Scan(&u.Bank, &u.Facts)
			out = append(out, u)
			return err
		})
	})
	return out, err
}

// PendingDecisions counts the facts that wait for a model's decision.
func (r *reader) PendingDecisions() (n int, err error) {
	err = r.tx.QueryRowContext(r.ctx, `SELECT count(*) FROM pending_models WHERE bank = ? AND kind = 'decide'`, r.bank).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count pending decisions: %w", err)
	}
	return n, nil
}
