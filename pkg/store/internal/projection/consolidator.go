package projection

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/outbox"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// queuedChange is a change as it stands in the outbox.
type queuedChange struct {
	memory.Change
	Trace string `json:"trace,omitempty"`
}

// AdoptLog records the identities of the streams that the store applies.
func (db *DB) AdoptLog(ctx context.Context, messages, writes string) error {
	return db.database.Write(ctx, func(tx *engine.Tx) error {
		const adopt = `UPDATE applied SET log = CASE stream WHEN ? THEN ? ELSE ? END WHERE part = 0`
		return tx.Exec("record which log is applied", adopt, StreamMessages, messages, writes)
	})
}

// Outbox returns up to limit changes after number after that were committed and not marked sent, the oldest first.
func (db *DB) Outbox(ctx context.Context, after int64, limit int) ([]outbox.Entry, error) {
	const find = `SELECT no, bank, what, body FROM outbox WHERE no > ? ORDER BY no LIMIT ?`
	found, err := engine.ReadAll(ctx, db.database, "read the outbox", find, []any{after, limit}, func(rows *sql.Rows) (e outbox.Entry, err error) {
		var what string
		var body []byte
		if err = rows.Scan(&e.No, &e.Bank, &what, &body); err != nil {
			return e, err
		}
		var q queuedChange
		err = engine.FromJSON(body, &q)
		e.Change, e.Trace = q.Change, q.Trace
		e.Change.What = what
		return e, err
	})
	if err == nil && len(found) > 0 {
		db.read.Store(found[len(found)-1].No)
	}
	return found, err
}

// Sent removes outbox entries up to and including number upto. It looks for them behind those that it removed before: PostgreSQL
// has these in its index until it is cleaned, and read all of them each time.
func (db *DB) Sent(ctx context.Context, upto int64) error {
	const remove = `DELETE FROM outbox WHERE no > ? AND no <= ?`
	err := db.database.Write(ctx, func(tx *engine.Tx) error {
		return tx.Exec(fmt.Sprintf("remove changes up to %d", upto), remove, db.sent.Load(), upto)
	})
	if err == nil {
		db.sent.Store(min(upto, db.read.Load())) // later ones may still come with numbers up to this
	}
	return err
}

// Erasures returns up to limit stream events that forgets still have to erase, the oldest first, of the first bank past
// one that has any.
func (db *DB) Erasures(ctx context.Context, after memory.BankID, limit int) ([]erasure.Entry, error) {
	const find = `SELECT no, bank, stream, seq, op, whole FROM erasures
WHERE bank = (SELECT min(bank) FROM erasures WHERE bank > ?1 AND stream IN (?3, ?4, ?5)) AND stream IN (?3, ?4, ?5) ORDER BY no LIMIT ?2`
	args := []any{string(after), limit, StreamMessages, StreamWrites, StreamDead}
	return engine.ReadAll(ctx, db.database, "read the erasures", find, args, func(rows *sql.Rows) (e erasure.Entry, err error) {
		err = rows.Scan(&e.No, &e.Bank, &e.Stream, &e.Seq, &e.Op, &e.Whole)
		return e, err
	})
}

// Erased removes the erasures with these numbers.
func (db *DB) Erased(ctx context.Context, numbers []int64) error {
	return db.database.Write(ctx, func(tx *engine.Tx) error {
		return tx.Exec("remove erasures", `DELETE FROM erasures WHERE no IN (SELECT value FROM json_each(?))`, engine.List(numbers))
	})
}

// Unerasable keeps the erasures with these numbers as ones that cannot be carried out.
func (db *DB) Unerasable(ctx context.Context, numbers []int64) error {
	return db.database.Write(ctx, func(tx *engine.Tx) error {
		const keep = `UPDATE erasures SET stream = ? || stream WHERE no IN (SELECT value FROM json_each(?)) AND stream IN (?, ?, ?)`
		return tx.Exec("keep erasures that cannot be carried out", keep, schema.Damaged, engine.List(numbers), StreamMessages, StreamWrites, StreamDead)
	})
}

// ErasedMessages returns those of the message events of a bank that were forgotten, by sequence.
func (db *DB) ErasedMessages(ctx context.Context, bank memory.BankID, seqs []uint64) ([]memory.ErasedMessage, error) {
	const find = `SELECT t.seq, min(t.id), coalesce(min(e.session), ''), min(e.stored) FROM json_each(?2) j CROSS JOIN banks b ON b.id = ?1
CROSS JOIN tombstones t ON t.bank = b.no AND t.seq = j.value LEFT JOIN message_events e ON e.seq = t.seq AND e.bank = b.no
GROUP BY t.seq ORDER BY t.seq`
	if len(seqs) == 0 {
		return nil, nil
	}
	args := []any{string(bank), engine.List(seqs)}
	return engine.ReadAll(ctx, db.database, "read erased messages", find, args, func(rows *sql.Rows) (m memory.ErasedMessage, err error) {
		var stored sql.NullInt64
		err = rows.Scan(&m.Seq, &m.ID, &m.Session, &stored)
		if stored.Valid {
			m.Stored = engine.Time(stored.Int64)
		}
		return m, err
	})
}

