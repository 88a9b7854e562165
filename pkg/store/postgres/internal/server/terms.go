package server

import "github.com/eunoe-memory/eunoe/pkg/store/internal/engine"

// TermTable implements engine.Engine. The table has a row for each node with a key for each of its terms, and a GIN index of
// the keys: a row for each term, in a heap and a tree, took four times as much. A key is the bank (32 bits), the level (8)
// and the hash of the term (23), so that a word of one bank is no slower to find for those that other banks have.
//
// A term that half of a large bank has is found by reading all nodes with it. That is rare: the projection remembers which
// terms are common.
func (*Server) TermTable() engine.TermTable {
	return engine.TermTable{
		Put: `INSERT INTO node_terms (bank, level, node, keys)
SELECT ?1, ?2, ?3, array_agg((?1 << 31) | (?2 << 23) | value ORDER BY value) FROM json_each(?4) HAVING count(*) > 0
ON CONFLICT (bank, level, node) DO UPDATE SET keys = excluded.keys`,
		// A node has one row: which terms are removed is of no account.
		Remove: `DELETE FROM node_terms WHERE bank = ?1 AND level = ?2 AND node = ?3 AND ?4 IS NOT NULL`,
		Find: `SELECT j.value, array_to_string(ARRAY(SELECT t.node FROM node_terms t WHERE t.keys @> ARRAY[(?2 << 31) | (?3 << 23) | j.value] LIMIT ?4), ' ')
FROM json_each(?1) j`,
		Count: `SELECT count(*) FROM json_each(?4) j CROSS JOIN node_terms t ON t.bank = ?1 AND t.level = ?2 AND t.node = ?3
WHERE t.keys @> ARRAY[(?1 << 31) | (?2 << 23) | j.value]`,
	}
}
