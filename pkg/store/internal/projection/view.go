package projection

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// view is what a plan may read: one bank, inside the writer's transaction. A bank without a row (0) is empty.
type view struct {
	tx    *engine.Tx
	id    memory.BankID
	bank  int64
	row   *bankRow     // nil = it is read where it is needed
	cache *cache.Cache // nil = everything is read from the tables
	known *known       // of the write that is planned; nil for none
}

var _ plan.View = (*view)(nil)

// in returns the view for statements that go together with others.
func (v *view) in(tx *engine.Tx) *view {
	other := *v
	other.tx = tx
	return &other
}

// viewOf returns the view that a plan reads: of a database where common round trips save time, one that makes them.
func viewOf(v *view) plan.View {
	if v.tx.Sends() {
		return togetherView{v}
	}
	return v
}

// togetherView is a view of a database that answers several statements in one round trip.
type togetherView struct{ *view }

var _ plan.TogetherView = togetherView{}

// Together calls functions whose questions go to the database together (engine.Tx.Together).
func (v togetherView) Together(fns ...func(plan.View) error) error {
	asking := make([]func(*engine.Tx) error, len(fns))
	for i, fn := range fns {
		asking[i] = func(tx *engine.Tx) error {
			other := *v.view
			other.tx = tx
			return fn(togetherView{&other})
		}
	}
	return v.tx.Together(asking...)
}

// Preview returns what decide would change for a write that came next, and changes nothing. It reads one state of the
// store, beside the writer.
func (db *DB) Preview(ctx context.Context, w memory.Write, decide plan.Func) (c memory.Changes, err error) {
	err = db.database.Read(ctx, func(tx *engine.Tx) error {
		v := &view{tx: tx, id: w.Bank}
		if _, err := tx.Find("look up the bank", `SELECT no FROM banks WHERE id = ?`, []any{string(w.Bank)}, &v.bank); err != nil {
			return err
		}
		c, err = decide(v, w)
		return err
	})
	if err != nil {
		return memory.Changes{}, fmt.Errorf("preview a write (%s) of bank %q: %w", w.Kind, string(w.Bank), err)
	}
	return c, nil
}

// Bank returns the profile; the default profile for a bank that does not exist.
func (v *view) Bank() (memory.Bank, error) {
	b := defaultBank(v.id)
	if v.row != nil {
		return b, engine.FromJSON(v.row.profile, &b)
	}
	var profile []byte
	_, err := v.tx.Find(fmt.Sprintf("read the profile of bank %q", string(v.id)), `SELECT profile FROM banks WHERE no = ?`, []any{v.bank}, &profile)
	if err == nil {
		err = engine.FromJSON(profile, &b)
	}
	return b, err
}

// Made reports whether the bank was made by a write, or by a message event up to a sequence.
func (v *view) Made(upto uint64) (made bool, err error) {
	const find = `SELECT EXISTS (SELECT 1 FROM banks WHERE no = ?1 AND written = 1) OR EXISTS (
  SELECT 1 FROM message_events INDEXED BY message_events_state WHERE bank = ?1 AND seq <= ?2)`
	err = v.tx.Get(fmt.Sprintf("look up bank %q", string(v.id)), find, []any{v.bank, int64(upto)}, &made)
	return made, err
}

// Window returns how a window ended so far; nil if it did not. Of its new messages the first and the last are known.
func (v *view) Window(id memory.WindowID) (*memory.WindowEnd, error) {
	const find = `SELECT session, first, last, generation, outcome, reason FROM windows WHERE id = ? AND bank = ?`
	var w memory.WindowEnd
	var first, last uint64
	found, err := v.tx.Find(fmt.Sprintf("read window %s", id), find, []any{string(id), v.bank},
		&w.SessionID, &first, &last, &w.Generation, &w.Outcome, &w.Reason)
	if !found {
		return nil, err
	}
	w.ID, w.Bank, w.Session = id, v.id, w.SessionID
	w.New = []memory.WindowMessage{{Seq: first}}
	if last != first {
		w.New = append(w.New, memory.WindowMessage{Seq: last})
	}
	return &w, nil
}

