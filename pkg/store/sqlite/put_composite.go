package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// putComposite stores the whole new state of a composite; adopt makes it the
// parent of its children. A nil vector keeps the stored one. One that has the
// place of another, which is removed with the same changes, takes its row: most
// of what is stored of the two is the same.
func (a *applier) putComposite(bank int64, c memory.Composite) error {
	from := c.ID
	if was, ok := a.renewed[c.ID]; ok {
		from = was
		if err := a.dropUses(bank, string(was)); err != nil {
			return err
		}
	}
	before, err := a.compositeBefore(bank, from)
	if err != nil {
		return err
	}
	if err := a.replaceComposite(bank, before, from, c); err != nil {
		return fmt.Errorf("store composite %s: %w", c.ID, err)
	}
	return nil
}

func (a *applier) replaceComposite(bank int64, before compositeBefore, from memory.CompositeID, c memory.Composite) error {
	c.Text = text(c.Text)
	grams := analysis.Grams(c.Text)
	stored := before.no != 0
	no, err := a.putCompositeRow(bank, c, grams, before.no)
	if err != nil {
		return err
	}
	a.memo.dropComposite(bank, before.level, no, from, before.entities)
	if !stored || before.text != c.Text || before.level != c.Level {
		if stored {
			err = errors.Join(a.unindex("composites_fts", no, bank, before.text, before.grams), a.putTerms(bank, before.level, no, before.text, ""))
		}
		if err == nil {
			err = a.exec("index", `INSERT INTO composites_fts (rowid, bank, text, grams) VALUES (?, ?, ?, ?)`, no, bankToken(bank), c.Text, grams)
		}
		if err == nil {
			err = a.putTerms(bank, c.Level, no, "", c.Text)
		}
	}
	if err == nil && (!stored || !slices.Equal(before.entities, c.Entities)) {
		err = a.putCompositeEntities(bank, no, c.Entities, stored)
	}
	switch {
	case err != nil:
	case c.Vector != nil:
		err = a.putCompositeVector(bank, no, c)
	case from != c.ID:
		err = a.exec("remove vector", `DELETE FROM composite_vectors WHERE composite = ?`, no)
	}
	if err != nil {
		return err
	}
	if stored && from == c.ID {
		a.memo.dropNamings(bank, c.Entities)
		return nil
	}
	a.memo.storedComposite(bank, no, c)
	return nil
}

// compositeBefore is what of a stored composite decides how it is changed or
// removed; no row (0) for one that is not stored.
type compositeBefore struct {
	no          int64
	level       int
	text, grams string
	entities    []memory.EntityID
}

func (a *applier) compositeBefore(bank int64, id memory.CompositeID) (compositeBefore, error) {
	const find = `SELECT no, level, text, grams, entities FROM composites WHERE id = ? AND bank = ?`
	var b compositeBefore
	var entities []byte
	err := a.tx.QueryRowContext(a.ctx, find, string(id), bank).Scan(&b.no, &b.level, &b.text, &b.grams, &entities)
	if errors.Is(err, sql.ErrNoRows) {
		return b, nil
	}
	if err == nil {
		err = fromJSON(entities, &b.entities)
	}
	if err != nil {
		return b, fmt.Errorf("look up composite %s: %w", id, err)
	}
	return b, nil
}

// putCompositeVector stores the vector of a composite: whose it is, where its
// representative is a fact and has the same.
func (a *applier) putCompositeVector(bank, no int64, c memory.Composite) error {
	const same = `SELECT v.fact FROM facts f JOIN fact_vectors v ON v.fact = f.no WHERE f.id = ? AND f.bank = ? AND v.vector = ?`
	const put = `INSERT INTO composite_vectors (bank, composite, fact, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (composite) DO UPDATE SET fact = excluded.fact, vector = excluded.vector`
	packed := sketch.Pack(c.Vector)
	var fact int64
	err := a.tx.QueryRowContext(a.ctx, same, c.Representative, bank, packed).Scan(&fact)
	switch {
	case err == nil:
		return a.exec("store vector", put, bank, no, fact, nil)
	case errors.Is(err, sql.ErrNoRows):
		return a.exec("store vector", put, bank, no, nil, packed)
	}
	return fmt.Errorf("look for the vector: %w", err)
}

