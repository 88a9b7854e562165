package schema

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// banks describes the banks. A row with an empty profile is no bank: it holds the number of one that was erased, or
// that was named by a write to a bank that does not exist.
func banks() Kind {
	return Kind{
		Rules:  []Rule{{"a profile names its bank", `SELECT 'bank ' || no FROM banks WHERE profile <> '' AND (NOT json_valid(profile) OR profile ->> '$.id' IS DISTINCT FROM id)`}},
		Tables: []Table{{Name: "banks", Dump: `SELECT id, profile, version, consolidated, observed FROM banks ORDER BY id`}},
	}
}

// ops describes the outcomes of writes by their op, and the writes that repeated one. Both outlive their bank, so that
// no write of it is applied again.
func ops() Kind {
	return Kind{
		Rules: logRules,
		Tables: []Table{
			{Name: "ops", Dump: `SELECT b.id, o.op, o.write, o.outcome FROM ops o JOIN banks b ON b.no = o.bank ORDER BY b.id, o.op`},
			{Name: "repeats", Dump: `SELECT b.id, r.op, r.write FROM repeats r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.op, r.write`},
		},
	}
}

// tombstones describes what was forgotten, by name and never by text. They outlive their bank.
func tombstones() Kind {
	return Kind{Tables: []Table{{Name: "tombstones", Dump: `SELECT b.id, t.id, t.seq FROM tombstones t JOIN banks b ON b.no = t.bank ORDER BY b.id, t.id, t.seq`}}}
}

// undos describes what takes applies back.
func undos() Kind {
	return Kind{
		Rules:  []Rule{{"an undo is of an apply", `SELECT u.write FROM undos u LEFT JOIN ops o ON o.bank = u.bank AND o.op = u.op WHERE o.op IS NULL OR NOT json_valid(u.body)`}},
		Tables: []Table{{Name: "undos", OfBank: true, Dump: `SELECT b.id, u.op, u.write, u.body FROM undos u JOIN banks b ON b.no = u.bank ORDER BY b.id, u.write`}},
	}
}

// usage describes what models used for a bank.
func usage() Kind {
	return Kind{
		Rules: usageRules,
		Tables: []Table{
			{Name: "usage", OfBank: true, Dump: `SELECT b.id, u.day, u.stage, u.model, u.calls, u.failed, u.prompt, u.cached, u.completion FROM usage u JOIN banks b ON b.no = u.bank
ORDER BY b.id, u.day, u.stage, u.model`},
			{Name: "usage_events", OfBank: true},
		},
	}
}

// pending describes the questions that wait for a language model.
func pending() Kind {
	return Kind{
		Rules:  pendingRules,
		Tables: []Table{{Name: "pending_models", OfBank: true, Dump: `SELECT b.id, p.kind, p.id, p.write, p.at, p.body FROM pending_models p JOIN banks b ON b.no = p.bank ORDER BY b.id, p.kind, p.id`}},
	}
}

// decisions describes what became of the decisions of language models.
func decisions() Kind {
	return Kind{
		Rules: []Rule{{"a decision is about facts of its bank", `SELECT d.fact FROM decisions d LEFT JOIN facts f ON f.id = d.fact AND f.bank = d.bank
LEFT JOIN facts t ON t.id = d.target AND t.bank = d.bank LEFT JOIN facts m ON m.id = d.made AND m.bank = d.bank
WHERE f.no IS NULL OR t.no IS NULL OR d.made <> '' AND m.no IS NULL`}},
		Tables: []Table{{Name: "decisions", OfBank: true, Dump: `SELECT b.id, d.fact, d.target, d.write, d.action, d.made, d.reason, d.model, d.prompt FROM decisions d JOIN banks b ON b.no = d.bank
ORDER BY b.id, d.fact, d.target, d.write`}},
	}
}

// derived describes which writes hold text that a model wrote about a fact.
func derived() Kind {
	return Kind{
		Rules:  []Rule{{"a write of a model rests on facts of its bank", `SELECT d.fact FROM derived d LEFT JOIN facts f ON f.id = d.fact AND f.bank = d.bank WHERE f.no IS NULL`}},
		Tables: []Table{{Name: "derived", OfBank: true, Dump: `SELECT b.id, d.fact, d.write FROM derived d JOIN banks b ON b.no = d.bank ORDER BY b.id, d.fact, d.write`}},
	}
}

