package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Items gives rows whole, in the order asked, unfiltered.
func (r *reader) Items(rec memory.Record, nos []int64) ([]memory.Item, error) {
	if len(nos) == 0 {
		return []memory.Item{}, nil
	}
	switch rec {
	case memory.RecordFact:
		return r.factItems(nos)
	case memory.RecordComposite:
		return r.compositeItems(nos)
	case memory.RecordObservation:
		return r.observationItems(nos)
	case memory.RecordMessage:
		return r.messageItems(nos)
	}
	return []memory.Item{}, nil
}

const factItem = `SELECT f.no, f.id, coalesce(f.key, ''), f.text, f.kind, f.type, f.topic, f.speaker, f.role, f.session,
  f.occurred_from, f.occurred_to, f.said, f.valid, coalesce(f.superseded, ''), coalesce(f.merged, ''), f.confidence,
  f.entities, f.tags, f.metadata, f.version
FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value WHERE f.bank = ?`

func (r *reader) factItems(nos []int64) ([]memory.Item, error) {
	found := make(map[int64]memory.Item, len(nos))
	err := r.scanAll("read facts", factItem, []any{jsonList(nos), r.bank}, func(rows *sql.Rows) error {
		i := memory.Item{Record: memory.RecordFact, Children: []string{}}
		var no, said int64
		var from, to sql.NullInt64
		var valid, entities, tags, metadata []byte
		err := rows.Scan(&no, &i.ID, &i.Key, &i.Text, &i.Kind, &i.Type, &i.Topic, &i.Speaker, &i.Role, &i.Session,
			&from, &to, &said, &valid, &i.Superseded, &i.Merged, &i.Confidence, &entities, &tags, &metadata, &i.Version)
		if err != nil {
			return err
		}
		setTimes(&i, said, from, to)
		err = allJSON(entities, &i.Entities, tags, &i.Tags, metadata, &i.Metadata)
		if err == nil {
			i.Valid, err = validOf(valid, said)
		}
		found[no] = i
		return err
	})
	if err != nil {
		return nil, err
	}
	err = r.addSources(`SELECT s.fact, s.message FROM json_each(?) j CROSS JOIN fact_sources s ON s.fact = j.value ORDER BY s.fact, s.seq`, found, jsonList(nos))
	return finish(nos, found), err
}

func (r *reader) compositeItems(nos []int64) ([]memory.Item, error) {
	const find = `SELECT c.no, c.id, c.level, c.text, c.children, c.entities, c.tags, c.occurred_from, c.occurred_to, c.said, c.confidence, c.version
FROM json_each(?) j CROSS JOIN composites c ON c.no = j.value WHERE c.bank = ?`
	found := make(map[int64]memory.Item, len(nos))
	err := r.scanAll("read composites", find, []any{jsonList(nos), r.bank}, func(rows *sql.Rows) error {
		i := memory.Item{Record: memory.RecordComposite}
		var no, said int64
		var from, to sql.NullInt64
		var children, entities, tags []byte
		err := rows.Scan(&no, &i.ID, &i.Level, &i.Text, &children, &entities, &tags, &from, &to, &said, &i.Confidence, &i.Version)
		if err != nil {
			return err
		}
		setTimes(&i, said, from, to)
		err = allJSON(entities, &i.Entities, tags, &i.Tags, children, &i.Children)
		found[no] = i
		return err
	})
	if err != nil {
		return nil, err
	}
	err = r.addSources(leaves+`SELECT DISTINCT t.root, s.message, s.seq FROM t CROSS JOIN facts f ON f.parent = t.no
CROSS JOIN fact_sources s ON s.fact = f.no ORDER BY t.root, s.seq`, found, jsonList(nos), r.bank)
	return finish(nos, found), err
}

