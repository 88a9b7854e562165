package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// stale counts, for each thing that is kept in step by hand, what is out of it.
var stale = []struct{ what, count string }{
	{"facts that wait for a vector and have one, or do neither", `SELECT count(*) FROM facts f
WHERE EXISTS (SELECT 1 FROM fact_vectors k WHERE k.fact = f.no) = EXISTS (SELECT 1 FROM unembedded u WHERE u.fact = f.no)`},
	{"terms of nodes that are not there or not live", `SELECT count(*) FROM node_terms t LEFT JOIN facts f ON f.no = t.node AND f.bank = t.bank AND f.live = 1
WHERE t.level = 0 AND f.no IS NULL`},
	{"terms of composites that are not there", `SELECT count(*) FROM node_terms t LEFT JOIN composites c ON c.no = t.node AND c.bank = t.bank AND c.level = t.level
WHERE t.level > 0 AND c.no IS NULL`},
	{"live facts with words and no terms", `SELECT count(*) FROM facts f WHERE f.live = 1 AND f.text GLOB '*[a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9][a-z0-9]*'
AND NOT EXISTS (SELECT 1 FROM node_terms t WHERE t.bank = f.bank AND t.level = 0 AND t.node = f.no)`},
	{"entities of facts with another time or state than the fact", `SELECT count(*) FROM fact_entities e LEFT JOIN facts f ON f.no = e.fact WHERE f.no IS NULL OR e.said <> f.said OR e.live <> f.live`},
	{"wrong counts of live facts of an entity", `SELECT count(*) FROM (
  SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity EXCEPT SELECT bank, entity, live FROM entity_counts)`},
	{"counts of entities that no live fact names", `SELECT count(*) FROM (
  SELECT bank, entity, live FROM entity_counts EXCEPT SELECT bank, entity, count(*) FROM fact_entities WHERE live = 1 GROUP BY bank, entity)`},
}

// Check compares the text indexes and everything else that is kept in step by
// hand with the rows it speaks of, and checks the file itself; it reads the
// whole store and needs the writer. The error says what is not in step.
func (db *DB) Check(ctx context.Context) error {
	return db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, t := range []string{"messages", "facts", "composites", "observations"} {
			check := fmt.Sprintf(`INSERT INTO %[1]s_fts (%[1]s_fts, rank) VALUES ('integrity-check', 1)`, t)
			if _, err := tx.ExecContext(ctx, check); err != nil {
				return fmt.Errorf("the text index of %s is not in step: %w", t, err)
			}
		}
		for _, s := range stale {
			var n int
			if err := tx.QueryRowContext(ctx, s.count).Scan(&n); err != nil {
				return fmt.Errorf("count %s: %w", s.what, err)
			}
			if n > 0 {
				return fmt.Errorf("the store has %d %s", n, s.what)
			}
		}
		var result string
		if err := tx.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
			return err
		}
		if result != "ok" {
			return fmt.Errorf("the file is damaged: %s", result)
		}
		return nil
	})
}
