package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/postgres/internal/server"
)

func TestRowsOfOneTableAreInsertedTogether(t *testing.T) {
	t.Parallel()
	columns := map[string]map[string]string{
		"parents":  {"no": "bigint", "name": "text", "note": "text"},
		"children": {"parent": "bigint", "body": "bytea"},
		"counts":   {"name": "text", "n": "bigint"},
		"flags":    {"name": "text", "on": "boolean"},
		"words":    {"no": "bigint", "words": "tsvector"},
	}
	refers := map[string]string{"children": "parents"}
	parent := func(no int, note any) server.Waiting {
		return server.Waiting{Query: "INSERT INTO parents (no, name, note) VALUES (?, ?, ?)", Args: []any{no, "x", note}}
	}
	child := func(parent int) server.Waiting {
		return server.Waiting{Query: "INSERT INTO children (parent, body) VALUES (?, ?) ON CONFLICT DO NOTHING", Args: []any{parent, []byte{7}}}
	}
	count := func(name string) server.Waiting {
		return server.Waiting{Query: "INSERT INTO counts (name, n) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET n = counts.n + excluded.n", Args: []any{name}}
	}
	const (
		parents  = "INSERT INTO parents (no, name, note) SELECT v.c1, v.c2, v.c3 FROM unnest($1::bigint[], $2::text[], $3::text[]) AS v(c1, c2, c3) "
		children = "INSERT INTO children (parent, body) SELECT v.c1, v.c2 FROM unnest($1::bigint[], $2::bytea[]) AS v(c1, c2) ON CONFLICT DO NOTHING "
		counts   = "INSERT INTO counts (name, n) SELECT v.c1, 1 FROM unnest($1::text[]) AS v(c1) ON CONFLICT (name) DO UPDATE SET n = counts.n + excluded.n "
		counted  = "INSERT INTO counts (name, n) VALUES ($1::text, 1) ON CONFLICT (name) DO UPDATE SET n = counts.n + excluded.n "
		aParent  = "INSERT INTO parents (no, name, note) VALUES ($1::bigint, $2::text, $3::text) "
		aChild   = "INSERT INTO children (parent, body) VALUES ($1::bigint, $2::bytea) ON CONFLICT DO NOTHING "
	)
	returning := parent(1, "a")
	returning.Query, returning.Each = returning.Query+" RETURNING no", func(int64) {}
	values := func(query string, arg any) server.Waiting { return server.Waiting{Query: query, Args: []any{arg}} }
	number := func(no int, arg any) server.Waiting {
		return server.Waiting{Query: "INSERT INTO words (no, words) VALUES (?, f(?))", Args: []any{no, arg}}
	}
	flag := func(name string) server.Waiting {
		return server.Waiting{Query: "INSERT INTO flags (name, on) VALUES (?, ?)", Args: []any{name, true}}
	}
	const (
		listed  = "INSERT INTO counts (name, n) SELECT value, 0 FROM json_each(?)"
		ignored = "INSERT INTO counts (name, n) VALUES (?, 2) ON CONFLICT DO NOTHING"
		nested  = "INSERT INTO counts (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET n = f(counts.n)"
		reading = "INSERT INTO counts (name, n) VALUES (?, (SELECT count(*) FROM parents))"
	)
	sent := func(query string) string { return strings.Replace(query, "?", "$1::text", 1) }
	named := server.Waiting{Query: "UPDATE parents SET name = ? WHERE no = ?", Args: []any{"y", 1}}
	const update = "UPDATE parents SET name = $1::text WHERE no = $2::bigint [y 1]"
	for _, c := range []struct {
		name    string
		waiting []server.Waiting
		want    []string
	}{
		{"rows of two tables that are told in turns", []server.Waiting{parent(1, "a"), child(1), parent(2, "b"), child(2)},
			[]string{parents + "[[1 2] [x x] [a b]]", children + "[[1 2] [[7] [7]]]"}},
		{"a table comes before those that refer to it", []server.Waiting{child(1), parent(2, "b"), child(2)},
			[]string{aParent + "[2 x b]", children + "[[1 2] [[7] [7]]]"}},
		{"an update stays where it is", []server.Waiting{parent(1, "a"), parent(2, "b"), named, parent(3, "c")},
			[]string{parents + "[[1 2] [x x] [a b]]", update, aParent + "[3 x c]"}},
		{"a query stays where it is", []server.Waiting{count("a"), returning, count("b")},
			[]string{counted + "[a]", "INSERT INTO parents (no, name, note) VALUES ($1::bigint, $2::text, $3::text) RETURNING no [1 x a]", counted + "[b]"}},
		{"a row that an update of the same statement would find again waits for the next", []server.Waiting{count("a"), count("b"), count("a")},
			[]string{counts + "[[a b]]", counted + "[a]"}},
		{"and those after it do too", []server.Waiting{count("a"), count("a"), count("b")}, []string{counted + "[a]", counts + "[[a b]]"}},
		{"another form of insert into the table keeps its place",
			[]server.Waiting{count("a"), values(listed, engine.List([]string{"b"})), count("b"), count("c")},
			[]string{counted + "[a]", "INSERT INTO counts (name, n) SELECT value, 0 FROM each_text($1::text[]) [[b]]", counts + "[[b c]]"}},
		{"rows of two forms of insert into a table keep their order", []server.Waiting{count("a"), values(ignored, "b"), count("c"), count("d")},
			[]string{counted + "[a]", sent(ignored) + " [b]", counts + "[[c d]]"}},
		{"an expression is one of each row", []server.Waiting{{Query: "INSERT INTO words (no, words) VALUES (?, f(?, chr(1)))", Args: []any{1, "a"}},
			{Query: "INSERT INTO words (no, words) VALUES (?, f(?, chr(1)))", Args: []any{2, "b"}}},
			[]string{"INSERT INTO words (no, words) SELECT v.c1, f(v.c2, chr(1)) FROM unnest($1::bigint[], $2::text[]) AS v(c1, c2) [[1 2] [a b]]"}},
		{"one of something else than text is not merged", []server.Waiting{number(1, 2), number(2, 3)},
			[]string{"INSERT INTO words (no, words) VALUES ($1::bigint, f($2::bigint)) [1 2]",
				"INSERT INTO words (no, words) VALUES ($1::bigint, f($2::bigint)) [2 3]"}},
		{"nor what is hard to read", []server.Waiting{values(nested, "a"), values(nested, "b")}, []string{sent(nested) + " [a]", sent(nested) + " [b]"}},
		{"nor what has a type without lists", []server.Waiting{flag("a"), flag("b")},
			[]string{"INSERT INTO flags (name, on) VALUES ($1::text, $2::bigint) [a 1]", "INSERT INTO flags (name, on) VALUES ($1::text, $2::bigint) [b 1]"}},
		{"nor what reads", []server.Waiting{values(reading, "a"), parent(1, "a"), values(reading, "b")},
			[]string{sent(reading) + " [a]", aParent + "[1 x a]", sent(reading) + " [b]"}},
	} {
		if got := server.Merged(columns, refers, c.waiting...); !slices.Equal(got, c.want) {
			t.Errorf("%s: sent is\n%q, expected\n%q", c.name, got, c.want)
		}
	}
	// A NULL makes another statement of the same insert, and stands in the list.
	got := server.Merged(columns, refers, parent(1, nil), parent(2, "b"))
	if len(got) != 1 {
		t.Errorf("rows of which one has a NULL are sent as %q", got)
	}
}
