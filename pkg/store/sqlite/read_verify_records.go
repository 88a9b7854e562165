package sqlite

// recordRules are about what hangs on facts.
var recordRules = []invariant{
	{"a relation rests on facts of its bank", `SELECT DISTINCT j.value FROM relations r, json_each(r.facts) j LEFT JOIN facts f ON f.id = j.value AND f.bank = r.bank WHERE f.no IS NULL`},
	{"a conflict is between two facts of its bank, and won by one of them", `SELECT x.id FROM conflicts x LEFT JOIN facts a ON a.id = x.a AND a.bank = x.bank
LEFT JOIN facts b ON b.id = x.b AND b.bank = x.bank WHERE a.no IS NULL OR b.no IS NULL OR x.a = x.b OR x.winner NOT IN (x.a, x.b)`},
	{"an observation rests on facts of its bank", `SELECT o.id FROM observation_facts k JOIN observations o ON o.no = k.observation
LEFT JOIN facts f ON f.id = k.fact AND f.bank = o.bank WHERE f.no IS NULL`},
	{"what was used is there", `SELECT u.record FROM uses u WHERE NOT EXISTS (SELECT 1 FROM facts WHERE id = u.record AND bank = u.bank)
AND NOT EXISTS (SELECT 1 FROM composites WHERE id = u.record AND bank = u.bank) AND NOT EXISTS (SELECT 1 FROM observations WHERE id = u.record AND bank = u.bank)
AND NOT EXISTS (SELECT 1 FROM messages WHERE id = u.record AND bank = u.bank)`},
}

// modelRules are about language models: what waits for them, what they decided
// and what they took.
var modelRules = []invariant{
	{"a fact that waits for a decision is there", `SELECT p.id FROM pending_models p LEFT JOIN facts f ON f.id = p.id AND f.bank = p.bank WHERE p.kind = 'decide' AND f.no IS NULL`},
	{"what waits for a model can be read", `SELECT id FROM pending_models WHERE NOT json_valid(body)`},
	{"a decision is about facts of its bank", `SELECT d.fact FROM decisions d LEFT JOIN facts f ON f.id = d.fact AND f.bank = d.bank
LEFT JOIN facts t ON t.id = d.target AND t.bank = d.bank LEFT JOIN facts m ON m.id = d.made AND m.bank = d.bank
WHERE f.no IS NULL OR t.no IS NULL OR d.made <> '' AND m.no IS NULL`},
	{"a write of a model rests on facts of its bank", `SELECT d.fact FROM derived d LEFT JOIN facts f ON f.id = d.fact AND f.bank = d.bank WHERE f.no IS NULL`},
	{"late vectors are noted with a write", `SELECT write FROM vector_events WHERE write < 1 OR id = ''`},
	{"usage adds up", `SELECT 'bank ' || bank || ' ' || day FROM usage WHERE calls < 0 OR failed NOT BETWEEN 0 AND calls OR prompt < 0 OR cached < 0 OR completion < 0
UNION ALL SELECT 'bank ' || u.bank FROM usage u WHERE NOT EXISTS (SELECT 1 FROM usage_events e WHERE e.bank = u.bank)`},
	{"usage was counted for an op", `SELECT 'bank ' || e.bank FROM usage_events e LEFT JOIN ops o ON o.bank = e.bank AND o.op = e.op WHERE o.op IS NULL`},
}
