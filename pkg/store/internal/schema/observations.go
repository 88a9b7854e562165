package schema

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Observations describes observations and how they are stored. It is the model for a new kind: everything the store
// knows of observations stands here, in the migrations, and in the two queries over them that other kinds have not.
func Observations() Records[memory.Observation] {
	type observation = memory.Observation
	return Records[observation]{
		Kind: Kind{
			Record: memory.RecordObservation, Table: "observations", Alias: "o", Number: "no", Said: "said", Indexed: []string{"text"},
			Versioned: true, Confidence: true,
			Passes: func(f Filter) Condition { return f.Observations },
			Items:  Items{Select: observationItem, Scan: scanObservationItem, Sources: observationItemSources},
			Rules: []Rule{{"an observation rests on facts of its bank", `SELECT o.id FROM observation_facts k JOIN observations o ON o.no = k.observation
LEFT JOIN facts f ON f.id = k.fact AND f.bank = o.bank WHERE f.no IS NULL`}},
			Tables: []Table{
				{Name: "observations", OfBank: true, Dump: `SELECT o.id, b.id, o.type, o.subject, o.text, o.grams, o.reasoning, o.confidence, o.entities, o.said, o.given, o.version, o.made
FROM observations o JOIN banks b ON b.no = o.bank ORDER BY o.id`},
				{Name: "observation_facts", Dump: `SELECT o.id, k.fact FROM observation_facts k JOIN observations o ON o.no = k.observation ORDER BY o.id, k.fact`},
			},
		},
		Columns: []Column[observation]{
			{"id", func(o *observation) any { return Named(&o.ID) }},
			{"type", func(o *observation) any { return Named(&o.Type) }},
			{"subject", func(o *observation) any { return &o.Subject }},
			{"text", func(o *observation) any { return &o.Text }},
			{"reasoning", func(o *observation) any { return &o.Reasoning }},
			{"confidence", func(o *observation) any { return &o.Confidence }},
			{"entities", func(o *observation) any { return JSONList(&o.Entities) }},
			{"said", func(o *observation) any { return Moment(&o.Said) }},
			{"given", func(o *observation) any { return &o.Given }},
			{"version", func(o *observation) any { return &o.Version }},
			{"made", func(o *observation) any { return StampOrEmpty(&o.By) }},
		},
		Text: func(o *observation) *string { return &o.Text },
		Links: []Link[observation]{{
			Table: "observation_facts", Owner: "observation", Column: "fact",
			IDs:  func(o *observation) []string { return Strings(o.Facts) },
			Into: func(o *observation) any { return JSONList(&o.Facts) },
		}},
		Derived: []Column[observation]{{
			`(SELECT json_group_array(s.message ORDER BY s.seq) FROM (SELECT DISTINCT s.message, s.seq FROM observation_facts k
     JOIN facts f ON f.id = k.fact JOIN fact_sources s ON s.fact = f.no WHERE k.observation = o.no) s)`,
			func(o *observation) any { return JSONList(&o.Sources) },
		}},
	}
}

const observationItem = `SELECT o.no, o.id, o.type, o.text, o.reasoning, o.entities, o.said, o.confidence, o.version,
  (SELECT json_group_array(k.fact ORDER BY k.fact) FROM observation_facts k WHERE k.observation = o.no)
FROM json_each(?) j CROSS JOIN observations o ON o.no = j.value WHERE +o.bank = ?`

const observationItemSources = `SELECT DISTINCT k.observation, s.message, s.seq FROM json_each(?1) j CROSS JOIN observation_facts k ON k.observation = j.value
JOIN facts f ON f.id = k.fact JOIN fact_sources s ON s.fact = f.no WHERE ?2 <> 0 ORDER BY k.observation, s.seq`

func scanObservationItem(rows *sql.Rows) (no int64, i memory.Item, err error) {
	i = memory.Item{Record: memory.RecordObservation, Kind: memory.KindObservation}
	var said int64
	var entities, children []byte
	err = rows.Scan(&no, &i.ID, &i.Type, &i.Text, &i.Reasoning, &entities, &said, &i.Confidence, &i.Version, &children)
	if err != nil {
		return no, i, err
	}
	setTimes(&i, said, sql.NullInt64{}, sql.NullInt64{})
	return no, i, engine.AllFromJSON(entities, &i.Entities, children, &i.Children)
}