// Outcome returns the outcome of an op that was applied; nil if it was not.
func (v *view) Outcome(op string) (*memory.WriteOutcome, error) {
	return schema.FindOutcome(v.tx, `SELECT outcome, write, op FROM ops WHERE bank = ? AND op IN (?, ?)`, v.id, v.bank, engine.Text(op))
}

// FactsSince counts live facts whose version is past a MEM_WRITES sequence.
func (v *view) FactsSince(write uint64) (n int, err error) {
	const count = `SELECT count(*) FROM facts WHERE bank = ? AND live = 1 AND version > ?`
	err = v.tx.Get(fmt.Sprintf("count facts since write %d", write), count, []any{v.bank, int64(write)}, &n)
	return n, err
}

// LastConsolidated returns the MEM_WRITES sequence of the last consolidation that ran, 0 for none.
func (v *view) LastConsolidated() (seq uint64, err error) {
	_, err = v.tx.Find("read the last consolidation", `SELECT consolidated FROM banks WHERE no = ?`, []any{v.bank}, &seq)
	return seq, err
}

// LastObserved returns the MEM_WRITES sequence up to which a model has seen the facts, 0 for none.
func (v *view) LastObserved() (seq uint64, err error) {
	_, err = v.tx.Find("read what a model has seen", `SELECT observed FROM banks WHERE no = ?`, []any{v.bank}, &seq)
	return seq, err
}

// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and write.
func (v *view) DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error) {
	return schema.DecisionsOf(v.tx, v.bank, facts)
}

// Pending returns up to limit questions of a kind that wait for a model, the longest waiting first, then by id.
func (v *view) Pending(kind memory.PendingKind, limit int) ([]memory.PendingQuestion, error) {
	const find = `SELECT id, write, at, body FROM pending_models WHERE bank = ? AND kind = ? ORDER BY write, id LIMIT ?`
	what := "read what waits for a model"
	return engine.All(v.tx, what, find, []any{v.bank, string(kind), limit}, func(rows *sql.Rows) (q memory.PendingQuestion, err error) {
		var at int64
		var body []byte
		if err = rows.Scan(&q.ID, &q.Write, &at, &body); err != nil {
			return q, err
		}
		q.Kind, q.At = kind, engine.Time(at)
		err = engine.FromJSON(body, &q)
		return q, err
	})
}

