package sqlite

import "strconv"

// factRules are about facts and what they rest on.
var factRules = []invariant{
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
	{"a confidence is between 0 and 1", `SELECT id FROM facts WHERE confidence NOT BETWEEN 0 AND 1 UNION ALL SELECT id FROM composites WHERE confidence NOT BETWEEN 0 AND 1
UNION ALL SELECT id FROM observations WHERE confidence NOT BETWEEN 0 AND 1`},
	{"the entities of a fact are found by it", `SELECT f.id FROM facts f, json_each(f.entities) j WHERE NOT EXISTS (SELECT 1 FROM fact_entities e
  WHERE e.bank = f.bank AND e.entity = j.value AND e.live = f.live AND e.said = f.said AND e.fact = f.no)
UNION SELECT coalesce(f.id, 'row ' || e.fact) FROM fact_entities e LEFT JOIN facts f ON f.no = e.fact AND f.bank = e.bank
  WHERE f.no IS NULL OR e.said <> f.said OR e.live <> f.live OR e.entity NOT IN (SELECT value FROM json_each(f.entities))`},
	{"the live facts of an entity are counted", `SELECT 'bank ' || bank FROM (SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity
EXCEPT SELECT bank, entity, live FROM entity_counts)
UNION ALL SELECT 'bank ' || bank FROM (SELECT bank, entity, live FROM entity_counts
EXCEPT SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity)`},
	{"a name leads to an entity", `SELECT 'bank ' || n.bank FROM entity_names n LEFT JOIN entities e ON e.bank = n.bank AND e.id = n.entity WHERE e.id IS NULL`},
	{"an entity has a name", `SELECT 'bank ' || e.bank FROM entities e WHERE NOT EXISTS (SELECT 1 FROM entity_names n WHERE n.bank = e.bank AND n.entity = e.id)`},
	{"an entity that was merged leads to one that was not", `SELECT 'bank ' || a.bank FROM entities a LEFT JOIN entities b ON b.bank = a.bank AND b.id = a.redirect
WHERE a.redirect IS NOT NULL AND (b.id IS NULL OR b.redirect IS NOT NULL)`},
}

// treeRules are about composites and what lies under them; most is how many
// members one may have.
func treeRules(most int) []invariant {
	limit := strconv.Itoa(most)
	return []invariant{
		{"a composite has two members or more, each once, and at most the cap", `SELECT c.id FROM composites c WHERE json_array_length(c.children) NOT BETWEEN 2 AND ` + limit + `
OR (SELECT count(DISTINCT value) FROM json_each(c.children)) <> json_array_length(c.children)`},
		{"the members of a composite are live facts, or composites of the level below, and point back to it", `SELECT c.id FROM composites c, json_each(c.children) j
LEFT JOIN facts f ON c.level = 1 AND f.id = j.value AND f.bank = c.bank AND f.parent = c.no AND f.live = 1
LEFT JOIN composites k ON c.level > 1 AND k.id = j.value AND k.bank = c.bank AND k.parent = c.no AND k.level = c.level - 1
WHERE f.no IS NULL AND k.no IS NULL`},
		{"what points to a composite is a member of it", `SELECT n.id FROM (SELECT id, bank, parent, 0 AS level FROM facts WHERE parent IS NOT NULL
  UNION ALL SELECT id, bank, parent, level FROM composites WHERE parent IS NOT NULL) n
LEFT JOIN composites c ON c.no = n.parent AND c.bank = n.bank AND c.level = n.level + 1
WHERE c.no IS NULL OR n.id NOT IN (SELECT value FROM json_each(c.children))`},
		{"a record is a member of one composite at most", `SELECT j.value FROM composites c, json_each(c.children) j GROUP BY j.value HAVING count(*) > 1`},
		{"the representative of a composite is a member of it", `SELECT c.id FROM composites c WHERE c.representative NOT IN (SELECT value FROM json_each(c.children))`},
		{"a composite without a summary has its representative's text", `SELECT c.id FROM composites c LEFT JOIN facts f ON c.level = 1 AND f.id = c.representative
LEFT JOIN composites k ON c.level > 1 AND k.id = c.representative WHERE c.made = '' AND c.text IS NOT coalesce(f.text, k.text)`},
		{"the entities of a composite are found by it", `SELECT c.id FROM composites c WHERE EXISTS (SELECT 1 FROM composite_entities e WHERE e.composite = c.no
  AND (e.bank <> c.bank OR e.entity NOT IN (SELECT value FROM json_each(c.entities))))`},
		{"a vector of a composite is its bank's", `SELECT c.id FROM composite_vectors k JOIN composites c ON c.no = k.composite LEFT JOIN fact_vectors v ON v.fact = k.fact
WHERE k.bank <> c.bank OR v.bank <> c.bank`},
		{"a composite has a vector of its own or that of a fact", `SELECT c.id FROM composite_vectors k JOIN composites c ON c.no = k.composite
WHERE (k.fact IS NULL) = (k.vector IS NULL) OR k.fact IS NOT NULL AND NOT EXISTS (SELECT 1 FROM fact_vectors v WHERE v.fact = k.fact)`},
	}
}
