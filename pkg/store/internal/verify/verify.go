// Package verify checks a whole store: the file, the invariants of the schema, and that every index agrees with what
// it indexes. Run reports all violations of all rules; Consistent stops at the first.
package verify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// maxPlaces is how many places of a violated rule are named.
const maxPlaces = 5

// Run checks the file, all rules, and, where this process writes the store, that every text index contains the words of
// its rows. Rows are seen in one state, which is kept for as long as it takes.
func Run(ctx context.Context, db engine.Database, s schema.Schema, full bool) (wire.Verification, error) {
	v := wire.NewVerification()
	err := db.Read(ctx, func(tx *engine.Tx) error {
		c := &verifier{tx: tx, schema: s, v: &v}
		for _, check := range []func() error{
			func() error { return c.files(full) }, c.counts, c.banks, func() error { return c.rules(s.Rules(db)...) },
			c.vectors, c.validity, func() error { return c.terms(full) },
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
	return v, indexes(ctx, db, s, &v)
}

// verifier checks one state of a store.
type verifier struct {
	tx     *engine.Tx
	schema schema.Schema
	v      *wire.Verification
}

// check records one rule; find reports where it is violated. An error of the check itself, such as a column that cannot
// be read, violates the rule; only an error that ends the whole verification is returned.
func (c *verifier) check(rule string, find func(violated func(where string)) error) error {
	r := wire.Check{Rule: rule}
	err := c.tx.Try(func() error {
		return find(func(where string) {
			if r.Broken++; len(r.Where) < maxPlaces {
				r.Where = append(r.Where, where)
			}
		})
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

// fatal returns an error that tells nothing about the content of the store; nil for any other.
func (c *verifier) fatal(err error) error {
	if c.tx.Context().Err() != nil || errors.Is(c.tx.Engine().Failure(err), memory.ErrUnavailable) {
		return err
	}
	return nil
}

func (c *verifier) rules(list ...schema.Rule) error {
	for _, rule := range list {
		if err := c.check(rule.Name, func(violated func(string)) error {
			return c.tx.Each("verify", rule.Find, nil, func(rows *sql.Rows) error {
				var where sql.NullString
				err := rows.Scan(&where)
				violated(where.String)
				return err
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// files lets the database check what it stores.
func (c *verifier) files(full bool) error {
	var rule string
	var wrong []string
	err := c.tx.Try(func() (err error) {
		rule, wrong, err = c.tx.Engine().CheckFiles(c.tx, full)
		return err
	})
	return c.check(rule, func(violated func(string)) error {
		for _, line := range wrong {
			violated(line)
		}
		return err
	})
}

// counts counts the rows of all tables, but for those that belong to a text index.
func (c *verifier) counts() error {
	names, err := c.tx.Engine().Tables(c.tx)
	if err != nil {
		return err
	}
	for _, name := range names {
		var n []int64
		err := c.tx.Try(func() (err error) {
			n, err = c.tx.Numbers("count "+name, "SELECT count(*) FROM "+name)
			return err
		})
		if err != nil {
			if fatal := c.fatal(err); fatal != nil {
				return fatal
			}
			continue // the file is damaged there, which file reports
		}
		c.v.Counts[name] = int(n[0])
	}
	return nil
}

// banks checks that every row of every table, also of tables of later versions, belongs to a bank, and that foreign
// keys refer to rows.
func (c *verifier) banks() error {
	names, err := c.tx.Engine().TablesOfBanks(c.tx)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := c.rules(schema.Rule{Name: "a row of " + name + " belongs to a bank",
			Find: "SELECT DISTINCT 'bank ' || t.bank FROM " + name + " t LEFT JOIN banks b ON b.no = t.bank WHERE b.no IS NULL"})
		if err != nil {
			return err
		}
	}
	return c.check("a row that belongs to another has it", func(violated func(string)) error {
		orphans, err := c.tx.Engine().Orphans(c.tx)
		for _, o := range orphans {
			violated(o)
		}
		return err
	})
}

// indexes compares every text index with its rows, word by word.
func indexes(ctx context.Context, db engine.Database, s schema.Schema, v *wire.Verification) error {
	for _, k := range s.Kinds {
		if len(k.Indexed) == 0 {
			continue
		}
		c := wire.Check{Rule: "the text index of " + k.Table + " says what its rows say"}
		if !db.Writable() {
			c.Skipped = "only the process that writes the store can ask for it: ask there, or run `eunoe verify --offline` on a stopped store"
			v.Add(c)
			continue
		}
		err := db.Write(ctx, k.CheckIndex)
		if ctx.Err() != nil || errors.Is(err, memory.ErrUnavailable) {
			return err
		}
		if err != nil {
			c.Broken, c.Where = 1, []string{err.Error()}
		}
		v.Add(c)
	}
	return nil
}

// Consistent compares the text indexes, and everything else that is kept in step with rows, with those rows, and checks
// the file. It reads the whole store and needs a writable file. The error names the first thing that is out of step.
func Consistent(ctx context.Context, db engine.Database, s schema.Schema) error {
	return db.Write(ctx, func(tx *engine.Tx) error {
		for _, k := range s.Kinds {
			if len(k.Indexed) == 0 {
				continue
			}
			if err := k.CheckIndex(tx); err != nil {
				return fmt.Errorf("the text index of %s is not in step: %w", k.Table, err)
			}
		}
		for _, r := range s.Counted() {
			wrong, err := engine.Column[string](tx, "check that "+r.Name, r.Find)
			if err != nil {
				return err
			}
			if len(wrong) > 0 {
				return fmt.Errorf("it does not hold that %s: %q", r.Name, wrong)
			}
		}
		for _, d := range schema.Derivatives {
			var n int
			if err := tx.Get("count "+d.Name, d.Count, nil, &n); err != nil {
				return err
			}
			if n > 0 {
				return fmt.Errorf("the store has %d %s", n, d.Name)
			}
		}
		_, wrong, err := db.CheckFiles(tx, true)
		if err == nil && len(wrong) > 0 {
			err = fmt.Errorf("the database is damaged: %s", wrong)
		}
		return err
	})
}