func (r *reader) observationItems(nos []int64) ([]memory.Item, error) {
	const find = `SELECT o.no, o.id, o.type, o.text, o.reasoning, o.entities, o.said, o.confidence, o.version,
  (SELECT json_group_array(fact) FROM (SELECT k.fact FROM observation_facts k WHERE k.observation = o.no ORDER BY k.fact))
FROM json_each(?) j CROSS JOIN observations o ON o.no = j.value WHERE o.bank = ?`
	found := make(map[int64]memory.Item, len(nos))
	err := r.scanAll("read observations", find, []any{jsonList(nos), r.bank}, func(rows *sql.Rows) error {
		i := memory.Item{Record: memory.RecordObservation, Kind: memory.KindObservation}
		var no, said int64
		var entities, children []byte
		err := rows.Scan(&no, &i.ID, &i.Type, &i.Text, &i.Reasoning, &entities, &said, &i.Confidence, &i.Version, &children)
		if err != nil {
			return err
		}
		setTimes(&i, said, sql.NullInt64{}, sql.NullInt64{})
		err = allJSON(entities, &i.Entities, children, &i.Children)
		found[no] = i
		return err
	})
	if err != nil {
		return nil, err
	}
	err = r.addSources(`SELECT DISTINCT k.observation, s.message, s.seq FROM json_each(?) j CROSS JOIN observation_facts k ON k.observation = j.value
JOIN facts f ON f.id = k.fact JOIN fact_sources s ON s.fact = f.no ORDER BY k.observation, s.seq`, found, jsonList(nos))
	return finish(nos, found), err
}

func (r *reader) messageItems(nos []int64) ([]memory.Item, error) {
	const find = `SELECT m.seq, m.id, m.session, m.role, m.speaker, coalesce(m.indexed, m.content), m.caption, m.time, m.topic, m.metadata
FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value WHERE m.bank = ?`
	found := make(map[int64]memory.Item, len(nos))
	err := r.scanAll("read messages", find, []any{jsonList(nos), r.bank}, func(rows *sql.Rows) error {
		i := memory.Item{Record: memory.RecordMessage, Children: []string{}}
		var no, said int64
		var caption string
		var metadata []byte
		err := rows.Scan(&no, &i.ID, &i.Session, &i.Role, &i.Speaker, &i.Text, &caption, &said, &i.Topic, &metadata)
		if err != nil {
			return err
		}
		i.Text = pictured(i.Text, caption)
		i.Sources = []memory.MessageID{memory.MessageID(i.ID)}
		setTimes(&i, said, sql.NullInt64{}, sql.NullInt64{})
		err = allJSON(metadata, &i.Metadata)
		found[no] = i
		return err
	})
	return finish(nos, found), err
}

// pictured puts what a message's images show beneath what it says.
func pictured(text, caption string) string {
	switch {
	case caption == "":
		return text
	case text == "":
		return fmt.Sprintf("[image: %s]", caption)
	}
	return fmt.Sprintf("%s\n[image: %s]", text, caption)
}

// addSources runs a query of (row number, message id, …) and gives each item its sources.
func (r *reader) addSources(sqlText string, found map[int64]memory.Item, args ...any) error {
	return r.scanAll("read sources", sqlText, args, func(rows *sql.Rows) error {
		var no int64
		var id memory.MessageID
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		dest := []any{&no, &id}
		if len(columns) == 3 {
			dest = append(dest, new(int64))
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if i, ok := found[no]; ok {
			i.Sources = append(i.Sources, id)
			found[no] = i
		}
		return nil
	})
}

// finish orders items as asked and makes sure that no list is null.
func finish(nos []int64, found map[int64]memory.Item) []memory.Item {
	items := inOrder(nos, found)
	for k := range items {
		if items[k].Entities == nil {
			items[k].Entities = []memory.EntityID{}
		}
		if items[k].Children == nil {
			items[k].Children = []string{}
		}
	}
	return items
}

func setTimes(i *memory.Item, said int64, from, to sql.NullInt64) {
	t := fromMicros(said)
	i.Said = &t
	if span := spanOf(from, to); !span.IsZero() {
		i.Occurred = &span
	}
}

// allJSON reads pairs of a JSON column and what it is read into.
func allJSON(pairs ...any) error {
	for k := 0; k+1 < len(pairs); k += 2 {
		if err := fromJSON(pairs[k].([]byte), pairs[k+1]); err != nil {
			return err
		}
	}
	return nil
}
