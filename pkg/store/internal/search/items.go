package search

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Items returns rows as items, in the order asked, whatever the filter. Their lists are never nil, but for tags.
func (r *Reader) Items(rec memory.Record, nos []int64) ([]memory.Item, error) {
	kind, known := r.store.schema.Find(rec)
	if len(nos) == 0 || !known {
		return []memory.Item{}, nil
	}
	found := make(map[int64]memory.Item, len(nos))
	list := engine.List(nos)
	err := r.tx.Each("read "+kind.Table, kind.Items.Select, []any{list, r.bank}, func(rows *sql.Rows) error {
		no, item, err := kind.Items.Scan(rows)
		if item.Entities == nil {
			item.Entities = []memory.EntityID{}
		}
		if item.Children == nil {
			item.Children = []string{}
		}
		found[no] = item
		return err
	})
	if err != nil || kind.Items.Sources == "" {
		return engine.InOrder(nos, found), err
	}
	err = r.tx.Each("read sources", kind.Items.Sources, []any{list, r.bank}, func(rows *sql.Rows) error {
		var no, seq int64
		var id memory.MessageID
		err := rows.Scan(&no, &id, &seq)
		if item, ok := found[no]; ok {
			item.Sources = append(item.Sources, id)
			found[no] = item
		}
		return err
	})
	return engine.InOrder(nos, found), err
}

// List returns up to limit records that pass f, ordered by the time they were said, and the place after the last.
func (r *Reader) List(rec memory.Record, f memory.Filter, oldestFirst bool, from query.Position, limit int) ([]memory.Item, query.Position, error) {
	n, err := r.newFilter(f)
	if err != nil {
		return nil, query.Position{}, err
	}
	kind, known := r.store.schema.Find(rec)
	if !known {
		return []memory.Item{}, query.Position{}, nil
	}
	p, err := r.listPassing(kind, n)
	if err != nil {
		return nil, query.Position{}, err
	}
	passes := kind.Passes(n.Filter)
	source, where, args := kind.Rows(), passes.SQL, append([]any{r.bank}, passes.Args...)
	if p.few {
		source, where, args = kind.Among(), "TRUE", []any{engine.List(p.nos), r.bank}
	}
	direction, past := "DESC", "<"
	if oldestFirst {
		direction, past = "ASC", ">"
	}
	find := fmt.Sprintf(`SELECT %s, %s FROM %s WHERE %s AND %s`, kind.No(), kind.Time(), source, kind.InBank(), where)
	if !from.IsZero() {
		find += fmt.Sprintf(" AND (%[1]s, %[2]s) %[3]s (?, ?)", kind.Time(), kind.No(), past)
		args = append(args, from.At, from.No)
	}
	find += fmt.Sprintf(" ORDER BY %[1]s %[3]s, %[2]s %[3]s LIMIT ?", kind.Time(), kind.No(), direction)
	places, err := engine.All(r.tx, "list "+string(rec)+"s", find, append(args, limit+1), func(rows *sql.Rows) (p query.Position, err error) {
		err = rows.Scan(&p.No, &p.At)
		return p, err
	})
	if err != nil {
		return nil, query.Position{}, err
	}
	places, last := page(places, limit)
	nos := make([]int64, len(places))
	for i, p := range places {
		nos[i] = p.No
	}
	items, err := r.Items(rec, nos)
	return items, last, err
}

// page cuts one row more than limit off, and returns the last row that stays as the place after the page; the zero
// value of P when there is no further page.
func page[P any](rows []P, limit int) ([]P, P) {
	var last P
	if len(rows) > limit {
		rows = rows[:limit]
		last = rows[limit-1]
	}
	return rows, last
}