func (a *applier) putCompositeRow(bank int64, c memory.Composite, grams string, no int64) (int64, error) {
	const insert = `INSERT INTO composites (level, text, grams, representative, children, entities, tags, occurred_from, occurred_to,
  said, confidence, version, made, id, bank) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	const update = `UPDATE composites SET level = ?, text = ?, grams = ?, representative = ?, children = ?, entities = ?, tags = ?,
  occurred_from = ?, occurred_to = ?, said = ?, confidence = ?, version = ?, made = ?, id = ? WHERE no = ?`
	children, err1 := listJSON(c.Children)
	entities, err2 := listJSON(c.Entities)
	tags, err3 := listJSON(c.Tags)
	made, err4 := stampJSON(c.By)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return 0, err
	}
	args := []any{c.Level, c.Text, grams, c.Representative, children, entities, tags, timeOrNull(c.Occurred.From), timeOrNull(c.Occurred.To),
		micros(c.Said), c.Confidence, int64(c.Version), made}
	if no != 0 {
		return no, a.exec("update", update, append(args, string(c.ID), no)...)
	}
	r, err := a.tx.ExecContext(a.ctx, insert, append(args, string(c.ID), bank)...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (a *applier) putCompositeEntities(bank, no int64, entities []memory.EntityID, stored bool) error {
	if stored {
		if err := a.exec("remove entities", `DELETE FROM composite_entities WHERE composite = ?`, no); err != nil {
			return err
		}
	}
	const insert = `INSERT INTO composite_entities (bank, entity, composite) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	return each(bank, entities, func(bank int64, e memory.EntityID) error {
		return a.exec("store entity", insert, bank, text(string(e)), no)
	})
}

// adopt points the children of a composite to it, and lets go of those that left.
func (a *applier) adopt(bank int64, c memory.Composite) error {
	table := "facts"
	if c.Level > 1 {
		table = "composites"
	}
	var no int64
	err := a.tx.QueryRowContext(a.ctx, `SELECT no FROM composites WHERE id = ? AND bank = ?`, string(c.ID), bank).Scan(&no)
	if err != nil {
		return fmt.Errorf("look up composite %s: %w", c.ID, err)
	}
	children := jsonList(c.Children)
	if _, ok := a.renewed[c.ID]; ok { // those that stay are below a row that has another id now
		stay := `SELECT no FROM ` + table + ` WHERE parent = ?`
		if err := a.move("look up children", c.Level-1, c.ID, stay, no); err != nil {
			return err
		}
	}
	release := `UPDATE ` + table + ` SET parent = NULL WHERE parent = ? AND id NOT IN (SELECT value FROM json_each(?)) RETURNING no`
	if err := a.move("release children", c.Level-1, "", release, no, children); err != nil {
		return err
	}
	// By id, whatever else is indexed: "+" keeps the indexes of the bank out.
	take := `UPDATE ` + table + ` SET parent = ?1 WHERE +bank = ?2 AND id IN (SELECT value FROM json_each(?3)) AND parent IS NOT ?1 RETURNING no`
	return a.move("take children", c.Level-1, c.ID, take, no, bank, children)
}

// move runs an update of the parents of nodes of a level; it gives back their rows.
func (a *applier) move(what string, level int, parent memory.CompositeID, update string, args ...any) error {
	return a.rows(what, update, args, func(rows *sql.Rows) error {
		var no int64
		err := rows.Scan(&no)
		a.memo.setParent(level, no, parent)
		return err
	})
}

// removeComposites takes composites out of the tree, but for those whose row
// another takes.
func (a *applier) removeComposites(bank int64, ids []memory.CompositeID) error {
	taken := map[memory.CompositeID]bool{}
	for _, was := range a.renewed {
		taken[was] = true
	}
	return each(bank, slices.DeleteFunc(slices.Clone(ids), func(id memory.CompositeID) bool { return taken[id] }), a.removeComposite)
}

// removeComposite takes a composite out of the tree; its children become roots.
// One that is not there changes nothing.
func (a *applier) removeComposite(bank int64, id memory.CompositeID) error {
	was, err := a.compositeBefore(bank, id)
	if err != nil || was.no == 0 {
		return err
	}
	if err := a.unindex("composites_fts", was.no, bank, was.text, was.grams); err != nil {
		return fmt.Errorf("remove composite %s: %w", id, err)
	}
	if err := a.putTerms(bank, was.level, was.no, was.text, ""); err != nil {
		return fmt.Errorf("remove composite %s: %w", id, err)
	}
	a.memo.dropComposite(bank, was.level, was.no, id, was.entities)
	for i, s := range []string{`UPDATE facts SET parent = NULL WHERE parent = ?1 RETURNING no`, `UPDATE composites SET parent = NULL WHERE parent = ?1 RETURNING no`} {
		if err := a.move("release the children of composite "+string(id), i, "", s, was.no); err != nil {
			return err
		}
	}
	// Its entities and vector go with it.
	if err := a.exec("remove composite "+string(id), `DELETE FROM composites WHERE id = ?`, string(id)); err != nil {
		return err
	}
	return a.dropUses(bank, string(id))
}
