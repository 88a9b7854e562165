package schema

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Facts describes facts with their sources, the entities they name and their vectors.
func Facts() Kind {
	return Kind{
		Record: memory.RecordFact, Table: "facts", Alias: "f", Number: "no", Said: "said", Indexed: []string{"text"},
		Versioned: true, Confidence: true, Vectors: VectorTable{"fact_vectors", "fact"},
		Passes: func(f Filter) Condition { return f.Facts },
		Hidden: func(number string) string {
			return ` AND NOT EXISTS (SELECT 1 FROM facts d INDEXED BY facts_ended WHERE d.bank = ? AND d.no = ` + number + ` AND d.live = 0)`
		},
		AllHidden: `SELECT d.no FROM facts d INDEXED BY facts_ended WHERE d.bank = ? AND d.live = 0 ORDER BY d.no`,
		Items:     Items{Select: factItem, Scan: scanFactItem, Sources: factItemSources},
		Rules:     factRules,
		Tables: []Table{
			{Name: "facts", OfBank: true, Dump: `SELECT f.id, b.id, f.key, f.text, f.grams, f.kind, f.type, f.topic, f.speaker, f.role, f.session, f.occurred_from, f.occurred_to,
  f.said, f.said + f.recorded, f.live, f.valid, f.subject, f.attribute, f.value, f.superseded, f.merged, f.confidence, f.entities, f.tags, f.ops, f.outcome,
  f.metadata, f.version, f.pinned, f.extractor, f.model, f.bounds,
  (SELECT p.id FROM composites p WHERE p.no = f.parent) FROM facts f JOIN banks b ON b.no = f.bank ORDER BY f.id`},
			{Name: "fact_sources", Dump: `SELECT f.id, s.seq, s.message, s.said, s.said + s.start FROM fact_sources s JOIN facts f ON f.no = s.fact ORDER BY f.id, s.seq`},
			{Name: "fact_entities", OfBank: true, Dump: `SELECT b.id, e.entity, f.id, e.said, e.live FROM fact_entities e JOIN facts f ON f.no = e.fact JOIN banks b ON b.no = e.bank ORDER BY b.id, e.entity, f.id`},
			{Name: "entity_counts", OfBank: true, Dump: `SELECT b.id, k.entity, k.live FROM entity_counts k JOIN banks b ON b.no = k.bank ORDER BY b.id, k.entity`},
			{Name: "fact_vectors", Dump: `SELECT b.id, f.id, k.vector FROM fact_vectors k JOIN facts f ON f.no = k.fact JOIN banks b ON b.no = k.bank ORDER BY b.id, f.id`},
			{Name: "node_terms", OfBank: true},
		},
	}
}

// FactColumns are the columns of "facts f" that ScanFact reads, sources included.
const FactColumns = factColumns + factSources + factVector

// FactColumnsBut are FactColumns without the sources of the facts in the list of ids that is ?3.
const FactColumnsBut = factColumns + `CASE WHEN f.id IN (SELECT value FROM json_each(?3)) THEN '[]' ELSE ` + factSources + ` END` + factVector

const factColumns = `f.no, f.id, f.key, f.text, f.kind, f.type, f.topic, f.speaker, f.role, f.session,
  f.occurred_from, f.occurred_to, f.said, f.said + f.recorded, f.valid, f.subject, f.attribute, f.value, f.superseded, f.merged,
  f.confidence, f.entities, f.tags, f.ops, f.outcome, f.metadata, f.version, f.pinned, f.extractor, f.model, f.bounds, `

const factSources = `(SELECT json_group_array(json_object('message', s.message, 'seq', s.seq, 'said', s.said, 'start', s.said + s.start) ORDER BY s.seq)
   FROM fact_sources s WHERE s.fact = f.no)`

const factVector = `, (SELECT k.vector FROM fact_vectors k WHERE k.fact = f.no)`

