package projection

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// eachComposite calls do for composites, whose rows differ.
func (a *applier) eachComposite(bank int64, list []memory.Composite, do func(a *applier, bank int64, c memory.Composite) error) error {
	id := func(c memory.Composite) memory.CompositeID { return c.ID }
	return eachTogether(a, list, id, func(a *applier, c memory.Composite) error { return do(a, bank, c) })
}

// putComposite stores the whole new state of a composite but for its vector, which putCompositeVector stores; adoptChildren
// makes it the parent of its children. A nil vector keeps the stored one. A composite that replaces another, removed with the same changes, takes over its row, because
// most of what is stored of the two is the same.
func (a *applier) putComposite(bank int64, c memory.Composite) error {
	from := c.ID
	if was, ok := a.renewed[c.ID]; ok {
		from = was
		if err := schema.RemoveUses(a.tx, bank, string(was)); err != nil {
			return err
		}
	}
	if err := a.replaceComposite(bank, a.stored.composites[from], from, c); err != nil {
		return fmt.Errorf("store composite %s: %w", c.ID, err)
	}
	return nil
}

func (a *applier) replaceComposite(bank int64, before compositeState, from memory.CompositeID, c memory.Composite) error {
	c.Text = engine.Text(c.Text)
	grams := schema.Grams(c.Text)
	stored := before.no != 0
	no, err := a.putCompositeRow(bank, c, grams, before.no)
	if err != nil {
		return err
	}
	a.put[c.ID] = no
	if stored {
		a.cache.DropComposite(bank, before.level, no, from, before.entities)
	} else {
		a.counter.Came(bank, memory.RecordComposite, no)
	}
	if !stored || before.text != c.Text || before.level != c.Level {
		var was []string
		if stored {
			was = []string{before.text, before.grams}
			err = a.putTerms(bank, before.level, no, before.text, "")
		}
		if err == nil {
			err = a.composites.Reindex(a.tx, no, bank, was, []string{c.Text, grams})
		}
		if err == nil {
			err = a.putTerms(bank, c.Level, no, "", c.Text)
		}
	}
	if err == nil {
		err = a.putCompositeEntities(bank, no, before.entities, c.Entities)
	}
	if err == nil && c.Vector == nil && from != c.ID {
		err = a.tx.Exec("remove vector", `DELETE FROM composite_vectors WHERE composite = ?`, no)
	}
	if err != nil {
		return err
	}
	delete(a.stored.composites, from)
	a.stored.composites[c.ID] = compositeState{no: no, level: c.Level, text: c.Text, grams: grams, entities: c.Entities}
	if stored && from == c.ID {
		a.cache.DropNaming(bank, c.Entities...)
		return nil
	}
	a.cache.AddComposite(bank, no, c)
	return nil
}

// compositeState is what decides how a stored composite is changed or removed. no is 0 for one that is not stored.
type compositeState struct {
	no          int64
	level       int
	text, grams string
	entities    []memory.EntityID
}

// storedComposites returns the states of those that are stored of the composites that changes put and remove. What the cache
// has is not looked up: it has what the plan read, unless that is much. Where a round trip takes long, others that are put
// are taken for new ones, which the database refuses (engine.ErrExists) if they are stored.
func (a *applier) storedComposites(bank int64, c memory.Changes) (map[memory.CompositeID]compositeState, error) {
	const find = `SELECT c.id, c.no, c.level, c.text, c.grams, c.entities FROM json_each(?1) j CROSS JOIN composites c ON c.id = j.value WHERE +c.bank = ?2`
	out := map[memory.CompositeID]compositeState{}
	var unknown []memory.CompositeID
	know := func(id memory.CompositeID, assumes bool) {
		was, cached := a.cache.Composite(bank, id)
		if no, placed := a.cache.Row(bank, string(id)); cached && placed {
			out[id] = compositeState{no: no, level: was.Level, text: was.Text, grams: schema.Grams(was.Text), entities: was.Entities}
		} else if cached || !assumes {
			unknown = append(unknown, id)
		}
	}
	for _, id := range c.RemovedComposites {
		know(id, false)
	}
	for i := range c.Composites {
		know(c.Composites[i].ID, a.assumes && a.tx.Sends())
	}
	if len(unknown) == 0 {
		return out, nil
	}
	err := a.tx.Each("look up composites", find, []any{engine.List(unknown), bank}, func(rows *sql.Rows) error {
		var id memory.CompositeID
		var was compositeState
		var entities []byte
		if err := rows.Scan(&id, &was.no, &was.level, &was.text, &was.grams, &entities); err != nil {
			return err
		}
		err := engine.FromJSON(entities, &was.entities)
		out[id] = was
		return err
	})
	return out, err
}

