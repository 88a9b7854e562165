package schema

import (
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Rules returns every invariant of a store of an engine: those of each kind, and those that hold for all records.
func (s Schema) Rules(e engine.Engine) []Rule {
	var out []Rule
	for _, k := range s.Kinds {
		out = append(out, k.Rules...)
	}
	out = append(out, s.Counted()...)
	all := func(format, separator string, where func(Kind) bool) string {
		var parts []string
		for _, k := range s.Kinds {
			if k.Record != "" && where(k) {
				parts = append(parts, fmt.Sprintf(format, k.Table, k.Record))
			}
		}
		return strings.Join(parts, separator)
	}
	every := func(Kind) bool { return true }
	versioned := func(k Kind) bool { return k.Versioned }
	confident := func(k Kind) bool { return k.Confidence }
	out = append(out,
		Rule{"a bank that is not there has no records", `SELECT DISTINCT 'bank ' || b.no FROM banks b WHERE b.profile = ''
AND (` + all(`EXISTS (SELECT 1 FROM %[1]s WHERE bank = b.no)`, " OR ", every) + `)`},
		Rule{"what was used is there", `SELECT u.record FROM uses u WHERE ` +
			all(`NOT EXISTS (SELECT 1 FROM %[1]s WHERE id = u.record AND bank = u.bank)`, " AND ", every)},
		Rule{"a confidence is between 0 and 1", all(`SELECT id FROM %[1]s WHERE confidence NOT BETWEEN 0 AND 1`, " UNION ALL ", confident)},
		Rule{"nothing is stored past the applied writes", `WITH upto(seq) AS (SELECT seq FROM applied WHERE stream = 'MEM_WRITES' AND part = 0)
SELECT 'op ' || write FROM ops WHERE write > (SELECT seq FROM upto) UNION ALL SELECT 'repeat ' || write FROM repeats WHERE write > (SELECT seq FROM upto)
UNION ALL SELECT id FROM windows WHERE write > (SELECT seq FROM upto) UNION ALL SELECT id FROM conflicts WHERE version > (SELECT seq FROM upto) UNION ALL ` +
			all(`SELECT id FROM %[1]s WHERE version > (SELECT seq FROM upto)`, " UNION ALL ", versioned)},
	)
	for _, k := range s.Kinds {
		if len(k.Indexed) > 0 {
			out = append(out, Rule{"the text index of " + k.Table + " has an entry for each row, and no other",
				fmt.Sprintf(`WITH r(n) AS (SELECT %[2]s FROM %[1]s), e(n) AS (%[3]s)
SELECT 'row ' || n FROM (SELECT n FROM r EXCEPT SELECT n FROM e) a UNION ALL SELECT 'entry ' || n FROM (SELECT n FROM e EXCEPT SELECT n FROM r) b`, k.Table, k.Number, e.Indexed(k.TextIndex()))})
		}
	}
	return out
}

// Counted are the rules of what a Counter counts.
func (s Schema) Counted() []Rule {
	var rows []string
	for _, k := range s.Records() {
		rows = append(rows, fmt.Sprintf(`SELECT bank, '%s' AS record, count(*) AS n FROM %s GROUP BY bank`, k.Record, k.Table))
	}
	return []Rule{
		{"the records of a bank are counted", `SELECT 'bank ' || bank || ' ' || record FROM (
  SELECT coalesce(k.bank, c.bank) AS bank, coalesce(k.record, c.record) AS record, coalesce(k.n, 0) AS n, coalesce(c.n, 0) AS counted
  FROM (` + strings.Join(rows, " UNION ALL ") + `) k
  FULL JOIN row_counts c ON c.bank = k.bank AND c.record = k.record) r WHERE n <> counted`},
		{"message events are counted by state", `SELECT 'bank ' || coalesce(e.bank, c.bank) || ' ' || coalesce(e.state, c.state)
FROM (SELECT bank, state, count(*) AS n FROM message_events GROUP BY bank, state) e FULL JOIN state_counts c ON c.bank = e.bank AND c.state = e.state
WHERE coalesce(e.n, 0) <> coalesce(c.n, 0)`},
		{"the pending messages of a session are counted", `SELECT 'bank ' || coalesce(e.bank, c.bank) || ' ' || coalesce(e.session, c.session)
FROM (SELECT bank, session, count(*) AS n FROM message_events WHERE state = 'pending' GROUP BY bank, session) e
FULL JOIN pending_counts c ON c.bank = e.bank AND c.session = e.session WHERE coalesce(e.n, 0) <> coalesce(c.n, 0)`},
	}
}

// Derivative counts rows that are derived from others and disagree with them.
type Derivative struct{ Name, Count string }

// Derivatives are checked after every test of the conformance suite; most of them are rules as well.
var Derivatives = []Derivative{
	{"facts that wait for a vector and have one, or do neither", `SELECT count(*) FROM facts f
WHERE EXISTS (SELECT 1 FROM fact_vectors k WHERE k.fact = f.no) = EXISTS (SELECT 1 FROM unembedded u WHERE u.fact = f.no)`},
	{"terms of nodes that are not there or not live", `SELECT count(*) FROM node_terms t LEFT JOIN facts f ON f.no = t.node AND f.bank = t.bank AND f.live = 1
WHERE t.level = 0 AND f.no IS NULL`},
	{"terms of composites that are not there", `SELECT count(*) FROM node_terms t LEFT JOIN composites c ON c.no = t.node AND c.bank = t.bank AND c.level = t.level
WHERE t.level > 0 AND c.no IS NULL`},
	{"live facts with words and no terms", `SELECT count(*) FROM facts f WHERE f.live = 1 AND glob('*[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]*', f.text)
AND NOT EXISTS (SELECT 1 FROM node_terms t WHERE t.bank = f.bank AND t.level = 0 AND t.node = f.no)`},
	{"entities of facts with another time or state than the fact", `SELECT count(*) FROM fact_entities e LEFT JOIN facts f ON f.no = e.fact WHERE f.no IS NULL OR e.said <> f.said OR e.live <> f.live`},
	{"wrong counts of live facts of an entity", `SELECT count(*) FROM (
  SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity EXCEPT SELECT bank, entity, live FROM entity_counts) d`},
	{"counts of entities that no live fact names", `SELECT count(*) FROM (
  SELECT bank, entity, live FROM entity_counts EXCEPT SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity) d`},
}

// factRules concern facts and what they rest on.
var factRules = []Rule{
	{"a fact rests on messages of its bank that are not forgotten", `SELECT f.id FROM fact_sources s JOIN facts f ON f.no = s.fact
LEFT JOIN message_events e ON e.seq = s.seq WHERE e.seq IS NULL OR e.bank <> f.bank OR e.state = 'forgotten'`},
	{"a source names the message that is stored", `SELECT f.id FROM fact_sources s JOIN facts f ON f.no = s.fact JOIN messages m ON m.seq = s.seq WHERE m.id <> s.message`},
	{"a fact rests on a message or on an op", `SELECT f.id FROM facts f WHERE f.ops = '[]' AND NOT EXISTS (SELECT 1 FROM fact_sources s WHERE s.fact = f.no)`},
	{"a fact that was superseded or merged points to a fact of its bank", `SELECT f.id FROM facts f LEFT JOIN facts s ON s.id = f.superseded AND s.bank = f.bank
LEFT JOIN facts m ON m.id = f.merged AND m.bank = f.bank
WHERE f.superseded IS NOT NULL AND s.no IS NULL OR f.merged IS NOT NULL AND m.no IS NULL OR f.id IN (f.superseded, f.merged)`},
	{"a key names one live fact of a bank", `SELECT min(id) FROM facts WHERE key IS NOT NULL AND live = 1 GROUP BY bank, key HAVING count(*) > 1`},
	{"a fact has a vector or waits for one", `SELECT f.id FROM facts f
WHERE EXISTS (SELECT 1 FROM fact_vectors k WHERE k.fact = f.no) = EXISTS (SELECT 1 FROM unembedded u WHERE u.fact = f.no)`},
	{"a vector of a fact is its bank's", `SELECT f.id FROM fact_vectors k JOIN facts f ON f.no = k.fact WHERE k.bank <> f.bank`},
	{"the entities of a fact are found by it", `SELECT f.id FROM facts f CROSS JOIN json_each(f.entities) j WHERE NOT EXISTS (SELECT 1 FROM fact_entities e
  WHERE e.bank = f.bank AND e.entity = j.value AND e.live = f.live AND e.said = f.said AND e.fact = f.no)
UNION SELECT coalesce(f.id, 'row ' || e.fact) FROM fact_entities e LEFT JOIN facts f ON f.no = e.fact AND f.bank = e.bank
  WHERE f.no IS NULL OR e.said <> f.said OR e.live <> f.live OR e.entity NOT IN (SELECT value FROM json_each(f.entities))`},
	{"the live facts of an entity are counted", `SELECT 'bank ' || bank FROM (SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity
EXCEPT SELECT bank, entity, live FROM entity_counts) d
UNION ALL SELECT 'bank ' || bank FROM (SELECT bank, entity, live FROM entity_counts
EXCEPT SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity) d`},
}

// entityRules concern entities and their names.
var entityRules = []Rule{
	{"a name leads to an entity", `SELECT 'bank ' || n.bank FROM entity_names n LEFT JOIN entities e ON e.bank = n.bank AND e.id = n.entity WHERE e.id IS NULL`},
	{"an entity has a name", `SELECT 'bank ' || e.bank FROM entities e WHERE NOT EXISTS (SELECT 1 FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id)`},
	{"an entity that was merged leads to one that was not", `SELECT 'bank ' || a.bank FROM entities a LEFT JOIN entities b ON b.bank = a.bank AND b.id = a.redirect
WHERE a.redirect IS NOT NULL AND (b.id IS NULL OR b.redirect IS NOT NULL)`},
}

// maxMembers is the default of the consolidator's Config.Cap, which no deployment sets.
const maxMembers = "8"

// compositeRules concern composites and what is beneath them.
var compositeRules = []Rule{
	{"a composite has two members or more, each once, and at most the cap", `SELECT c.id FROM composites c WHERE json_array_length(c.children) NOT BETWEEN 2 AND ` + maxMembers + `
OR (SELECT count(DISTINCT value) FROM json_each(c.children)) <> json_array_length(c.children)`},
	{"the members of a composite are live facts, or composites of the level below, and point back to it", `SELECT c.id FROM composites c CROSS JOIN json_each(c.children) j
LEFT JOIN facts f ON c.level = 1 AND f.id = j.value AND f.bank = c.bank AND f.parent = c.no AND f.live = 1
LEFT JOIN composites k ON c.level > 1 AND k.id = j.value AND k.bank = c.bank AND k.parent = c.no AND k.level = c.level - 1
WHERE f.no IS NULL AND k.no IS NULL`},
	{"what points to a composite is a member of it", `SELECT n.id FROM (SELECT id, bank, parent, 0 AS level FROM facts WHERE parent IS NOT NULL
  UNION ALL SELECT id, bank, parent, level FROM composites WHERE parent IS NOT NULL) n
LEFT JOIN composites c ON c.no = n.parent AND c.bank = n.bank AND c.level = n.level + 1
WHERE c.no IS NULL OR n.id NOT IN (SELECT value FROM json_each(c.children))`},
	{"a record is a member of one composite at most", `SELECT j.value FROM composites c CROSS JOIN json_each(c.children) j GROUP BY j.value HAVING count(*) > 1`},
	{"the representative of a composite is a member of it", `SELECT c.id FROM composites c WHERE c.representative NOT IN (SELECT value FROM json_each(c.children))`},
	{"a composite without a summary has its representative's text", `SELECT c.id FROM composites c LEFT JOIN facts f ON c.level = 1 AND f.id = c.representative
LEFT JOIN composites k ON c.level > 1 AND k.id = c.representative WHERE c.made = '' AND c.text IS DISTINCT FROM coalesce(f.text, k.text)`},
	{"the entities of a composite are found by it", `SELECT c.id FROM composites c WHERE EXISTS (SELECT 1 FROM composite_entities e WHERE e.composite = c.no
  AND (e.bank <> c.bank OR e.entity NOT IN (SELECT value FROM json_each(c.entities))))`},
	{"a vector of a composite is its bank's", `SELECT c.id FROM composite_vectors k JOIN composites c ON c.no = k.composite LEFT JOIN fact_vectors v ON v.fact = k.fact
WHERE k.bank <> c.bank OR v.bank <> c.bank`},
	{"a composite has a vector of its own or that of a fact", `SELECT c.id FROM composite_vectors k JOIN composites c ON c.no = k.composite
WHERE (k.fact IS NULL) = (k.vector IS NULL) OR k.fact IS NOT NULL AND NOT EXISTS (SELECT 1 FROM fact_vectors v WHERE v.fact = k.fact)`},
}

// messageRules concern messages, what became of them, and their windows.
var messageRules = []Rule{
	{"a message has its event", `SELECT m.seq FROM messages m LEFT JOIN message_events e ON e.seq = m.seq WHERE e.seq IS NULL OR e.bank <> m.bank OR e.session <> m.session`},
	{"a forgotten or repeated event has no message", `SELECT m.seq FROM messages m JOIN message_events e ON e.seq = m.seq WHERE e.state IN ('forgotten', 'duplicate')`},
	{"every event is counted under one known end", `SELECT seq FROM message_events
WHERE state NOT IN ('forgotten', 'dead', 'duplicate', 'throttled', 'skipped', 'committed', 'empty', 'pending')`},
	{"an event that is neither dead, forgotten nor a repeat has its message", `SELECT e.seq FROM message_events e LEFT JOIN messages m ON m.seq = e.seq
WHERE e.state IN ('throttled', 'skipped', 'committed', 'empty', 'pending') AND m.seq IS NULL`},
	{"a repeat has a first", `SELECT e.seq FROM message_events e WHERE e.state = 'duplicate'
AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.bank = e.bank AND m.id = e.id) AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.bank = e.bank AND t.id = e.id)`},
	{"a message that ended was in a window that ended", `SELECT e.seq FROM message_events e JOIN messages m ON m.seq = e.seq
WHERE e.state NOT IN ('pending', 'forgotten', 'duplicate') AND NOT EXISTS (SELECT 1 FROM windows w
  WHERE w.bank = e.bank AND w.session = e.session AND w.last >= e.seq AND w.first <= e.seq)`},
	{"a message that ended as its window did", `SELECT e.seq FROM message_events e JOIN messages m ON m.seq = e.seq
JOIN (SELECT 'committed' AS state, 'facts' AS outcome UNION ALL SELECT 'dead', 'dead') k ON k.state = e.state
WHERE NOT EXISTS (SELECT 1 FROM windows w WHERE w.bank = e.bank AND w.session = e.session AND w.last >= e.seq AND w.first <= e.seq AND w.outcome = k.outcome)`},
	// The first may have gone with an erased bank of the same name.
	{"a window stands on events of its bank", `SELECT w.id FROM windows w LEFT JOIN message_events f ON f.seq = w.first
LEFT JOIN message_events l ON l.seq = w.last AND l.bank = w.bank WHERE f.bank <> w.bank OR l.seq IS NULL OR w.first > w.last
OR f.seq IS NULL AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.bank = w.bank AND t.seq = w.first)`},
	{"a replacement is by a message", `SELECT 'by ' || r.by FROM replacements r LEFT JOIN messages m ON m.seq = r.by AND m.bank = r.bank WHERE m.seq IS NULL`},
	{"what is forgotten is gone", `SELECT t.seq FROM tombstones t JOIN message_events e ON e.seq = t.seq AND e.bank = t.bank
WHERE e.state <> 'forgotten'`},
	{"a vector of a message is its bank's", `SELECT v.message FROM message_vectors v JOIN messages m ON m.seq = v.message WHERE m.bank <> v.bank`},
}

// logRules concern the positions in the log and what waits to be sent there.
var logRules = []Rule{
	{"nothing is stored past the applied messages", `SELECT e.seq FROM message_events e JOIN banks b ON b.no = e.bank
WHERE e.seq > (SELECT seq FROM applied WHERE stream = 'MEM_MESSAGES' AND part = 0)
  AND e.seq > coalesce((SELECT seq FROM ahead WHERE bank = b.id), (SELECT seq FROM ahead WHERE bank = ''), 0)`},
	{"a bank that is held is told from those that are ahead", `SELECT 'bank ' || bank FROM ahead WHERE NOT EXISTS (SELECT 1 FROM ahead WHERE bank = '')`},
	{"there is one position for each stream", `SELECT stream || ' ' || count(*) FROM (SELECT 'MEM_MESSAGES' AS stream UNION ALL SELECT 'MEM_WRITES') s
LEFT JOIN applied a USING (stream) GROUP BY stream HAVING count(a.seq) <> 1`},
	{"a repeat of an op has the op", `SELECT r.write FROM repeats r LEFT JOIN ops o ON o.bank = r.bank AND o.op = r.op WHERE o.op IS NULL`},
	{"an outcome can be read", `SELECT write FROM ops WHERE NOT json_valid(outcome)`},
	{"a change to be sent can be read", `SELECT no FROM outbox WHERE bank = '' OR NOT json_valid(body) OR body ->> '$.id' IS NULL`},
	{"an event to be erased is named", `SELECT no FROM erasures WHERE seq < 1 OR replace(stream, 'damaged ', '') NOT IN ('MEM_MESSAGES', 'MEM_WRITES', 'MEM_DEAD')`},
}
