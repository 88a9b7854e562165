package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// invariant is what must hold between rows. find gives a row for each place
// where it does not: one column, an id or a number that says where, never text.
type invariant struct{ rule, find string }

// Verify checks the file, what must hold within and between tables, and, where
// this process writes the store, that every text index says what its rows say.
// Rows are seen in one state, which is kept for as long as it takes.
func (db *DB) Verify(ctx context.Context, o query.VerifyOptions) (query.Verification, error) {
	v := query.NewVerification()
	err := db.read(ctx, func(tx *sql.Tx) error {
		r := &reader{ctx: ctx, tx: tx}
		c := &verifier{reader: r, v: &v}
		if err := c.openIndexes(); err != nil {
			return err
		}
		for _, check := range []func() error{
			func() error { return c.file(o.Full) }, c.counts, c.banks, func() error { return c.invariants(invariants()) },
			c.vectors, c.facts, func() error { return c.terms(o.Full) },
		} {
			if err := check(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	return v, db.verifyIndexes(ctx, &v)
}

// invariants lists every rule that a query can tell. The most members of a
// composite are no setting of a deployment.
func invariants() []invariant {
	var out []invariant
	for _, list := range [][]invariant{messageRules, factRules, treeRules(consolidate.DefaultConfig().Cap), recordRules, modelRules, logRules, indexRules()} {
		out = append(out, list...)
	}
	return out
}

// verifier checks one state of a store.
type verifier struct {
	*reader
	v *query.Verification
}

// places is how many places of a broken rule are named.
const places = 5

// check notes one rule; find gives where it is broken. An error of the rule
// itself (a column that cannot be read) breaks it; only what ends the whole
// check is returned.
func (c *verifier) check(rule string, find func(broken func(where string)) error) error {
	r := query.Check{Rule: rule}
	err := find(func(where string) {
		if r.Broken++; len(r.Where) < places {
			r.Where = append(r.Where, where)
		}
	})
	if err != nil {
		if fatal := c.fatal(err); fatal != nil {
			return fatal
		}
		r.Broken = max(1, r.Broken)
		r.Where = append(r.Where, "it cannot be checked: "+err.Error())
	}
	c.v.Add(r)
	return nil
}

// fatal is an error that says nothing about the store's content.
func (c *verifier) fatal(err error) error {
	if c.ctx.Err() != nil || errors.Is(failure(err), memory.ErrUnavailable) {
		return err
	}
	return nil
}

func (c *verifier) invariants(list []invariant) error {
	for _, i := range list {
		if err := c.check(i.rule, func(broken func(string)) error {
			return c.scanAll("verify", i.find, nil, func(rows *sql.Rows) error {
				var where sql.NullString
				err := rows.Scan(&where)
				broken(where.String)
				return err
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// file has SQLite check the pages, and, in full, indexes against their tables.
func (c *verifier) file(full bool) error {
	pragma, rule := `PRAGMA quick_check(20)`, "the file is whole"
	if full {
		pragma, rule = `PRAGMA integrity_check(20)`, "the file is whole, and every index of it"
	}
	return c.check(rule, func(broken func(string)) error {
		found, err := c.texts("check the file", pragma)
		for _, line := range found {
			if line != "ok" {
				broken(line)
			}
		}
		return err
	})
}

// tables are the program's own, without those that a text index keeps.
func (c *verifier) tables() ([]string, error) {
	return c.texts("list tables", `SELECT name FROM sqlite_schema t WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'
AND NOT EXISTS (SELECT 1 FROM sqlite_schema v WHERE v.sql LIKE 'CREATE VIRTUAL%' AND substr(t.name, 1, length(v.name) + 1) = v.name || '_') ORDER BY name`)
}

func (c *verifier) counts() error {
	names, err := c.tables()
	if err != nil {
		return err
	}
	for _, name := range names {
		n, err := c.numbers("count "+name, "SELECT count(*) FROM "+name)
		if err != nil {
			if fatal := c.fatal(err); fatal != nil {
				return fatal
			}
			continue // the file is broken there, and said to be
		}
		c.v.Counts[name] = int(n[0])
	}
	return nil
}

// banks checks that every row of every table is some bank's, tables of later
// versions too, and that rows which name a row by number have one.
func (c *verifier) banks() error {
	names, err := c.texts("list tables with banks", `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) k
WHERE t.type = 'table' AND k.name = 'bank' AND k.type = 'INTEGER' ORDER BY t.name`)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := c.invariants([]invariant{{"a row of " + name + " belongs to a bank",
			"SELECT DISTINCT 'bank ' || t.bank FROM " + name + " t LEFT JOIN banks b ON b.no = t.bank WHERE b.no IS NULL"}})
		if err != nil {
			return err
		}
	}
	return c.check("a row that belongs to another has it", func(broken func(string)) error {
		return c.scanAll("check references", `SELECT "table", rowid, parent FROM pragma_foreign_key_check`, nil, func(rows *sql.Rows) error {
			var table, parent string
			var row sql.NullInt64
			err := rows.Scan(&table, &row, &parent)
			broken(fmt.Sprintf("%s row %d names no row of %s", table, row.Int64, parent))
			return err
		})
	})
}
