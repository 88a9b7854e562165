package sqlite

// messageRules are about messages, what became of them, and their windows.
var messageRules = []invariant{
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
	{"a window stands on events of its bank", `SELECT w.id FROM windows w LEFT JOIN message_events f ON f.seq = w.first AND f.bank = w.bank
LEFT JOIN message_events l ON l.seq = w.last AND l.bank = w.bank WHERE f.seq IS NULL OR l.seq IS NULL OR w.first > w.last`},
	{"a replacement is by a message", `SELECT 'by ' || r.by FROM replacements r LEFT JOIN messages m ON m.seq = r.by AND m.bank = r.bank WHERE m.seq IS NULL`},
	{"what is forgotten is gone", `SELECT t.seq FROM tombstones t JOIN message_events e ON e.seq = t.seq AND e.bank = t.bank
WHERE t.id NOT LIKE 'op:%' AND e.state <> 'forgotten'`},
	{"a vector of a message is its bank's", `SELECT v.message FROM message_vectors v JOIN messages m ON m.seq = v.message WHERE m.bank <> v.bank`},
	{"the records of a bank are counted", `SELECT 'bank ' || bank || ' ' || record FROM (
  SELECT coalesce(k.bank, c.bank) AS bank, coalesce(k.record, c.record) AS record, coalesce(k.n, 0) AS n, coalesce(c.n, 0) AS counted
  FROM (SELECT bank, 'message' AS record, count(*) AS n FROM messages GROUP BY bank UNION ALL SELECT bank, 'fact', count(*) FROM facts GROUP BY bank
    UNION ALL SELECT bank, 'composite', count(*) FROM composites GROUP BY bank UNION ALL SELECT bank, 'observation', count(*) FROM observations GROUP BY bank) k
  FULL JOIN row_counts c ON c.bank = k.bank AND c.record = k.record) WHERE n <> counted`},
	{"a bank that is not there has no records", `SELECT DISTINCT 'bank ' || b.no FROM banks b WHERE b.profile = ''
AND (EXISTS (SELECT 1 FROM messages WHERE bank = b.no) OR EXISTS (SELECT 1 FROM facts WHERE bank = b.no)
  OR EXISTS (SELECT 1 FROM composites WHERE bank = b.no) OR EXISTS (SELECT 1 FROM observations WHERE bank = b.no))`},
	{"a profile names its bank", `SELECT 'bank ' || no FROM banks WHERE profile <> '' AND (NOT json_valid(profile) OR profile ->> '$.id' IS NOT id)`},
}

// logRules are about the positions in the log and what waits to be sent there.
var logRules = []invariant{
	{"nothing is stored past the applied messages", `SELECT seq FROM message_events WHERE seq > (SELECT seq FROM applied WHERE stream = 'MEM_MESSAGES' AND part = 0)`},
	{"nothing is stored past the applied writes", `WITH upto(seq) AS (SELECT seq FROM applied WHERE stream = 'MEM_WRITES' AND part = 0)
SELECT 'op ' || write FROM ops WHERE write > (SELECT seq FROM upto) UNION ALL SELECT 'repeat ' || write FROM repeats WHERE write > (SELECT seq FROM upto)
UNION ALL SELECT id FROM windows WHERE write > (SELECT seq FROM upto) UNION ALL SELECT id FROM facts WHERE version > (SELECT seq FROM upto)
UNION ALL SELECT id FROM composites WHERE version > (SELECT seq FROM upto) UNION ALL SELECT id FROM observations WHERE version > (SELECT seq FROM upto)
UNION ALL SELECT id FROM conflicts WHERE version > (SELECT seq FROM upto)`},
	{"there is one position for each stream", `SELECT stream || ' ' || count(*) FROM (SELECT 'MEM_MESSAGES' AS stream UNION ALL SELECT 'MEM_WRITES') s
LEFT JOIN applied a USING (stream) GROUP BY stream HAVING count(a.seq) <> 1`},
	{"a repeat of an op has the op", `SELECT r.write FROM repeats r LEFT JOIN ops o ON o.bank = r.bank AND o.op = r.op WHERE o.op IS NULL`},
	{"an outcome can be read", `SELECT write FROM ops WHERE NOT json_valid(outcome)`},
	{"a change to be sent can be read", `SELECT no FROM outbox WHERE bank = '' OR NOT json_valid(body) OR body ->> '$.id' IS NULL`},
	{"an event to be erased is named", `SELECT no FROM erasures WHERE seq < 1 OR stream NOT IN ('MEM_MESSAGES', 'MEM_WRITES', 'MEM_DEAD')`},
}
