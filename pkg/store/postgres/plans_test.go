package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

// newServer opens a schema with empty tables, until the test ends.
func newServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Open(server.Config{DSN: newSchema(t), Readers: 1, Busy: 5 * time.Second, Locked: 5 * time.Second, Idle: 5 * time.Second, Scrub: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheWriterPlansAStatementOnce looks up lists of many lengths. The server makes one plan of the statement, and none for
// a single execution.
func TestTheWriterPlansAStatementOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const n = 20
	var kept, made int
	err := s.Write(t.Context(), func(tx *engine.Tx) error {
		var nos []int64
		for no := range int64(n) {
			nos = append(nos, no)
			found, err := tx.Numbers("read a list", `SELECT j.value FROM json_each(?) j LEFT JOIN facts f ON f.no = j.value ORDER BY 1`, engine.List(nos))
			if err != nil {
				return err
			}
			if len(found) != len(nos) {
				t.Errorf("%d numbers were read of %d", len(found), len(nos))
			}
		}
		const count = `SELECT coalesce(max(generic_plans), 0), coalesce(sum(custom_plans), 0) FROM pg_catalog.pg_prepared_statements`
		return tx.Get("count plans", count, nil, &kept, &made)
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept < n || made > 0 {
		t.Errorf("a statement was run %d times by its plan, and %d plans were made for one execution", kept, made)
	}
}

// node is one of a plan as EXPLAIN tells it.
type node struct {
	Type    string  `json:"Node Type"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Apart   float64 `json:"Rows Removed by Join Filter"`
	Plans   []node  `json:"Plans"`
}

// read returns how many rows a plan read and compared.
func (n node) read() float64 {
	sum := n.Loops * (n.Rows + n.Removed + n.Apart)
	for _, p := range n.Plans {
		sum += p.read()
	}
	return sum
}

// TestRowsNamedByNumberAreLookedUp compares the vectors of many facts that are named by their numbers, as a narrowed recall
// does, with and without statistics. Each is looked up; no plan compares every fact with every number of the list.
func TestRowsNamedByNumberAreLookedUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const facts, asked, bytes = 3000, 2000, 484
	fill := []string{
		`INSERT INTO banks (no, id, profile) VALUES (1, 'b', '{}')`,
		`INSERT INTO facts (no, id, bank, text, grams, kind, type, topic, speaker, role, session, said, recorded, live, valid, confidence, entities, tags, ops,
  version, pinned, extractor, model) SELECT n, 'f_' || n, 1, 'fact ' || n, '', 'world', CASE n % 40 WHEN 0 THEN 'preference' ELSE 'fact' END, '', 'Ann', 'user', 's',
  n, 0, 1, '', 1, '[]', '[]', '[]', n, 0, '', '' FROM generate_series(1, 3000) n`,
		`INSERT INTO fact_vectors (fact, bank, vector) SELECT no, bank, decode(repeat('00', 484), 'hex') FROM facts`,
	}
	var nos []int64
	for no := range int64(asked) {
		nos = append(nos, no+1)
	}
	for _, then := range [][]string{fill, {`ANALYZE facts`, `ANALYZE fact_vectors`}} {
		err := s.Write(t.Context(), func(tx *engine.Tx) error {
			for _, statement := range then {
				if err := tx.Exec("fill", statement); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, filter := range map[string]string{"live ones": `f.live = 1`, "a type": `f.live = 1 AND f.type = 'preference'`, "a time": `f.live = 1 AND f.said BETWEEN 5 AND 900`} {
			find := `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT x.fact, x.vector FROM json_each(?) j CROSS JOIN fact_vectors x ON x.fact = j.value
CROSS JOIN facts f ON f.no = x.fact WHERE +x.bank = ? AND length(x.vector) = ? AND ` + filter
			var raw []byte
			err := s.Read(t.Context(), func(tx *engine.Tx) error { return tx.Get("explain", find, []any{engine.List(nos), 1, bytes}, &raw) })
			var plans []struct{ Plan node }
			if err == nil {
				err = json.Unmarshal(raw, &plans)
			}
			if err != nil || len(plans) != 1 {
				t.Fatalf("%s: %v, %s", name, err, raw)
			}
			if read := plans[0].Plan.read(); read > 8*asked {
				t.Errorf("%s: %.0f rows are read and compared for %d of %d facts:\n%s", name, read, asked, facts, raw)
			}
		}
	}
}
