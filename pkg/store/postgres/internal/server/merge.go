package server

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Rows that are inserted into one table, each by a statement of its own, go to the server as one statement with a list for
// each column: what a statement costs, here and there, is more than what most rows do.
//
// The order of what waits changes by that only as far as nobody can tell. Inserts of rows change nothing of another table,
// so that those of several tables may change places, but that a table comes before those that refer to it; any other
// statement stays between what came before it and after it.

// catalogue is what of the tables decides which inserts can be merged.
type catalogue struct {
	types map[string]map[string]string // of the columns, by table
	rank  map[string]int               // of tables: greater than of those that they refer to
}

// arrays are the types of columns that can be sent as lists.
var arrays = map[string]string{"bigint": "bigint[]", "text": "text[]", "bytea": "bytea[]", "double precision": "double precision[]"}

// describe reads the catalogue.
func (s *Server) describe(ctx context.Context) error {
	const columns = `SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, NULL) FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`
	const references = `SELECT c.relname, f.relname, '' FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
WHERE n.nspname = ? AND k.contype = 'f' AND k.conrelid <> k.confrelid`
	var found, refers [][3]string
	err := s.Read(ctx, func(tx *engine.Tx) (err error) {
		three := func(rows *sql.Rows) (r [3]string, err error) {
			err = rows.Scan(&r[0], &r[1], &r[2])
			return r, err
		}
		if found, err = engine.All(tx, "list columns", columns, []any{s.schema}, three); err == nil {
			refers, err = engine.All(tx, "list references", references, []any{s.schema}, three)
		}
		return err
	})
	if err != nil {
		return err
	}
	c := &catalogue{types: map[string]map[string]string{}, rank: map[string]int{}}
	for _, f := range found {
		if c.types[f[0]] == nil {
			c.types[f[0]] = map[string]string{}
		}
		c.types[f[0]][f[1]] = f[2]
	}
	for range refers { // as many steps as a chain may have
		for _, r := range refers {
			c.rank[r[0]] = max(c.rank[r[0]], c.rank[r[1]]+1)
		}
	}
	s.catalogue.Store(c)
	return nil
}

// rowsOf is what is inserted into a table at once: rows of one insertion, or a statement of another form.
type rowsOf struct {
	table string
	of    *insertion // nil for another form
	rows  []statement
	keys  map[string]bool // of the rows, where an insertion updates those that it finds
}

// merge returns the statements that do what those that wait do.
func (s *Server) merge(waiting []statement) []statement {
	c := s.catalogue.Load()
	if c == nil || len(waiting) < 2 {
		return waiting
	}
	out := make([]statement, 0, len(waiting))
	var inserted []*rowsOf
	last := map[string]*rowsOf{} // of inserted, by table
	emit := func() {
		slices.SortStableFunc(inserted, func(a, b *rowsOf) int { return cmp.Compare(c.rank[a.table], c.rank[b.table]) })
		for _, r := range inserted {
			out = append(out, r.statements()...)
		}
		inserted = nil
		clear(last)
	}
	for _, w := range waiting {
		i := s.insertionOf(w.query)
		if w.each != nil || i == nil && !readsNoTable(w.query) {
			emit()
			out = append(out, w)
			continue
		}
		r := &rowsOf{of: i}
		if i == nil {
			r.table = intoOne.FindStringSubmatch(w.query)[1]
		} else {
			r.table = i.table
			if before := last[i.table]; before != nil && before.of == i {
				r = before
			}
			if key := i.keyOf(w.args); key != "" {
				if r.keys[key] {
					r = &rowsOf{table: i.table, of: i}
				}
				if r.keys == nil {
					r.keys = map[string]bool{}
				}
				r.keys[key] = true
			}
		}
		if len(r.rows) == 0 {
			inserted, last[r.table] = append(inserted, r), r
		}
		r.rows = append(r.rows, w)
	}
	emit()
	return out
}

// readsNoTable reports whether a statement inserts into a table and reads none.
func readsNoTable(query string) bool {
	if !intoOne.MatchString(query) {
		return false
	}
	for _, m := range reads.FindAllStringSubmatch(query, -1) {
		if !strings.HasPrefix(m[1], "each_") {
			return false
		}
	}
	return true
}

// statements returns what inserts the rows.
func (r *rowsOf) statements() []statement {
	if r.of == nil || len(r.rows) == 1 {
		return r.rows
	}
	args := make([]any, len(r.of.types))
	for at, typ := range r.of.types {
		list, ok := column(typ, at, r.rows)
		if !ok {
			return r.rows
		}
		args[at] = list
	}
	return []statement{{what: r.rows[0].what, query: r.of.merged, args: args}}
}

// column returns the arguments of a type at a place of rows as a list; false where one is of another type.
func column(typ string, at int, rows []statement) (any, bool) {
	switch typ {
	case "bigint":
		return listOf[int64](at, rows)
	case "double precision":
		return listOf[float64](at, rows)
	case "text":
		return listOf[string](at, rows)
	}
	out := make([][]byte, len(rows))
	for n, r := range rows {
		if r.args[at] == nil {
			continue
		}
		b, ok := r.args[at].([]byte)
		if !ok {
			return nil, false
		}
		out[n] = b
	}
	return out, true
}

// listOf is column of a type that can be NULL.
func listOf[T any](at int, rows []statement) (any, bool) {
	out, nulls := make([]T, len(rows)), false
	for n, r := range rows {
		v, ok := r.args[at].(T)
		if !ok && r.args[at] != nil {
			return nil, false
		}
		out[n], nulls = v, nulls || !ok
	}
	if !nulls {
		return out, true
	}
	some := make([]*T, len(rows))
	for n, r := range rows {
		if r.args[at] != nil {
			some[n] = &out[n]
		}
	}
	return some, true
}