// KnownFacts reports which of the facts are stored, in any state.
func (db *DB) KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error) {
	return existing(ctx, db, "facts", ids)
}

// KnownNames reports which names an entity of a bank bears: names, or entities as type:name.
func (db *DB) KnownNames(ctx context.Context, bank memory.BankID, names []string) (map[string]bool, error) {
	const find = `SELECT EXISTS (SELECT 1 FROM banks b JOIN entity_names n ON n.bank = b.no JOIN entities e ON e.bank = b.no AND e.id = n.entity
WHERE b.id = ?1 AND n.name IN (?2, ?4) AND ?3 IN ('', e.type))`
	out := map[string]bool{}
	err := db.database.Read(ctx, func(tx *engine.Tx) error {
		for _, given := range names {
			typ, name := memory.GivenName(given)
			var known bool
			if err := tx.Get("look up a name", find, []any{string(bank), memory.NormalText(engine.Text(name)), string(typ), memory.NormalText(memory.PersonName(engine.Text(name)))}, &known); err != nil {
				return err
			}
			out[given] = known
		}
		return nil
	})
	return out, err
}

// SourcesOf returns the message sequences on which the facts that are stored rest, by fact.
func (db *DB) SourcesOf(ctx context.Context, ids []memory.FactID) (map[memory.FactID][]uint64, error) {
	const find = `SELECT f.id, s.seq FROM json_each(?) j JOIN facts f ON f.id = j.value JOIN fact_sources s ON s.fact = f.no ORDER BY f.no, s.seq`
	out := map[memory.FactID][]uint64{}
	err := db.database.Read(ctx, func(tx *engine.Tx) error {
		return tx.Each("look up the sources of facts", find, []any{engine.List(ids)}, func(rows *sql.Rows) error {
			var id memory.FactID
			var seq uint64
			err := rows.Scan(&id, &seq)
			out[id] = append(out[id], seq)
			return err
		})
	})
	return out, err
}

// RetainedFacts reports which of the facts are stored as an op retained them by hand: one that was forgotten and retained
// again by another is not.
func (db *DB) RetainedFacts(ctx context.Context, op string, ids []memory.FactID) (map[memory.FactID]bool, error) {
	const find = `SELECT f.id FROM json_each(?1) j JOIN facts f ON f.id = j.value WHERE EXISTS (SELECT 1 FROM json_each(f.ops) k WHERE k.value = ?2)`
	return among[memory.FactID](ctx, db, "facts", find, engine.List(ids), engine.Text(op))
}

// KnownObservations reports which of the observations are stored.
func (db *DB) KnownObservations(ctx context.Context, ids []memory.ObservationID) (map[memory.ObservationID]bool, error) {
	return existing(ctx, db, "observations", ids)
}

func existing[ID ~string](ctx context.Context, db *DB, table string, ids []ID) (map[ID]bool, error) {
	return among[ID](ctx, db, table, `SELECT r.id FROM json_each(?) j JOIN `+table+` r ON r.id = j.value`, engine.List(ids))
}

