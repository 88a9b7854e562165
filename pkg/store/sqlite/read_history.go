package sqlite

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// FactItems gives facts by id, in the order asked, in any state.
func (r *reader) FactItems(ids []memory.FactID) ([]memory.Item, error) {
	nos, err := r.numbers("look up facts", `SELECT f.no FROM json_each(?) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ? ORDER BY j.key`,
		jsonList(ids), r.bank)
	if err != nil {
		return nil, err
	}
	return r.Items(memory.RecordFact, nos)
}

// PointingTo gives the facts superseded by or merged into one of the ids, by id.
func (r *reader) PointingTo(ids []memory.FactID) ([]memory.FactID, error) {
	found, err := r.texts("look up earlier facts", `SELECT id FROM (
  SELECT f.id FROM json_each(?1) j CROSS JOIN facts f ON f.superseded = j.value WHERE +f.bank = ?2
  UNION SELECT f.id FROM json_each(?1) j CROSS JOIN facts f ON f.merged = j.value WHERE +f.bank = ?2) ORDER BY id`, jsonList(ids), r.bank)
	out := make([]memory.FactID, len(found))
	for i, id := range found {
		out[i] = memory.FactID(id)
	}
	return out, err
}

// ObservationsByID gives observations by id, in the order asked.
func (r *reader) ObservationsByID(ids []memory.ObservationID) ([]memory.Observation, error) {
	const find = `SELECT o.no, o.id, o.type, o.subject, o.text, o.reasoning, o.confidence, o.entities, o.said, o.given, o.version, o.made,
  (SELECT json_group_array(fact) FROM (SELECT k.fact FROM observation_facts k WHERE k.observation = o.no ORDER BY k.fact)),
  (SELECT json_group_array(message) FROM (SELECT DISTINCT s.message, s.seq FROM observation_facts k JOIN facts f ON f.id = k.fact
    JOIN fact_sources s ON s.fact = f.no WHERE k.observation = o.no ORDER BY s.seq))
FROM json_each(?) j CROSS JOIN observations o ON o.id = j.value WHERE o.bank = ? ORDER BY j.key`
	var out []memory.Observation
	err := r.scanAll("read observations", find, []any{jsonList(ids), r.bank}, func(rows *sql.Rows) error {
		var o memory.Observation
		var no, said int64
		var made string
		var entities, facts, sources []byte
		err := rows.Scan(&no, &o.ID, &o.Type, &o.Subject, &o.Text, &o.Reasoning, &o.Confidence, &entities, &said, &o.Given, &o.Version, &made, &facts, &sources)
		if err == nil {
			o.By, err = stampOf(made)
		}
		if err != nil {
			return err
		}
		o.Said = fromMicros(said)
		err = allJSON(entities, &o.Entities, facts, &o.Facts, sources, &o.Sources)
		out = append(out, o)
		return err
	})
	return out, err
}