// ScanFact reads a row of FactColumns. Empty lists are nil. Bank is not filled.
func ScanFact(rows *sql.Rows) (f memory.Fact, err error) {
	var no int64
	var key, subject, attribute, value, superseded, merged sql.NullString
	var from, to sql.NullInt64
	var said, recorded int64
	var valid, entities, tags, ops, outcome, metadata, bounds, sources, vector []byte
	err = rows.Scan(&no, &f.ID, &key, &f.Text, &f.Kind, &f.Type, &f.Topic, &f.Speaker, &f.Role, &f.Session,
		&from, &to, &said, &recorded, &valid, &subject, &attribute, &value, &superseded, &merged,
		&f.Confidence, &entities, &tags, &ops, &outcome, &metadata, &f.Version, &f.Pinned, &f.Extractor, &f.Model, &bounds, &sources, &vector)
	if err != nil {
		return f, err
	}
	f.Key, f.Superseded, f.Merged = key.String, memory.FactID(superseded.String), memory.FactID(merged.String)
	f.Occurred, f.Said, f.Recorded = engine.Span(from, to), engine.Time(said), engine.Time(recorded)
	if subject.Valid {
		f.State = &memory.State{Subject: memory.EntityID(subject.String), Attribute: attribute.String, Value: value.String}
	}
	if len(vector) > 0 {
		f.Vector = sketch.Unpack(vector)
	}
	if f.Valid, err = ValidOf(valid, said); err != nil {
		return f, err
	}
	var stored []struct {
		Message memory.MessageID `json:"message"`
		Seq     uint64           `json:"seq"`
		Said    int64            `json:"said"`
		Start   int64            `json:"start"`
	}
	err = engine.AllFromJSON(entities, &f.Entities, tags, &f.Tags, ops, &f.Ops, outcome, &f.Outcome, metadata, &f.Metadata, bounds, &f.Bounds, sources, &stored)
	for _, s := range stored {
		f.Sources = append(f.Sources, memory.Source{Message: s.Message, Seq: s.Seq, Said: engine.Time(s.Said), Start: engine.Time(s.Start)})
	}
	f.Entities, f.Tags, f.Ops = engine.NilIfEmpty(f.Entities), engine.NilIfEmpty(f.Tags), engine.NilIfEmpty(f.Ops)
	return f, err
}

// ValidText converts the intervals in which a fact is valid for a column: "" for the one that begins when the fact was
// said and has no end.
func ValidText(f memory.Fact) (string, error) {
	said := engine.Micros(f.Said)
	if len(f.Valid) == 1 && f.Valid[0].To == nil && said >= 0 && f.Valid[0].From.Equal(engine.Time(said)) {
		return "", nil
	}
	utc := make([]memory.Interval, len(f.Valid)) // readers compare the times as text, in UTC
	for i, v := range f.Valid {
		utc[i].From = v.From.UTC()
		if v.To != nil {
			to := v.To.UTC()
			utc[i].To = &to
		}
	}
	return engine.JSONList(utc)
}

// ValidOf reverses ValidText for a fact that was said at a time; nil for no interval.
func ValidOf(raw []byte, said int64) ([]memory.Interval, error) {
	if len(raw) == 0 {
		return []memory.Interval{{From: engine.Time(said)}}, nil
	}
	var out []memory.Interval
	err := engine.FromJSON(raw, &out)
	return engine.NilIfEmpty(out), err
}

const factItem = `SELECT f.no, f.id, coalesce(f.key, ''), f.text, f.kind, f.type, f.topic, f.speaker, f.role, f.session,
  f.occurred_from, f.occurred_to, f.said, f.valid, coalesce(f.superseded, ''), coalesce(f.merged, ''), f.confidence,
  f.entities, f.tags, f.metadata, f.version
FROM json_each(?) j CROSS JOIN facts f ON f.no = j.value WHERE +f.bank = ?`

const factItemSources = `SELECT s.fact, s.message, s.seq FROM json_each(?1) j CROSS JOIN fact_sources s ON s.fact = j.value WHERE ?2 <> 0 ORDER BY s.fact, s.seq`

func scanFactItem(rows *sql.Rows) (no int64, i memory.Item, err error) {
	i = memory.Item{Record: memory.RecordFact}
	var said int64
	var from, to sql.NullInt64
	var valid, entities, tags, metadata []byte
	err = rows.Scan(&no, &i.ID, &i.Key, &i.Text, &i.Kind, &i.Type, &i.Topic, &i.Speaker, &i.Role, &i.Session,
		&from, &to, &said, &valid, &i.Superseded, &i.Merged, &i.Confidence, &entities, &tags, &metadata, &i.Version)
	if err != nil {
		return no, i, err
	}
	setTimes(&i, said, from, to)
	if err = engine.AllFromJSON(entities, &i.Entities, tags, &i.Tags, metadata, &i.Metadata); err == nil {
		i.Valid, err = ValidOf(valid, said)
	}
	return no, i, err
}
