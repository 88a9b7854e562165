package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStatement(t *testing.T) {
	t.Parallel()
	s := new(server.Server) // translates without a connection
	list, numbers := engine.List([]memory.FactID{"a"}), engine.List([]int64{1})
	for _, c := range []struct {
		name, given, want string
		args              []any
	}{
		{"parameters are numbered and cast", "SELECT ? , ?, ?", "SELECT $1::bigint , $2::text, $3", []any{1, "x", nil}},
		{"one without a number follows the greatest", "SELECT ?2, ?1, ?", "SELECT $2::text, $1::bigint, $3::bytea", []any{1, "x", []byte("b")}},
		{"what is quoted stays", "SELECT '?', ?", "SELECT '?', $1::double precision", []any{.5}},
		{"lists are arrays", "FROM json_each(?) j CROSS JOIN facts f ON f.parent = j.value", "FROM each_text($1::text[]) j JOIN facts f ON f.parent = j.value", []any{list}},
		{"a row is looked up by its number", "FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value CROSS JOIN messages m ON m.seq = j.value AND m.replaced IS NULL",
			"FROM each_number($1::bigint[]) j JOIN LATERAL (SELECT * FROM facts WHERE facts.no = j.value OFFSET 0) f ON TRUE JOIN messages m ON m.seq = j.value AND m.replaced IS NULL", []any{numbers}},
		{"rows named by a list are looked up at once", "SELECT x.vector FROM json_each(?1) j CROSS JOIN fact_vectors x ON x.fact = j.value WHERE +x.bank = ?2",
			"SELECT x.vector FROM (SELECT * FROM fact_vectors WHERE fact_vectors.fact = ANY($1::bigint[]) OFFSET 0) x WHERE CASE WHEN x.bank = $2::bigint THEN TRUE ELSE FALSE END", []any{numbers, 7}},
		{"but not where their places count", "FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value ORDER BY j.key",
			"FROM each_number($1::bigint[]) j JOIN LATERAL (SELECT * FROM messages WHERE messages.seq = j.value OFFSET 0) m ON TRUE ORDER BY j.key", []any{numbers}},
		{"of numbers too", "FROM json_each(?1) j", "FROM each_number($1::bigint[]) j", []any{numbers}},
		{"a text is a list of its own", "FROM json_each(f.entities) j", "FROM json_each(f.entities) j", nil},
		{"membership is that of an array", "a IN (SELECT value FROM json_each(?1)) AND b NOT IN (SELECT value FROM json_each(?2))",
			"a = ANY($1::text[]) AND b <> ALL($2::bigint[])", []any{list, numbers}},
		{"hints go", "FROM facts f INDEXED BY facts_said WHERE +f.bank = ? AND +n.entity > 'a'", "FROM facts f WHERE CASE WHEN f.bank = $1::bigint THEN TRUE ELSE FALSE END AND (n.entity || '') > 'a'", []any{7}},
		{"what holds for nearly every row says so", "WHERE +bank = ?2 AND length(x.vector) = ?1",
			"WHERE CASE WHEN bank = $2::bigint THEN TRUE ELSE FALSE END AND CASE WHEN length(x.vector) = $1::bigint THEN TRUE ELSE FALSE END", []any{1, 2}},
		{"a subquery has a name", "SELECT 1 FROM (SELECT (2) FROM (SELECT 3) x) WHERE 1 = 1", "SELECT 1 FROM (SELECT (2) FROM (SELECT 3) x) AS s0 WHERE 1 = 1", nil},
		{"truth is a number", "SET live = ?", "SET live = $1::bigint", []any{true}},
		{"lists of objects are joined", "(SELECT json_group_array(json_object('seq', s.seq + (1)) ORDER BY s.seq) FROM s)",
			"(SELECT ('[' || coalesce(string_agg((json_build_object('seq', s.seq + (1)))::text, ',' ORDER BY s.seq), '') || ']') FROM s)", nil},
		{"a list of numbers is an array", "SELECT (SELECT group_concat(no, ' ') FROM (SELECT f.no FROM facts f ORDER BY (f.said) LIMIT ?)), 1",
			"SELECT array_to_string(ARRAY(SELECT f.no FROM facts f ORDER BY (f.said) LIMIT $1::bigint), ' '), 1", []any{3}},
		{"lists of numbers are joined", "group_concat(fact || ' ' || said, ' ')", "string_agg((fact || ' ' || said)::text, ' ')", nil},
	} {
		if got, _ := s.Statement(c.given, c.args); got != c.want {
			t.Errorf("%s: %q gives\n%q, expected\n%q", c.name, c.given, got, c.want)
		}
	}
	if _, args := s.Statement("SELECT ?", []any{"a\x00b\xff"}); args[0] != "a\uFFFDb\uFFFD" {
		t.Errorf("a text that PostgreSQL cannot store is %q", args[0])
	}
}