// Item returns one record by id as an item; nil if there is none.
func (r *Reader) Item(id string) (*memory.Item, error) {
	for _, kind := range r.store.schema.Records() {
		var no int64
		find := fmt.Sprintf(`SELECT %s FROM %s WHERE id = ?2 AND bank = ?1`, kind.Number, kind.Table)
		found, err := r.tx.Find(fmt.Sprintf("look up record %q", id), find, []any{r.bank, id}, &no)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		items, err := r.Items(kind.Record, []int64{no})
		if err != nil || len(items) == 0 {
			return nil, err
		}
		return &items[0], nil
	}
	return nil, nil
}

// FactItems returns facts by id, in the order asked, in any state.
func (r *Reader) FactItems(ids []memory.FactID) ([]memory.Item, error) {
	nos, err := r.tx.Numbers("look up facts", `SELECT f.no FROM json_each(?) j CROSS JOIN facts f ON f.id = j.value WHERE +f.bank = ? ORDER BY j.key`,
		engine.List(ids), r.bank)
	if err != nil {
		return nil, err
	}
	return r.Items(memory.RecordFact, nos)
}

// PointingTo returns the facts superseded by or merged into one of the ids, by id.
func (r *Reader) PointingTo(ids []memory.FactID) ([]memory.FactID, error) {
	const find = `SELECT id FROM (
  SELECT f.id FROM json_each(?1) j CROSS JOIN facts f ON f.superseded = j.value WHERE +f.bank = ?2
  UNION SELECT f.id FROM json_each(?1) j CROSS JOIN facts f ON f.merged = j.value WHERE +f.bank = ?2) ORDER BY id`
	return engine.Column[memory.FactID](r.tx, "look up earlier facts", find, engine.List(ids), r.bank)
}

// ObservationsByID returns observations by id, in the order asked. Their lists are never nil.
func (r *Reader) ObservationsByID(ids []memory.ObservationID) ([]memory.Observation, error) {
	out, err := schema.Observations().Get(r.tx, r.bank, schema.Strings(ids))
	for i := range out {
		o := &out[i]
		o.Entities, o.Facts, o.Sources = notNil(o.Entities), notNil(o.Facts), notNil(o.Sources)
	}
	return out, err
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and write.
func (r *Reader) DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error) {
	return schema.DecisionsOf(r.tx, r.bank, facts)
}

// WindowOf returns the end of the window in which a message was new, of its latest generation; nil while there is none.
func (r *Reader) WindowOf(id memory.MessageID) (*write.WindowResult, error) {
	const find = `SELECT w.outcome, w.reason, w.write, o.outcome FROM messages m
JOIN windows w ON w.bank = m.bank AND w.session = m.session AND w.last >= m.seq AND w.first <= m.seq
LEFT JOIN ops o ON o.write = w.write AND o.bank = w.bank
WHERE m.bank = ? AND m.id = ? ORDER BY w.generation DESC, w.write DESC LIMIT 1`
	var end write.WindowResult
	var raw []byte
	found, err := r.tx.Find(fmt.Sprintf("look up the window of message %q", string(id)), find, []any{r.bank, string(id)},
		&end.Outcome, &end.Reason, &end.Write, &raw)
	if !found {
		return nil, err
	}
	var out memory.WriteOutcome
	if err := engine.FromJSON(raw, &out); err != nil {
		return nil, fmt.Errorf("read the outcome of write %d: %w", end.Write, err)
	}
	end.Results = out.Results
	return &end, nil
}

// SourcesNamed returns messages as sources, by sequence.
func (r *Reader) SourcesNamed(ids []memory.MessageID) ([]memory.Source, error) {
	const find = `SELECT DISTINCT m.seq, m.id, m.time FROM json_each(?) j JOIN messages m ON m.bank = ? AND m.id = j.value ORDER BY m.seq`
	return engine.All(r.tx, "look up messages", find, []any{engine.List(ids), r.bank}, func(rows *sql.Rows) (s memory.Source, err error) {
		var said int64
		err = rows.Scan(&s.Seq, &s.Message, &said)
		s.Said = engine.Time(said)
		s.Start = s.Said
		return s, err
	})
}
