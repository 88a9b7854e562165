package projection

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Every query reads facts whole. It takes the ids or the argument as ?1 and the bank as ?2. Where rows are named, "+"
// keeps SQLite from scanning all rows of the bank by an index instead.
const (
	selectFact = `SELECT ` + schema.FactColumns + ` FROM `

	factsByID    = selectFact + `json_each(?1) j CROSS JOIN facts f ON f.id = j.value WHERE +f.bank = ?2`
	factsByIDBut = `SELECT ` + schema.FactColumnsBut + ` FROM json_each(?1) j CROSS JOIN facts f ON f.id = j.value WHERE +f.bank = ?2`
	factsByKey   = selectFact + `facts f WHERE f.bank = ?2 AND f.key = ?1 AND f.live = 1
ORDER BY f.version DESC, f.id LIMIT 1`
	factsOfState = selectFact + `facts f WHERE f.bank = ?2 AND f.subject = ?1 AND f.attribute = ?3 AND f.merged IS NULL
ORDER BY f.said DESC, f.id LIMIT ?4`
	factsOfStateSince = selectFact + `facts f WHERE f.no IN (
  SELECT no FROM facts INDEXED BY facts_state WHERE bank = ?2 AND subject = ?1 AND attribute = ?3 AND said >= ?5 AND merged IS NULL
  UNION SELECT no FROM facts INDEXED BY facts_state_end WHERE bank = ?2 AND subject = ?1 AND attribute = ?3 AND merged IS NULL AND ` + stateEnd + ` >= ?4) LIMIT ?6`
	// The expression of the index. The ends of validity are compared as text, in whole seconds, because a time with a
	// fraction does not sort where it belongs among those without.
	stateEnd      = `(CASE WHEN live = 1 OR valid IN ('', '[]') THEN '~' ELSE ifnull(substr(json_extract(valid, '$[#-1].to'), 1, 19), '~') END)`
	factsOfEntity = selectFact + `fact_entities e CROSS JOIN facts f ON f.no = e.fact
WHERE e.bank = ?2 AND e.entity = ?1 AND e.live = 1 ORDER BY e.said DESC, f.id LIMIT ?3`
	idsOfEntity = `SELECT f.id FROM fact_entities e CROSS JOIN facts f ON f.no = e.fact
WHERE e.bank = ?2 AND e.entity = ?1 AND e.live = 1 ORDER BY e.said DESC, f.id LIMIT ?3`
	allFactsOfEntity = selectFact + `fact_entities e CROSS JOIN facts f ON f.no = e.fact
WHERE e.bank = ?2 AND e.entity = ?1 ORDER BY f.id`
	factsOfMessages = selectFact + `facts f WHERE +f.bank = ?2 AND f.no IN (
  SELECT s.fact FROM json_each(?1) j CROSS JOIN fact_sources s ON s.seq = j.value) ORDER BY f.id`
	factsByHand = selectFact + `facts f WHERE f.bank = ?2 AND (?4 = 0 OR f.speaker IN (SELECT value FROM json_each(?1))) AND (?3 = '' OR f.session = ?3)
AND NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.fact = f.no) ORDER BY f.id`
	factsPointingTo = selectFact + `facts f WHERE +f.bank = ?2 AND f.no IN (
  SELECT p.no FROM json_each(?1) j CROSS JOIN facts p ON p.superseded = j.value
  UNION SELECT p.no FROM json_each(?1) j CROSS JOIN facts p ON p.merged = j.value) ORDER BY f.id`
)

func (v *view) scanFact(rows *sql.Rows) (memory.Fact, error) {
	f, err := schema.ScanFact(rows)
	f.Bank = v.id
	return f, err
}