// usageRules concern what models used.
var usageRules = []Rule{
	{"usage adds up", `SELECT 'bank ' || bank || ' ' || day FROM usage WHERE calls < 0 OR failed NOT BETWEEN 0 AND calls OR prompt < 0 OR cached < 0 OR completion < 0
UNION ALL SELECT 'bank ' || u.bank FROM usage u WHERE NOT EXISTS (SELECT 1 FROM usage_events e WHERE e.bank = u.bank)`},
	{"usage was counted for an op", `SELECT 'bank ' || e.bank FROM usage_events e LEFT JOIN ops o ON o.bank = e.bank AND o.op = e.op WHERE o.op IS NULL`},
}

// pendingRules concern what waits for a language model.
var pendingRules = []Rule{
	{"a fact that waits for a decision is there", `SELECT p.id FROM pending_models p LEFT JOIN facts f ON f.id = p.id AND f.bank = p.bank WHERE p.kind = 'decide' AND f.no IS NULL`},
	{"what waits for a model can be read", `SELECT id FROM pending_models WHERE NOT json_valid(body)`},
}

// The two kept streams as the store names them, whatever prefix the names of the broker have. They stand in the tables
// applied and erasures, and in the hash of a change's id.
const (
	StreamMessages = "MEM_MESSAGES"
	StreamWrites   = "MEM_WRITES"
	// StreamDead stands in erasures alone, where the sequence is that of the message that the dead letter is about.
	StreamDead = "MEM_DEAD"
	// Damaged stands before the stream of an erasure that cannot be carried out, because the broker cannot read the event.
	Damaged = "damaged "
)

// Applied returns the last applied sequences of MEM_MESSAGES and MEM_WRITES.
func Applied(tx *engine.Tx) (messages, writes uint64, err error) {
	const find = `SELECT (SELECT seq FROM applied WHERE stream = ? AND part = 0), (SELECT seq FROM applied WHERE stream = ? AND part = 0)`
	err = tx.Get("read the applied sequences", find, []any{StreamMessages, StreamWrites}, &messages, &writes)
	return messages, writes, err
}

// Ahead returns how far MEM_MESSAGES is applied.
func Ahead(tx *engine.Tx) (p memory.MessagePosition, err error) {
	err = tx.Together(
		func(tx *engine.Tx) error {
			return tx.Get("read the applied messages", `SELECT seq FROM applied WHERE stream = ? AND part = 0`, []any{StreamMessages}, &p.Seq)
		},
		func(tx *engine.Tx) error {
			return tx.Each("read which banks are ahead", `SELECT bank, seq FROM ahead`, nil, func(rows *sql.Rows) error {
				var bank memory.BankID
				var seq uint64
				if err := rows.Scan(&bank, &seq); err != nil || bank == "" {
					p.Ahead = max(p.Ahead, seq)
					return err
				}
				if p.Held == nil {
					p.Held = map[memory.BankID]uint64{}
				}
				p.Held[bank] = seq
				return nil
			})
		},
	)
	return p, err
}

// AppliedOf returns the sequence of MEM_MESSAGES up to which the messages of a bank are applied, and the last applied one
// of MEM_WRITES.
func AppliedOf(tx *engine.Tx, bank memory.BankID) (messages, writes uint64, err error) {
	const find = `SELECT coalesce((SELECT seq FROM ahead WHERE bank = ?), (SELECT seq FROM ahead WHERE bank = ''),
  (SELECT seq FROM applied WHERE stream = ? AND part = 0)), (SELECT seq FROM applied WHERE stream = ? AND part = 0)`
	err = tx.Get("read the applied sequences", find, []any{string(bank), StreamMessages, StreamWrites}, &messages, &writes)
	return messages, writes, err
}

