package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// dumped lists what Dump writes: the logical content of every table, without
// row numbers, in an order of its own. What has been applied, what is still to
// be sent or erased, and which embedder is pinned are not content. The text
// indexes are told by the rows they index.
var dumped = []struct{ table, query string }{
	{"banks", `SELECT id, profile, version, consolidated, observed FROM banks ORDER BY id`},
	{"message_events", `SELECT e.seq, b.id, e.session, e.state, e.stored, e.id, e.speaker FROM message_events e JOIN banks b ON b.no = e.bank ORDER BY e.seq`},
	{"messages", `SELECT m.seq, b.id, m.id, m.session, m.role, m.speaker, m.content, m.caption, m.indexed, m.grams, m.time, m.stored, m.topic,
  m.replaces, m.replaced, m.recalled, m.images, m.metadata, m.extra FROM messages m JOIN banks b ON b.no = m.bank ORDER BY m.seq`},
	{"replacements", `SELECT b.id, r.id, r.by, r.time FROM replacements r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.id`},
	{"windows", `SELECT w.id, b.id, w.session, w.first, w.last, w.generation, w.outcome, w.reason, w.write FROM windows w JOIN banks b ON b.no = w.bank ORDER BY w.id`},
	{"facts", `SELECT f.id, b.id, f.key, f.text, f.grams, f.kind, f.type, f.topic, f.speaker, f.role, f.session, f.occurred_from, f.occurred_to,
  f.said, f.said + f.recorded, f.live, f.valid, f.subject, f.attribute, f.value, f.superseded, f.merged, f.confidence, f.entities, f.tags, f.ops, f.outcome,
  f.metadata, f.version, f.pinned, f.extractor, f.model,
  (SELECT p.id FROM composites p WHERE p.no = f.parent) FROM facts f JOIN banks b ON b.no = f.bank ORDER BY f.id`},
	{"fact_sources", `SELECT f.id, s.seq, s.message, s.said, s.said + s.start FROM fact_sources s JOIN facts f ON f.no = s.fact ORDER BY f.id, s.seq`},
	{"fact_entities", `SELECT b.id, e.entity, f.id, e.said, e.live FROM fact_entities e JOIN facts f ON f.no = e.fact JOIN banks b ON b.no = e.bank ORDER BY b.id, e.entity, f.id`},
	{"entity_counts", `SELECT b.id, k.entity, k.live FROM entity_counts k JOIN banks b ON b.no = k.bank ORDER BY b.id, k.entity`},
	{"fact_vectors", `SELECT b.id, f.id, k.vector FROM fact_vectors k JOIN facts f ON f.no = k.fact JOIN banks b ON b.no = k.bank ORDER BY b.id, f.id`},
	{"composites", `SELECT c.id, b.id, c.level, c.text, c.grams, c.representative, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said,
  c.confidence, c.version, c.made, (SELECT p.id FROM composites p WHERE p.no = c.parent) FROM composites c JOIN banks b ON b.no = c.bank ORDER BY c.id`},
	{"composite_entities", `SELECT b.id, e.entity, c.id FROM composite_entities e JOIN composites c ON c.no = e.composite JOIN banks b ON b.no = e.bank ORDER BY b.id, e.entity, c.id`},
	{"composite_vectors", `SELECT b.id, c.id, coalesce(k.vector, v.vector) FROM composite_vectors k LEFT JOIN fact_vectors v ON v.fact = k.fact JOIN composites c ON c.no = k.composite JOIN banks b ON b.no = k.bank ORDER BY b.id, c.id`},
	{"message_vectors", `SELECT b.id, k.message, k.vector FROM message_vectors k JOIN banks b ON b.no = k.bank ORDER BY k.message`},
	{"vector_events", `SELECT b.id, v.id, v.write FROM vector_events v JOIN banks b ON b.no = v.bank ORDER BY b.id, v.id, v.write`},
	{"entities", `SELECT b.id, e.id, e.type, e.name, e.redirect FROM entities e JOIN banks b ON b.no = e.bank ORDER BY b.id, e.id`},
	{"entity_names", `SELECT b.id, n.name, n.entity, n.spelling FROM entity_names n JOIN banks b ON b.no = n.bank ORDER BY b.id, n.name, n.entity, n.spelling`},
	{"relations", `SELECT b.id, r.source, r.target, r.type, r.strength, r.facts FROM relations r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.source, r.target, r.type`},
	{"conflicts", `SELECT x.id, b.id, x.a, x.b, x.reason, x.state, x.winner, x.version FROM conflicts x JOIN banks b ON b.no = x.bank ORDER BY x.id`},
	{"observations", `SELECT o.id, b.id, o.type, o.subject, o.text, o.grams, o.reasoning, o.confidence, o.entities, o.said, o.given, o.version, o.made
FROM observations o JOIN banks b ON b.no = o.bank ORDER BY o.id`},
	{"observation_facts", `SELECT o.id, k.fact FROM observation_facts k JOIN observations o ON o.no = k.observation ORDER BY o.id, k.fact`},
	{"uses", `SELECT b.id, u.record, u.retrieved, u.used, u.success, u.failure, u.at FROM uses u JOIN banks b ON b.no = u.bank ORDER BY b.id, u.record`},
	{"ops", `SELECT b.id, o.op, o.write, o.outcome FROM ops o JOIN banks b ON b.no = o.bank ORDER BY b.id, o.op`},
	{"repeats", `SELECT b.id, r.op, r.write FROM repeats r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.op, r.write`},
	{"usage", `SELECT b.id, u.day, u.stage, u.model, u.calls, u.failed, u.prompt, u.cached, u.completion FROM usage u JOIN banks b ON b.no = u.bank
ORDER BY b.id, u.day, u.stage, u.model`},
	{"pending_models", `SELECT b.id, p.kind, p.id, p.write, p.at, p.body FROM pending_models p JOIN banks b ON b.no = p.bank ORDER BY b.id, p.kind, p.id`},
	{"decisions", `SELECT b.id, d.fact, d.target, d.write, d.action, d.made, d.reason, d.model, d.prompt FROM decisions d JOIN banks b ON b.no = d.bank
ORDER BY b.id, d.fact, d.target, d.write`},
	{"derived", `SELECT b.id, d.fact, d.write FROM derived d JOIN banks b ON b.no = d.bank ORDER BY b.id, d.fact, d.write`},
	{"tombstones", `SELECT b.id, t.id, t.seq FROM tombstones t JOIN banks b ON b.no = t.bank ORDER BY b.id, t.id, t.seq`},
}

// Dump writes one JSON array a row: the table's name, then its values. Two
// stores with the same content give the same bytes, whatever the batches and
// row numbers they were made with. It is one consistent state.
func (db *DB) Dump(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := db.read(ctx, func(tx *sql.Tx) error {
		for _, d := range dumped {
			err := eachRow(ctx, tx, "dump "+d.table, d.query, nil, func(rows *sql.Rows) error { return dumpRow(enc, d.table, rows) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func dumpRow(enc *json.Encoder, table string, rows *sql.Rows) error {
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	line := append(make([]any, 0, len(values)+1), table)
	for _, v := range values {
		if raw, ok := v.([]byte); ok {
			v = hex.EncodeToString(raw)
		}
		line = append(line, v)
	}
	return enc.Encode(line)
}

// Counts gives the number of rows of every table that Dump writes, by table.
func (db *DB) Counts(ctx context.Context) (map[string]int, error) {
	out := make(map[string]int, len(dumped))
	err := db.read(ctx, func(tx *sql.Tx) error {
		for _, d := range dumped {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+d.table).Scan(&n); err != nil {
				return fmt.Errorf("count %s: %w", d.table, err)
			}
			out[d.table] = n
		}
		return nil
	})
	return out, err
}