// Facts returns facts by id, in any state, with vectors, in the order asked. A write that says much about one thing asks
// for the same ones with every fact: the cache keeps them.
func (v *view) Facts(ids []memory.FactID) ([]memory.Fact, error) {
	out, missing := make([]memory.Fact, 0, len(ids)), []memory.FactID(nil)
	places := make(map[memory.FactID]int, len(ids)) // in out
	for _, id := range ids {
		if _, twice := places[id]; twice {
			continue
		}
		f, cached := v.cache.Fact(v.bank, id)
		if f.Bank = v.id; !cached {
			missing = append(missing, id)
		}
		places[id] = len(out)
		out = append(out, f)
	}
	if len(missing) == 0 {
		return out, nil
	}
	query, args := factsByID, []any{engine.List(missing), v.bank}
	if known := v.cache.Sourced(v.bank); len(known) > 0 {
		query, args = factsByIDBut, append(args, engine.List(known))
	}
	found := make(map[memory.FactID]bool, len(missing))
	err := v.tx.Each("read facts", query, args, func(rows *sql.Rows) error {
		f, err := v.scanFact(rows)
		if err != nil {
			return err
		}
		if list, ok := v.cache.Sources(v.bank, f.ID); ok {
			f.Sources = slices.Clip(list) // a plan changes no list of sources in place
		}
		v.cache.KeepFact(v.bank, f)
		out[places[f.ID]], found[f.ID] = f, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.known.askedFacts(missing, found)
	return slices.DeleteFunc(out, func(f memory.Fact) bool { return f.ID == "" }), nil
}

// FactByKey returns the live fact with a key; nil if there is none.
func (v *view) FactByKey(key string) (*memory.Fact, error) {
	return engine.First(v.tx, "look up the fact with key "+key, factsByKey, []any{engine.Text(key), v.bank}, v.scanFact)
}

// FactsOfState returns up to limit facts that give this attribute of this subject a value, the latest said first, ties by
// id; merged ones are left out.
func (v *view) FactsOfState(subject memory.EntityID, attribute string, limit int) ([]memory.Fact, error) {
	return engine.All(v.tx, fmt.Sprintf("read facts on %s of %q", attribute, string(subject)), factsOfState,
		[]any{engine.Text(string(subject)), v.bank, engine.Text(attribute), limit}, v.scanFact)
}

// FactsOfStateSince returns up to limit of those, in any order, that are valid at a time or end at it or later, that are
// valid at no time, or that were said at said or later.
func (v *view) FactsOfStateSince(subject memory.EntityID, attribute string, at, said time.Time, limit int) ([]memory.Fact, error) {
	return engine.All(v.tx, fmt.Sprintf("read facts on %s of %q", attribute, string(subject)), factsOfStateSince,
		[]any{engine.Text(string(subject)), v.bank, engine.Text(attribute), at.UTC().Format("2006-01-02T15:04:05"), engine.Micros(said), limit}, v.scanFact)
}

// FactsOfEntity returns up to limit live facts that name the entity, the latest said first, ties by id.
func (v *view) FactsOfEntity(entity memory.EntityID, limit int) ([]memory.Fact, error) {
	what, args := fmt.Sprintf("read facts on %q", string(entity)), []any{engine.Text(string(entity)), v.bank, limit}
	if v.cache == nil {
		return engine.All(v.tx, what, factsOfEntity, args, v.scanFact)
	}
	ids, err := engine.All(v.tx, what, idsOfEntity, args, engine.ScanOne[memory.FactID])
	if err != nil {
		return nil, err
	}
	return v.Facts(ids)
}

// FactsNaming returns the facts, in any state, that name the entity, by id.
func (v *view) FactsNaming(entity memory.EntityID) ([]memory.Fact, error) {
	return engine.All(v.tx, fmt.Sprintf("read all facts on %q", string(entity)), allFactsOfEntity, []any{engine.Text(string(entity)), v.bank}, v.scanFact)
}

// FactsOfMessages returns the facts, in any state, that rest on one of the message events, by id.
func (v *view) FactsOfMessages(seqs []uint64) ([]memory.Fact, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return engine.All(v.tx, "read facts of messages", factsOfMessages, []any{engine.List(seqs), v.bank}, v.scanFact)
}

// FactsByHand returns the facts, in any state, that rest on no message, by id: of the speaker or session given; with both
// empty, all. It ignores the case of speakers.
func (v *view) FactsByHand(speaker string, session memory.SessionID) ([]memory.Fact, error) {
	spellings, err := v.spellings(speaker)
	if err != nil {
		return nil, err
	}
	return engine.All(v.tx, "read facts without messages", factsByHand, []any{engine.List(spellings), v.bank, engine.Text(string(session)), len(spellings)}, v.scanFact)
}

// FactsPointingTo returns the facts superseded by or merged into one of the ids, by id.
func (v *view) FactsPointingTo(ids []memory.FactID) ([]memory.Fact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return engine.All(v.tx, "read facts pointing to others", factsPointingTo, []any{engine.List(ids), v.bank}, v.scanFact)
}

// Nodes returns live facts (level 0) or composites of the level as nodes, with vectors, in the order asked.
func (v *view) Nodes(level int, ids []string) ([]memory.Node, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found := make(map[string]memory.Node, len(ids))
	var missing []string
	for _, id := range ids {
		if n, cached := v.cache.NodeByID(v.bank, level, id); cached {
			found[id] = n
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return engine.InOrder(ids, found), nil
	}
	err := v.tx.Each("read nodes", schema.NodesByID(level), []any{engine.List(missing), v.bank, level}, func(rows *sql.Rows) error {
		no, n, err := schema.ScanNode(rows)
		if err == nil {
			found[n.ID] = v.cache.PutNode(v.bank, level, no, n)
		}
		return err
	})
	return engine.InOrder(ids, found), err
}

// nodesByRow returns live nodes of the level by row number, in no order.
func (v *view) nodesByRow(level int, nos []int64) ([]memory.Node, error) {
	out := make([]memory.Node, 0, len(nos))
	var missing []int64
	for _, no := range nos {
		if n, cached := v.cache.Node(level, no); !cached {
			missing = append(missing, no)
		} else if n.Level == level {
			out = append(out, n)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	err := v.tx.Each("read candidates", schema.NodesByRow(level), []any{engine.List(missing), v.bank, level}, func(rows *sql.Rows) error {
		no, n, err := schema.ScanNode(rows)
		if err == nil {
			out = append(out, v.cache.PutNode(v.bank, level, no, n))
		}
		return err
	})
	return out, err
}

// Composites returns composites by id, with vectors, in the order asked.
func (v *view) Composites(ids []memory.CompositeID) ([]memory.Composite, error) {
	found := make(map[memory.CompositeID]memory.Composite, len(ids))
	var missing []memory.CompositeID
	for _, id := range ids {
		if c, cached := v.cache.Composite(v.bank, id); cached {
			c.Bank = v.id
			found[id] = c
		} else {
			missing = append(missing, id)
		}
	}
	read, err := keyed(v, "read composites", schema.SelectComposites, missing, schema.ScanComposite,
		func(c memory.Composite) memory.CompositeID { return c.ID })
	for _, c := range read {
		c.Bank = v.id
		found[c.ID] = c
		v.cache.PutComposite(v.bank, c)
	}
	return engine.InOrder(ids, found), err
}