// keyed runs a query that takes ids as ?1 and the bank as ?2, and returns the values of its rows in the order of ids.
func keyed[K engine.Listed, T any](v *view, what, query string, ids []K, scan func(*sql.Rows) (T, error), id func(T) K) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found := make(map[K]T, len(ids))
	err := v.tx.Each(what, query, []any{engine.List(ids), v.bank}, func(rows *sql.Rows) error {
		t, err := scan(rows)
		found[id(t)] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	return engine.InOrder(ids, found), nil
}

// entityColumns are the columns of "entities e" that scanEntity reads; spellings are sorted.
const entityColumns = `SELECT e.id, e.type, e.name, coalesce(e.redirect, ''),
  (SELECT json_group_array(n.spelling ORDER BY n.spelling) FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id AND n.spelling <> e.name),
  coalesce((SELECT k.live FROM entity_counts k WHERE k.bank = e.bank AND k.entity = e.id), 0) FROM `

func scanEntity(rows *sql.Rows) (memory.Entity, error) {
	var e memory.Entity
	var aliases []byte
	if err := rows.Scan(&e.ID, &e.Type, &e.Name, &e.Redirect, &aliases, &e.Facts); err != nil {
		return e, err
	}
	err := engine.FromJSON(aliases, &e.Aliases)
	e.Aliases = engine.NilIfEmpty(e.Aliases)
	return e, err
}

// Entities returns entities by id, in the order asked. It follows no redirect.
func (v *view) Entities(ids []memory.EntityID) ([]memory.Entity, error) {
	const find = entityColumns + `json_each(?1) j CROSS JOIN entities e ON e.bank = ?2 AND e.id = j.value`
	found, err := keyed(v, "read entities", find, ids, scanEntity, func(e memory.Entity) memory.EntityID { return e.ID })
	if err == nil {
		v.known.askedEntities(ids, found)
	}
	return found, err
}

// EntitiesNamed returns the entities that have this spelling as name or alias, by id.
func (v *view) EntitiesNamed(name string) ([]memory.Entity, error) {
	const find = entityColumns + `entities e WHERE e.bank = ?2
AND e.id IN (SELECT entity FROM entity_names WHERE bank = ?2 AND name = ?1) ORDER BY e.id`
	return engine.All(v.tx, fmt.Sprintf("look up entity %q", name), find, []any{memory.NormalText(engine.Text(name)), v.bank}, scanEntity)
}

// BusiestEntities returns up to limit entities by the number of live facts that name them, ties by id.
func (v *view) BusiestEntities(limit int) ([]memory.Entity, error) {
	const find = entityColumns + `entity_counts b JOIN entities e ON e.bank = b.bank AND e.id = b.entity
WHERE b.bank = ?1 ORDER BY b.live DESC, b.entity LIMIT ?2`
	return engine.All(v.tx, "list the busiest entities", find, []any{v.bank, limit}, scanEntity)
}

const selectConflict = `SELECT ` + schema.ConflictColumns + ` FROM conflicts x `

// Conflicts returns all conflicts that one of the facts is party to, by id.
func (v *view) Conflicts(facts []memory.FactID) ([]memory.Conflict, error) {
	const find = selectConflict + `WHERE +x.bank = ?2 AND x.id IN (
  SELECT p.id FROM json_each(?1) j CROSS JOIN conflicts p ON p.a = j.value UNION SELECT p.id FROM json_each(?1) j CROSS JOIN conflicts p ON p.b = j.value) ORDER BY x.id`
	if len(facts) == 0 {
		return nil, nil
	}
	return engine.All(v.tx, "read conflicts", find, []any{engine.List(facts), v.bank}, schema.ScanConflict)
}

// Conflict returns one conflict; nil if there is none.
func (v *view) Conflict(id memory.ConflictID) (*memory.Conflict, error) {
	return engine.First(v.tx, "read conflict "+string(id), selectConflict+`WHERE x.id = ? AND +x.bank = ?`, []any{string(id), v.bank}, schema.ScanConflict)
}

// Relation returns the relation of the type that leads from one record to another; nil if there is none.
func (v *view) Relation(from, to string, typ memory.RelationType) (*memory.Relation, error) {
	const find = `SELECT strength, facts FROM relations WHERE bank = ? AND source = ? AND target = ? AND type = ?`
	r := memory.Relation{From: from, To: to, Type: typ}
	var facts []byte
	found, err := v.tx.Find("look up a relation", find, []any{v.bank, from, to, string(typ)}, &r.Strength, &facts)
	if err == nil && found {
		err = engine.FromJSON(facts, &r.Facts)
	}
	if err != nil || !found {
		return nil, err
	}
	return &r, nil
}

// Undo returns what takes the apply of an op back; nil if that is not kept.
func (v *view) Undo(op string) (*memory.Undo, error) {
	var body []byte
	found, err := v.tx.Find("read an undo", `SELECT body FROM undos WHERE bank = ? AND op = ?`, []any{v.bank, engine.Text(op)}, &body)
	if err != nil || !found {
		return nil, err
	}
	u := new(memory.Undo)
	return u, engine.FromJSON(body, u)
}

// Observations returns observations by id, in the order asked.
func (v *view) Observations(ids []memory.ObservationID) ([]memory.Observation, error) {
	return v.ofBank(schema.Observations().Get(v.tx, v.bank, schema.Strings(ids)))
}

// ObservationsOf returns the observations that rest on one of the facts, by id.
func (v *view) ObservationsOf(facts []memory.FactID) ([]memory.Observation, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	return v.ofBank(schema.Observations().Select(v.tx, `observations o WHERE +o.bank = ?2 AND o.no IN (
  SELECT k.observation FROM json_each(?1) j CROSS JOIN observation_facts k ON k.fact = j.value) ORDER BY o.id`, engine.List(facts), v.bank))
}

func (v *view) ofBank(list []memory.Observation, err error) ([]memory.Observation, error) {
	for i := range list {
		list[i].Bank = v.id
	}
	return list, err
}
