package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Applied returns the last applied sequences of MEM_MESSAGES and MEM_WRITES.
func (s *Store) Applied(ctx context.Context) (messages, writes uint64, err error) {
	err = s.database.Read(ctx, func(tx *engine.Tx) error {
		messages, writes, err = schema.Applied(tx)
		return err
	})
	return messages, writes, err
}

// AppliedOf returns the sequence of MEM_MESSAGES up to which the messages of a bank are applied, and the last applied one
// of MEM_WRITES.
func (s *Store) AppliedOf(ctx context.Context, bank memory.BankID) (messages, writes uint64, err error) {
	err = s.database.Read(ctx, func(tx *engine.Tx) error {
		messages, writes, err = schema.AppliedOf(tx, bank)
		return err
	})
	return messages, writes, err
}

// MessagePosition returns how far MEM_MESSAGES is applied.
func (s *Store) MessagePosition(ctx context.Context) (p memory.MessagePosition, err error) {
	err = s.database.Read(ctx, func(tx *engine.Tx) error {
		p, err = schema.Ahead(tx)
		return err
	})
	return p, err
}

// LogPositions returns how far the store has applied MEM_MESSAGES and MEM_WRITES.
func (s *Store) LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error) {
	err = s.database.Read(ctx, func(tx *engine.Tx) error {
		if messages, err = schema.Position(tx, schema.StreamMessages); err == nil {
			writes, err = schema.Position(tx, schema.StreamWrites)
		}
		return err
	})
	return messages, writes, err
}

// Outcome returns the outcome of an op that was applied; nil if it was not.
func (s *Store) Outcome(ctx context.Context, bank memory.BankID, op string) (out *memory.WriteOutcome, err error) {
	err = s.database.Read(ctx, func(tx *engine.Tx) error {
		const find = `SELECT o.outcome, o.write, o.op FROM ops o JOIN banks b ON b.no = o.bank WHERE b.id = ? AND o.op IN (?, ?)`
		out, err = schema.FindOutcome(tx, find, bank, string(bank), op)
		return err
	})
	return out, err
}

// Banks returns up to limit banks whose id is past after, by id.
func (s *Store) Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error) {
	const find = `SELECT profile FROM banks WHERE id > ? AND profile <> '' ORDER BY id LIMIT ?`
	return engine.ReadAll(ctx, s.database, "list banks", find, []any{string(after), limit}, func(rows *sql.Rows) (b memory.Bank, err error) {
		var raw []byte
		if err = rows.Scan(&raw); err == nil {
			err = json.Unmarshal(raw, &b)
		}
		return b, err
	})
}

// MessageEvents returns up to limit message events past a sequence that the store knows of, those of erased banks too, by
// sequence.
func (s *Store) MessageEvents(ctx context.Context, after uint64, limit int) ([]verify.MessageEvent, error) {
	const find = `SELECT k.seq, b.id, k.forgotten FROM (
  SELECT seq, bank, state = 'forgotten' AS forgotten FROM (SELECT * FROM message_events WHERE seq > ?1 ORDER BY seq LIMIT ?2) e
  UNION SELECT seq, bank, TRUE FROM tombstones WHERE seq > ?1) k JOIN banks b ON b.no = k.bank ORDER BY k.seq LIMIT ?2`
	what, args := "list message events", []any{int64(after), limit}
	return engine.ReadAll(ctx, s.database, what, find, args, func(rows *sql.Rows) (k verify.MessageEvent, err error) {
		err = rows.Scan(&k.Seq, &k.Bank, &k.Forgotten)
		return k, err
	})
}

// AppliedWrites returns the sequences of up to limit writes past one that were applied, those of erased banks too, ascending.
// Writes that repeated an op are left out.
func (s *Store) AppliedWrites(ctx context.Context, after uint64, limit int) ([]uint64, error) {
	const find = `SELECT write FROM ops WHERE write > ? ORDER BY write LIMIT ?`
	return engine.ReadAll(ctx, s.database, "list applied writes", find, []any{int64(after), limit}, func(rows *sql.Rows) (seq uint64, err error) {
		err = rows.Scan(&seq)
		return seq, err
	})
}

// Queues returns how much is still to be published and erased.
func (s *Store) Queues(ctx context.Context) ([]verify.Queues, error) {
	const count = `SELECT (SELECT count(*) FROM outbox), (SELECT coalesce(min(no), 0) FROM outbox),
  (SELECT count(*) FROM erasures WHERE stream NOT LIKE ?1), (SELECT coalesce(min(no), 0) FROM erasures WHERE stream NOT LIKE ?1),
  (SELECT count(*) FROM erasures WHERE stream LIKE ?1)`
	var q verify.Queues
	err := s.database.Read(ctx, func(tx *engine.Tx) error {
		return tx.Get("count what is queued", count, []any{schema.Damaged + "%"}, &q.Changes, &q.FirstChange, &q.Erasures, &q.FirstErasure, &q.Damaged)
	})
	return []verify.Queues{q}, err
}