// among returns the ids that a query finds.
func among[ID ~string](ctx context.Context, db *DB, table, find string, args ...any) (map[ID]bool, error) {
	found, err := engine.ReadAll(ctx, db.database, "look up "+table, find, args, engine.ScanOne[ID])
	if err != nil {
		return nil, err
	}
	out := make(map[ID]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, nil
}

// FactsWithoutVector returns up to limit facts of all banks, in any state, that have no vector and whose place is past
// after, by place.
func (db *DB) FactsWithoutVector(ctx context.Context, after int64, limit int) ([]backfill.Record, error) {
	const find = `SELECT f.no, b.id, f.id, 0, f.text, '' FROM unembedded u JOIN facts f ON f.no = u.fact JOIN banks b ON b.no = f.bank
WHERE u.fact > ? ORDER BY u.fact LIMIT ?`
	return db.withoutVector(ctx, memory.RecordFact, find, after, limit)
}

// MessagesWithoutVector returns the same of messages; the place of a message is its sequence.
func (db *DB) MessagesWithoutVector(ctx context.Context, after int64, limit int) ([]backfill.Record, error) {
	const find = `SELECT m.seq, b.id, m.id, m.seq, coalesce(m.indexed, m.content), m.caption FROM messages m JOIN banks b ON b.no = m.bank
WHERE m.seq > ? AND NOT EXISTS (SELECT 1 FROM message_vectors v WHERE v.message = m.seq) ORDER BY m.seq LIMIT ?`
	return db.withoutVector(ctx, memory.RecordMessage, find, after, limit)
}

func (db *DB) withoutVector(ctx context.Context, r memory.Record, find string, after int64, limit int) ([]backfill.Record, error) {
	what := fmt.Sprintf("list %ss without a vector", r)
	return engine.ReadAll(ctx, db.database, what, find, []any{after, limit}, func(rows *sql.Rows) (backfill.Record, error) {
		l := backfill.Record{Record: r}
		var caption string
		err := rows.Scan(&l.Place, &l.Bank, &l.ID, &l.Seq, &l.Text, &caption)
		l.Text = strings.TrimSpace(l.Text + "\n" + caption)
		return l, err
	})
}

// MessageStates counts the message events of all banks by what became of them. It reads a whole index: for metrics, not
// for requests.
func (db *DB) MessageStates(ctx context.Context) (map[memory.MessageState]int64, error) {
	out := map[memory.MessageState]int64{}
	err := db.database.Read(ctx, func(tx *engine.Tx) error {
		return tx.Each("count message events", `SELECT state, count(*) FROM message_events GROUP BY state`, nil, func(rows *sql.Rows) error {
			var state memory.MessageState
			var n int64
			err := rows.Scan(&state, &n)
			out[state] = n
			return err
		})
	})
	return out, err
}

// AppliedDecisions returns the decisions of models about these facts that were applied, by fact, target and write.
func (db *DB) AppliedDecisions(ctx context.Context, bank memory.BankID, facts []memory.FactID) ([]memory.DecisionResult, error) {
	const find = `SELECT ` + schema.DecisionColumns + ` FROM decisions d JOIN banks b ON b.no = d.bank
WHERE b.id = ? AND d.reason = '' AND d.fact IN (SELECT value FROM json_each(?)) ORDER BY d.fact, d.target, d.write`
	return engine.ReadAll(ctx, db.database, "read applied decisions", find, []any{string(bank), engine.List(facts)}, schema.ScanDecision)
}

// Look runs fn on one unchanging state of a bank, outside any write. A bank that does not exist is memory.ErrNotFound.
func (db *DB) Look(ctx context.Context, bank memory.BankID, fn func(plan.View) error) error {
	return db.Transaction(ctx, bank, func(tx *engine.Tx, no int64) error {
		return fn(&view{tx: tx, id: bank, bank: no})
	})
}

// Backlogs returns what waits for a model, by bank; banks with nothing are left out.
func (db *DB) Backlogs(ctx context.Context) ([]consolidate.Backlog, error) {
	const find = `SELECT b.id, count(*) FILTER (WHERE p.kind = 'decide'), count(*) FILTER (WHERE p.kind = 'summarise'), count(*) FILTER (WHERE p.kind = 'observe'),
  min(p.at) FILTER (WHERE p.kind = 'decide'), min(p.at) FILTER (WHERE p.kind = 'summarise')
FROM pending_models p JOIN banks b ON b.no = p.bank GROUP BY b.id ORDER BY b.id`
	return engine.ReadAll(ctx, db.database, "count what waits for a model", find, nil, func(rows *sql.Rows) (l consolidate.Backlog, err error) {
		var decision, summary sql.NullInt64
		err = rows.Scan(&l.Bank, &l.Decisions, &l.Summaries, &l.Requests, &decision, &summary)
		if decision.Valid {
			l.OldestDecision = engine.Time(decision.Int64)
		}
		if summary.Valid {
			l.OldestSummary = engine.Time(summary.Int64)
		}
		return l, err
	})
}

// Unobserved returns the banks with at least so many live facts that no model has observed yet, by id.
func (db *DB) Unobserved(ctx context.Context, least int) ([]consolidate.Unobserved, error) {
	const find = `SELECT id, n FROM (SELECT b.id, (SELECT count(*) FROM facts f WHERE f.bank = b.no AND f.live = 1 AND f.version > b.observed) AS n
FROM banks b WHERE b.profile <> '') u WHERE n >= ? ORDER BY id`
	what := "count facts no model has observed"
	return engine.ReadAll(ctx, db.database, what, find, []any{max(1, least)}, func(rows *sql.Rows) (u consolidate.Unobserved, err error) {
		err = rows.Scan(&u.Bank, &u.Facts)
		return u, err
	})
}
