package sqlite

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Every query reads factColumns and the vector, and takes the ids or the
// argument as ?1 and the bank as ?2. Where rows are named, "+" keeps SQLite from
// going through all of the bank's by an index instead.
const (
	factVector = `, (SELECT k.vector FROM fact_vectors k WHERE k.fact = f.no) FROM `

	factsByID  = `SELECT ` + factColumns + factVector + `json_each(?1) j CROSS JOIN facts f ON f.id = j.value WHERE f.bank = ?2`
	factsByKey = `SELECT ` + factColumns + factVector + `facts f WHERE f.bank = ?2 AND f.key = ?1 AND f.live = 1
ORDER BY f.version DESC, f.id LIMIT 1`
	factsOfState = `SELECT ` + factColumns + factVector + `facts f WHERE f.bank = ?2 AND f.subject = ?1 AND f.attribute = ?3 AND f.merged IS NULL
ORDER BY f.said DESC, f.id LIMIT ?4`
	factsOfStateSince = `SELECT ` + factColumns + factVector + `facts f WHERE f.no IN (
  SELECT no FROM facts INDEXED BY facts_state WHERE bank = ?2 AND subject = ?1 AND attribute = ?3 AND said >= ?5 AND merged IS NULL
  UNION SELECT no FROM facts INDEXED BY facts_state_end WHERE bank = ?2 AND subject = ?1 AND attribute = ?3 AND merged IS NULL AND ` + stateEnd + ` >= ?4) LIMIT ?6`
	// As the index has it. The ends of validity are compared as text, in whole
	// seconds: a time with a fraction does not stand where it belongs among those without.
	stateEnd      = `(CASE WHEN live = 1 OR valid IN ('', '[]') THEN '~' ELSE ifnull(substr(json_extract(valid, '$[#-1].to'), 1, 19), '~') END)`
	factsOfEntity = `SELECT ` + factColumns + factVector + `fact_entities e CROSS JOIN facts f ON f.no = e.fact
WHERE e.bank = ?2 AND e.entity = ?1 AND e.live = 1 ORDER BY e.said DESC, f.id LIMIT ?3`
	factsOfMessages = `SELECT ` + factColumns + factVector + `facts f WHERE +f.bank = ?2 AND f.no IN (
  SELECT s.fact FROM json_each(?1) j CROSS JOIN fact_sources s ON s.seq = j.value) ORDER BY f.id`
	factsByHand = `SELECT ` + factColumns + factVector + `facts f WHERE f.bank = ?2 AND (?1 = '[]' OR f.speaker IN (SELECT value FROM json_each(?1))) AND (?3 = '' OR f.session = ?3)
AND NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.fact = f.no) ORDER BY f.id`
	factsPointingTo = `SELECT ` + factColumns + factVector + `facts f WHERE +f.bank = ?2 AND f.no IN (
  SELECT p.no FROM json_each(?1) j CROSS JOIN facts p ON p.superseded = j.value
  UNION SELECT p.no FROM json_each(?1) j CROSS JOIN facts p ON p.merged = j.value) ORDER BY f.id`
)

func (v *view) scanFact(rows *sql.Rows) (memory.Fact, error) {
	var raw []byte
	_, f, err := scanFact(rows, &raw)
	f.Bank = v.id
	if len(raw) > 0 {
		f.Vector = sketch.Unpack(raw)
	}
	return f, err
}

// Facts gives facts by id, in any state, with vectors, in the order asked.
func (v *view) Facts(ids []memory.FactID) ([]memory.Fact, error) {
	return numbered(v, "read facts", factsByID, ids, func(rows *sql.Rows) (memory.FactID, memory.Fact, error) {
		f, err := v.scanFact(rows)
		return f.ID, f, err
	})
}

// FactByKey gives the live fact a caller named so; nil if there is none.
func (v *view) FactByKey(key string) (*memory.Fact, error) {
	found, err := listed(v, "look up the fact with key "+key, factsByKey, []any{text(key), v.bank}, v.scanFact)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// FactsOfState gives up to limit facts that give this attribute of this
// subject a value, newest said first, ties by id; merged ones are left out.
func (v *view) FactsOfState(subject memory.EntityID, attribute string, limit int) ([]memory.Fact, error) {
	return listed(v, fmt.Sprintf("read facts on %s of %q", attribute, string(subject)), factsOfState,
		[]any{text(string(subject)), v.bank, text(attribute), limit}, v.scanFact)
}

// FactsOfStateSince gives up to limit of those, in any order, that hold at a time
// or end at it or later, that hold at no time, or that were said then or later.
func (v *view) FactsOfStateSince(subject memory.EntityID, attribute string, at, said time.Time, limit int) ([]memory.Fact, error) {
	return listed(v, fmt.Sprintf("read facts on %s of %q", attribute, string(subject)), factsOfStateSince,
		[]any{text(string(subject)), v.bank, text(attribute), at.UTC().Format("2006-01-02T15:04:05"), micros(said), limit}, v.scanFact)
}

// FactsOfEntity gives up to limit live facts that name the entity, newest said first, ties by id.
func (v *view) FactsOfEntity(entity memory.EntityID, limit int) ([]memory.Fact, error) {
	return listed(v, fmt.Sprintf("read facts on %q", string(entity)), factsOfEntity, []any{text(string(entity)), v.bank, limit}, v.scanFact)
}

// FactsOfMessages gives the facts, in any state, that rest on one of the message events, by id.
func (v *view) FactsOfMessages(seqs []uint64) ([]memory.Fact, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return listed(v, "read facts of messages", factsOfMessages, []any{jsonList(seqs), v.bank}, v.scanFact)
}

// FactsByHand gives the facts, in any state, that rest on no message, by id:
// with a speaker or session given, those that carry it; with both empty, all.
// Letter case makes no other speaker.
func (v *view) FactsByHand(speaker string, session memory.SessionID) ([]memory.Fact, error) {
	spellings, err := v.spellings(speaker)
	if err != nil {
		return nil, err
	}
	return listed(v, "read facts without messages", factsByHand, []any{jsonList(spellings), v.bank, text(string(session))}, v.scanFact)
}

// FactsPointingTo gives the facts superseded by or merged into one of the ids, by id.
func (v *view) FactsPointingTo(ids []memory.FactID) ([]memory.Fact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return listed(v, "read facts pointing to others", factsPointingTo, []any{jsonList(ids), v.bank}, v.scanFact)
}