// putCompositeVector stores the vector of a composite that was put. When its representative is a fact with the same vector,
// which must be stored by now, it stores a reference to that.
func (a *applier) putCompositeVector(bank int64, c memory.Composite) error {
	if c.Vector == nil {
		return nil
	}
	const put = `INSERT INTO composite_vectors (bank, composite, fact, vector) SELECT ?1, ?2, s.fact, CASE WHEN s.fact IS NULL THEN ?4 END
FROM (SELECT (SELECT v.fact FROM facts f JOIN fact_vectors v ON v.fact = f.no WHERE f.id = ?3 AND +f.bank = ?1 AND v.vector = ?4) AS fact) s WHERE true
ON CONFLICT (composite) DO UPDATE SET fact = excluded.fact, vector = excluded.vector`
	return a.tx.Exec("store vector", put, bank, a.put[c.ID], c.Representative, sketch.Pack(c.Vector))
}

func (a *applier) putCompositeRow(bank int64, c memory.Composite, grams string, no int64) (int64, error) {
	const insert = `INSERT INTO composites (level, text, grams, representative, children, entities, tags, occurred_from, occurred_to,
  said, confidence, version, made, id, bank, no) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	const update = `UPDATE composites SET level = ?, text = ?, grams = ?, representative = ?, children = ?, entities = ?, tags = ?,
  occurred_from = ?, occurred_to = ?, said = ?, confidence = ?, version = ?, made = ?, id = ? WHERE no = ?`
	children, err1 := engine.JSONList(c.Children)
	entities, err2 := engine.JSONList(c.Entities)
	tags, err3 := engine.JSONList(c.Tags)
	made, err4 := schema.StampJSON(c.By)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return 0, err
	}
	args := []any{c.Level, c.Text, grams, c.Representative, children, entities, tags, engine.TimeOrNull(c.Occurred.From), engine.TimeOrNull(c.Occurred.To),
		engine.Micros(c.Said), c.Confidence, int64(c.Version), made}
	if no != 0 {
		return no, a.tx.Exec("update", update, append(args, string(c.ID), no)...)
	}
	no, err := a.next.take(a.tx, "composites")
	if err != nil {
		return 0, err
	}
	return no, a.tx.Exec("insert", insert, append(args, string(c.ID), bank, no)...)
}

// putCompositeEntities makes the rows of the entities that a composite names what they are now.
func (a *applier) putCompositeEntities(bank, no int64, before, now []memory.EntityID) error {
	const (
		remove = `DELETE FROM composite_entities WHERE composite = ? AND entity IN (SELECT value FROM json_each(?))`
		insert = `INSERT INTO composite_entities (bank, entity, composite) SELECT ?1, value, ?2 FROM json_each(?3) WHERE true ON CONFLICT DO NOTHING`
	)
	if gone := without(before, now); len(gone) > 0 {
		if err := a.tx.Exec("remove entities", remove, no, engine.List(gone)); err != nil {
			return err
		}
	}
	if came := without(now, before); len(came) > 0 {
		return a.tx.Exec("store entities", insert, bank, no, engine.List(came))
	}
	return nil
}

// without returns the ids of a list, as they are stored, that are not in another.
func without(list, other []memory.EntityID) (out []string) {
	in := make(map[string]bool, len(other))
	for _, e := range other {
		in[engine.Text(string(e))] = true
	}
	for _, e := range list {
		if id := engine.Text(string(e)); !in[id] {
			out = append(out, id)
		}
	}
	return out
}

// adoptChildren makes a composite the parent of its children, and takes the parent from those that left it.
func (a *applier) adoptChildren(bank int64, c memory.Composite) error {
	table := "facts"
	if c.Level > 1 {
		table = "composites"
	}
	no := a.put[c.ID]
	children := engine.List(c.Children)
	if _, ok := a.renewed[c.ID]; ok { // the children that stay belong to a row that has another id now
		stay := `SELECT no FROM ` + table + ` WHERE parent = ?`
		if err := a.setParents("look up children", c.Level-1, c.ID, stay, no); err != nil {
			return err
		}
	}
	release := `UPDATE ` + table + ` SET parent = NULL WHERE parent = ? AND id NOT IN (SELECT value FROM json_each(?)) RETURNING no`
	if err := a.setParents("release children", c.Level-1, "", release, no, children); err != nil {
		return err
	}
	// By id: "+" keeps SQLite from using an index of the bank.
	adopt := `UPDATE ` + table + ` SET parent = ?1 WHERE +bank = ?2 AND id IN (SELECT value FROM json_each(?3)) AND parent IS DISTINCT FROM ?1 RETURNING no`
	return a.setParents("adopt children", c.Level-1, c.ID, adopt, no, bank, children)
}

// setParents runs an update of the parents of nodes of a level that returns their rows.
func (a *applier) setParents(what string, level int, parent memory.CompositeID, update string, args ...any) error {
	return a.tx.NumbersLater(what, update, args, func(no int64) { a.cache.SetParent(level, no, parent) })
}

// removeComposites removes composites from the tree, but for those whose row another takes over.
func (a *applier) removeComposites(bank int64, ids []memory.CompositeID) error {
	reused := map[memory.CompositeID]bool{}
	for _, was := range a.renewed {
		reused[was] = true
	}
	removed := slices.DeleteFunc(slices.Clone(ids), func(id memory.CompositeID) bool { return reused[id] })
	same := func(id memory.CompositeID) memory.CompositeID { return id }
	return eachTogether(a, removed, same, func(a *applier, id memory.CompositeID) error { return a.removeComposite(bank, id) })
}

// removeComposite removes a composite from the tree; its children become roots. One that is not stored changes nothing.
func (a *applier) removeComposite(bank int64, id memory.CompositeID) error {
	was, ok := a.stored.composites[id]
	if !ok {
		return nil
	}
	delete(a.stored.composites, id)
	if err := a.composites.Reindex(a.tx, was.no, bank, []string{was.text, was.grams}, nil); err != nil {
		return fmt.Errorf("remove composite %s: %w", id, err)
	}
	if err := a.putTerms(bank, was.level, was.no, was.text, ""); err != nil {
		return fmt.Errorf("remove composite %s: %w", id, err)
	}
	a.cache.DropComposite(bank, was.level, was.no, id, was.entities)
	table := "facts"
	if was.level > 1 {
		table = "composites"
	}
	release := `UPDATE ` + table + ` SET parent = NULL WHERE parent = ?1 RETURNING no`
	if err := a.setParents("release the children of composite "+string(id), was.level-1, "", release, was.no); err != nil {
		return err
	}
	// Its entities and its vector are removed with it.
	if err := a.tx.Exec("remove composite "+string(id), `DELETE FROM composites WHERE id = ?`, string(id)); err != nil {
		return err
	}
	a.next.removed("composites", was.no)
	a.counter.Went(bank, memory.RecordComposite)
	return schema.RemoveUses(a.tx, bank, string(id))
}