// Spent returns the tokens that language models used for a bank on a UTC day ("2026-05-20"), without embedding and
// reranking, and the bank's own limit of them; 0 = none. A bank that does not exist spent nothing.
func (s *Store) Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error) {
	const sum = `SELECT coalesce(sum(prompt + completion), 0) FROM usage WHERE bank = ? AND day = ? AND stage NOT IN (?, ?)`
	err = s.readBank(ctx, bank, func(r *Reader) error {
		b, err := r.Bank()
		if err != nil {
			return err
		}
		if b.Quotas != nil {
			bound = b.Quotas.TokensPerDay
		}
		return r.tx.Get("sum up the tokens of "+day, sum, []any{r.bank, day, memory.StageEmbed, memory.StageRerank}, &tokens)
	})
	if errors.Is(err, memory.ErrNotFound) {
		err = nil
	}
	return tokens, bound, err
}

// Conservation counts message events by what became of them.
func (r *Reader) Conservation() (memory.Conservation, error) {
	var c memory.Conservation
	counts := map[memory.MessageState]*int{
		memory.StateForgotten: &c.Forgotten, memory.StateDead: &c.Dead, memory.StateDuplicate: &c.Duplicate, memory.StateThrottled: &c.Throttled,
		memory.StateSkipped: &c.Skipped, memory.StateCommitted: &c.Committed, memory.StateEmpty: &c.Empty, memory.StatePending: &c.Pending,
	}
	const count = `SELECT state, n FROM state_counts WHERE bank = ?`
	err := r.tx.Each("count message events", count, []any{r.bank}, func(rows *sql.Rows) error {
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

// PendingQuestions counts what of a kind waits for a model.
func (r *Reader) PendingQuestions(kind memory.PendingKind) (n int, err error) {
	const count = `SELECT count(*) FROM pending_models WHERE bank = ? AND kind = ?`
	err = r.tx.Get("count pending questions", count, []any{r.bank, string(kind)}, &n)
	return n, err
}

// Tally counts live facts, composites, observations, entities and open conflicts.
func (r *Reader) Tally() (t write.Tally, err error) {
	// Most facts are live: those that ended have an index.
	const count = `SELECT coalesce((SELECT n FROM row_counts WHERE bank = ?1 AND record = 'fact'), 0)
    - (SELECT count(*) FROM facts INDEXED BY facts_ended WHERE bank = ?1 AND live = 0),
  coalesce((SELECT n FROM row_counts WHERE bank = ?1 AND record = 'composite'), 0),
  coalesce((SELECT n FROM row_counts WHERE bank = ?1 AND record = 'observation'), 0),
  (SELECT count(*) FROM entities WHERE bank = ?1 AND redirect IS NULL),
  (SELECT count(*) FROM conflicts WHERE bank = ?1 AND state = 'open')`
	err = r.tx.Get("count records", count, []any{r.bank}, &t.Facts, &t.Composites, &t.Observations, &t.Entities, &t.Conflicts)
	return t, err
}

// Pending returns the sessions with pending messages, by session: how many, the first and the last of them.
func (r *Reader) Pending(limit int) ([]query.PendingSession, error) {
	const find = `SELECT p.session, p.n, p.first, p.last, f.stored, l.stored FROM (SELECT session, n,
    (SELECT min(seq) FROM message_events INDEXED BY message_events_pending WHERE bank = c.bank AND session = c.session AND state = 'pending') AS first,
    (SELECT max(seq) FROM message_events INDEXED BY message_events_pending WHERE bank = c.bank AND session = c.session AND state = 'pending') AS last
  FROM pending_counts c WHERE bank = ? ORDER BY session LIMIT ?) p
CROSS JOIN message_events f ON f.seq = p.first CROSS JOIN message_events l ON l.seq = p.last ORDER BY p.session`
	return engine.All(r.tx, "list pending sessions", find, []any{r.bank, limit}, func(rows *sql.Rows) (p query.PendingSession, err error) {
		var oldest, newest int64
		err = rows.Scan(&p.Session, &p.Messages, &p.First, &p.Last, &oldest, &newest)
		p.Oldest, p.Newest = engine.Time(oldest), engine.Time(newest)
		return p, err
	})
}

// Bytes returns the total size of the text and captions of the bank's messages.
func (r *Reader) Bytes() (n int64, err error) {
	const sum = `SELECT coalesce(sum(octet_length(content) + octet_length(caption)), 0) FROM messages WHERE bank = ?`
	err = r.tx.Get("sum up messages", sum, []any{r.bank}, &n)
	return n, err
}

// Usage returns what models used for the bank, by stage and model; nil for nothing.
func (r *Reader) Usage() ([]memory.StageUsage, error) {
	const find = `SELECT stage, model, sum(calls), sum(failed), sum(prompt), sum(cached), sum(completion) FROM usage
WHERE bank = ? GROUP BY stage, model ORDER BY stage, model`
	return engine.All(r.tx, "sum up usage", find, []any{r.bank}, func(rows *sql.Rows) (u memory.StageUsage, err error) {
		err = rows.Scan(&u.Stage, &u.Model, &u.Calls, &u.Failed, &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens)
		return u, err
	})
}
