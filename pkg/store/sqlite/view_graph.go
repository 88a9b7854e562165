package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entityColumns reads an entity from "entities e"; its spellings are sorted.
const entityColumns = `SELECT e.id, e.type, e.name, coalesce(e.redirect, ''),
  (SELECT json_group_array(n.spelling ORDER BY n.spelling) FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id AND n.spelling <> e.name),
  coalesce((SELECT k.live FROM entity_counts k WHERE k.bank = e.bank AND k.entity = e.id), 0) FROM `

func scanEntity(rows *sql.Rows) (memory.Entity, error) {
	var e memory.Entity
	var aliases []byte
	if err := rows.Scan(&e.ID, &e.Type, &e.Name, &e.Redirect, &aliases, &e.Facts); err != nil {
		return e, err
	}
	err := fromJSON(aliases, &e.Aliases)
	e.Aliases = none(e.Aliases)
	return e, err
}

// Entities gives entities by id, following no redirect, in the order asked.
func (v *view) Entities(ids []memory.EntityID) ([]memory.Entity, error) {
	const find = entityColumns + `json_each(?1) j CROSS JOIN entities e ON e.bank = ?2 AND e.id = j.value`
	return numbered(v, "read entities", find, ids, func(rows *sql.Rows) (memory.EntityID, memory.Entity, error) {
		e, err := scanEntity(rows)
		return e.ID, e, err
	})
}

// EntitiesNamed gives the entities that have this spelling as name or alias, by id.
func (v *view) EntitiesNamed(name string) ([]memory.Entity, error) {
	const find = entityColumns + `entities e WHERE e.bank = ?2
AND e.id IN (SELECT entity FROM entity_names WHERE bank = ?2 AND name = ?1) ORDER BY e.id`
	return listed(v, fmt.Sprintf("look up entity %q", name), find, []any{memory.NormalText(text(name)), v.bank}, scanEntity)
}

// BusiestEntities gives up to limit entities by the number of live facts that
// name them, ties by id.
func (v *view) BusiestEntities(limit int) ([]memory.Entity, error) {
	const find = entityColumns + `entity_counts b JOIN entities e ON e.bank = b.bank AND e.id = b.entity
WHERE b.bank = ?1 ORDER BY b.live DESC, b.entity LIMIT ?2`
	return listed(v, "list the busiest entities", find, []any{v.bank, limit}, scanEntity)
}

const conflictColumns = `SELECT x.id, x.a, x.b, x.reason, x.state, coalesce(x.winner, ''), x.version FROM conflicts x `

func scanConflict(rows *sql.Rows) (x memory.Conflict, err error) {
	err = rows.Scan(&x.ID, &x.A, &x.B, &x.Reason, &x.State, &x.Winner, &x.Version)
	return x, err
}

// Conflicts gives all conflicts one of the facts is party to, by id.
func (v *view) Conflicts(facts []memory.FactID) ([]memory.Conflict, error) {
	const find = conflictColumns + `WHERE +x.bank = ?2 AND x.id IN (
  SELECT p.id FROM json_each(?1) j CROSS JOIN conflicts p ON p.a = j.value UNION SELECT p.id FROM json_each(?1) j CROSS JOIN conflicts p ON p.b = j.value) ORDER BY x.id`
	if len(facts) == 0 {
		return nil, nil
	}
	return listed(v, "read conflicts", find, []any{jsonList(facts), v.bank}, scanConflict)
}

// Conflict gives one conflict; nil if there is none.
func (v *view) Conflict(id memory.ConflictID) (*memory.Conflict, error) {
	found, err := listed(v, "read conflict "+string(id), conflictColumns+`WHERE x.id = ? AND x.bank = ?`, []any{string(id), v.bank}, scanConflict)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// observationColumns reads an observation from "observations o" with its facts
// and the messages those rest on.
const observationColumns = `SELECT o.id, o.type, o.subject, o.text, o.reasoning, o.confidence, o.entities, o.said, o.given, o.version, o.made,
  (SELECT json_group_array(k.fact ORDER BY k.fact) FROM observation_facts k WHERE k.observation = o.no),
  (SELECT json_group_array(s.message ORDER BY s.seq) FROM (SELECT DISTINCT s.message, s.seq FROM observation_facts k
     JOIN facts f ON f.id = k.fact JOIN fact_sources s ON s.fact = f.no WHERE k.observation = o.no) s) FROM `

func (v *view) scanObservation(rows *sql.Rows) (memory.Observation, error) {
	o := memory.Observation{Bank: v.id}
	var said int64
	var made string
	var entities, facts, sources []byte
	err := rows.Scan(&o.ID, &o.Type, &o.Subject, &o.Text, &o.Reasoning, &o.Confidence, &entities, &said, &o.Given, &o.Version, &made, &facts, &sources)
	if err == nil {
		o.By, err = stampOf(made)
	}
	if err != nil {
		return o, err
	}
	o.Said = fromMicros(said)
	err = allJSON(entities, &o.Entities, facts, &o.Facts, sources, &o.Sources)
	o.Entities, o.Facts, o.Sources = none(o.Entities), none(o.Facts), none(o.Sources)
	return o, err
}

// Observations gives observations by id, in the order asked.
func (v *view) Observations(ids []memory.ObservationID) ([]memory.Observation, error) {
	const find = observationColumns + `json_each(?1) j CROSS JOIN observations o ON o.id = j.value WHERE o.bank = ?2`
	return numbered(v, "read observations", find, ids, func(rows *sql.Rows) (memory.ObservationID, memory.Observation, error) {
		o, err := v.scanObservation(rows)
		return o.ID, o, err
	})
}

// ObservationsOf gives the observations that rest on one of the facts, by id.
func (v *view) ObservationsOf(facts []memory.FactID) ([]memory.Observation, error) {
	const find = observationColumns + `observations o WHERE +o.bank = ?2 AND o.no IN (
  SELECT k.observation FROM json_each(?1) j CROSS JOIN observation_facts k ON k.fact = j.value) ORDER BY o.id`
	if len(facts) == 0 {
		return nil, nil
	}
	return listed(v, "read observations of facts", find, []any{jsonList(facts), v.bank}, v.scanObservation)
}