// Position returns how far a kept stream is applied. The event of the messages is the last one that is
// known and not forgotten: a message, or what ended a run.
func Position(tx *engine.Tx, stream string) (p memory.LogPosition, err error) {
	var stored int64
	err = tx.Get("read the position in "+stream, `SELECT log, seq, event, stored FROM applied WHERE stream = ? AND part = 0`, []any{stream},
		&p.Log, &p.Applied, &p.Event, &stored)
	if err == nil && stream == StreamMessages {
		var at memory.MessagePosition
		if at, err = Ahead(tx); err != nil {
			return p, err
		}
		p.Applied = at.Last()
		const last = `SELECT seq, stored FROM message_events WHERE state <> 'forgotten' AND seq > ? ORDER BY seq DESC LIMIT 1`
		_, err = tx.Find("read the last message event", last, []any{p.Event}, &p.Event, &stored)
	}
	if p.Event > 0 {
		p.Stored = engine.Time(stored)
	}
	return p, err
}

// storedOutcome is an outcome as JSON, without what its row says.
type storedOutcome struct {
	Op    *struct{} `json:"op,omitempty"`
	Write *struct{} `json:"write,omitempty"`
	memory.WriteOutcome
}

// OutcomeJSON converts the outcome of a write for its row.
func OutcomeJSON(out memory.WriteOutcome) (string, error) {
	return engine.JSON(storedOutcome{WriteOutcome: out})
}

// FindOutcome reads an outcome by a query of (outcome, write, op) that takes a bank, an op and its hash; nil if there is none.
func FindOutcome(tx *engine.Tx, find string, id memory.BankID, bank any, op string) (*memory.WriteOutcome, error) {
	what := fmt.Sprintf("read the outcome of op %q", op)
	var raw []byte
	var write uint64
	var kept string
	found, err := tx.Find(what, find, []any{bank, op, memory.HashedOp(id, op)}, &raw, &write, &kept)
	if !found {
		return nil, err
	}
	out := new(memory.WriteOutcome)
	if err := engine.FromJSON(raw, out); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if out.Write = write; op != UnnamedOp(write) {
		out.Op = op
	}
	out.Erased = kept == memory.HashedOp(id, op)
	return out, nil
}

// UnnamedOp stands for the op of a write that has none.
func UnnamedOp(write uint64) string { return fmt.Sprintf("write:%d", write) }

// DecisionColumns are the columns of "decisions d" that ScanDecision reads.
const DecisionColumns = `d.fact, d.target, d.action, d.made, d.reason, d.write, d.model, d.prompt`

// ScanDecision reads a row of DecisionColumns.
func ScanDecision(rows *sql.Rows) (d memory.DecisionResult, err error) {
	err = rows.Scan(&d.Fact, &d.Target, &d.Action, &d.Made, &d.Reason, &d.Write, &d.Model, &d.Prompt)
	return d, err
}

// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and write.
func DecisionsOf(tx *engine.Tx, bank int64, facts []memory.FactID) ([]memory.DecisionResult, error) {
	const find = `SELECT ` + DecisionColumns + ` FROM decisions d WHERE d.bank = ?2 AND (
  d.fact IN (SELECT value FROM json_each(?1)) OR d.target IN (SELECT value FROM json_each(?1))) ORDER BY d.fact, d.target, d.write`
	if len(facts) == 0 {
		return nil, nil
	}
	return engine.All(tx, "read decisions", find, []any{engine.List(facts), bank}, ScanDecision)
}

// Distinct is a query of the different values of speaker or topic in messages or facts, sorted. It takes the bank and a
// limit (-1 = none) and walks an index from one value to the next, so its cost is the number of values and not of rows.
func Distinct(table, column string) string {
	return fmt.Sprintf(`WITH RECURSIVE s(v) AS (
  SELECT min(%[2]s) FROM %[1]s WHERE bank = ?1 AND %[2]s <> ''
  UNION ALL
  SELECT (SELECT min(%[2]s) FROM %[1]s WHERE bank = ?1 AND %[2]s <> '' AND %[2]s > s.v) FROM s WHERE s.v IS NOT NULL
) SELECT v FROM s WHERE v IS NOT NULL LIMIT CASE WHEN ?2 < 0 THEN 9223372036854775807 ELSE ?2 END`, table, column)
}
