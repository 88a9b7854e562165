package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// verifications are the rules between tables: each counts the rows that break one.
var verifications = []struct{ rule, count string }{
	{"a vector belongs to a fact of its bank", `SELECT count(*) FROM fact_vectors v LEFT JOIN facts f ON f.no = v.fact WHERE f.no IS NULL OR f.bank <> v.bank`},
	{"every stored message has its event", `SELECT count(*) FROM messages m LEFT JOIN message_events e ON e.seq = m.seq WHERE e.seq IS NULL`},
	{"no forgotten or dead event keeps its message", `SELECT count(*) FROM messages m JOIN message_events e ON e.seq = m.seq WHERE e.state IN ('forgotten', 'dead')`},
	{"a source of a fact belongs to the fact's bank", `SELECT count(*) FROM fact_sources s JOIN facts f ON f.no = s.fact JOIN message_events e ON e.seq = s.seq WHERE e.bank <> f.bank`},
	{"a fact under a composite is live", `SELECT count(*) FROM facts WHERE parent IS NOT NULL AND live = 0`},
	{"the composite above a fact exists", `SELECT count(*) FROM facts f LEFT JOIN composites c ON c.id = f.parent WHERE f.parent IS NOT NULL AND (c.no IS NULL OR c.bank <> f.bank)`},
	{"the composite above a composite exists", `SELECT count(*) FROM composites k LEFT JOIN composites c ON c.id = k.parent WHERE k.parent IS NOT NULL AND (c.no IS NULL OR c.bank <> k.bank OR c.level <= k.level)`},
	{"a redirect leads to an entity", `SELECT count(*) FROM entities a LEFT JOIN entities b ON b.bank = a.bank AND b.id = a.redirect WHERE a.redirect IS NOT NULL AND b.id IS NULL`},
	{"the messages of a bank are counted", `SELECT count(*) FROM (SELECT bank, count(*) AS n FROM messages GROUP BY bank) m
  LEFT JOIN row_counts c ON c.bank = m.bank AND c.record = 'message' WHERE c.n IS NOT m.n`},
	{"the facts of a bank are counted", `SELECT count(*) FROM (SELECT bank, count(*) AS n FROM facts GROUP BY bank) f
  LEFT JOIN row_counts c ON c.bank = f.bank AND c.record = 'fact' WHERE c.n IS NOT f.n`},
	{"the text index of messages has a row for each", `SELECT abs((SELECT count(*) FROM messages) - (SELECT count(*) FROM messages_fts_docsize))`},
	{"the text index of facts has a row for each", `SELECT abs((SELECT count(*) FROM facts) - (SELECT count(*) FROM facts_fts_docsize))`},
	{"the text index of composites has a row for each", `SELECT abs((SELECT count(*) FROM composites) - (SELECT count(*) FROM composites_fts_docsize))`},
	{"the text index of observations has a row for each", `SELECT abs((SELECT count(*) FROM observations) - (SELECT count(*) FROM observations_fts_docsize))`},
}

var textIndexes = []string{"messages_fts", "facts_fts", "composites_fts", "observations_fts"}

// Verify checks the file, what must hold between tables, and, where this
// process writes the store, that every text index says what its rows say.
func (db *DB) Verify(ctx context.Context) (query.Verification, error) {
	v := query.Verification{Counts: map[string]int{}, Problems: []string{}}
	err := db.read(ctx, func(tx *sql.Tx) error {
		r := &reader{ctx: ctx, tx: tx}
		// A connection that read an index before another changed it checks it by
		// what it remembers; a search makes it look again.
		for _, index := range textIndexes {
			if _, err := r.numbers("open "+index, "SELECT rowid FROM "+index+" WHERE "+index+` MATCH 'b0' LIMIT 1`); err != nil {
				return err
			}
		}
		found, err := r.texts("check the file", `PRAGMA quick_check(20)`)
		if err != nil {
			return err
		}
		for _, line := range found {
			if line != "ok" {
				v.Problems = append(v.Problems, line)
			}
		}
		for _, name := range []string{"banks", "message_events", "messages", "facts", "composites", "entities", "observations", "conflicts"} {
			n, err := r.numbers("count "+name, "SELECT count(*) FROM "+name)
			if err != nil {
				return err
			}
			v.Counts[name] = int(n[0])
		}
		for _, check := range verifications {
			n, err := r.numbers(check.rule, check.count)
			if err != nil {
				return err
			}
			if n[0] > 0 {
				v.Problems = append(v.Problems, fmt.Sprintf("%s: broken %d times", check.rule, n[0]))
			}
		}
		return nil
	})
	if err != nil || db.writer == nil {
		return v, err
	}
	for _, index := range textIndexes {
		if err := db.checkIndex(ctx, index); err != nil {
			if ctx.Err() != nil || errors.Is(err, memory.ErrUnavailable) {
				return v, err
			}
			v.Problems = append(v.Problems, fmt.Sprintf("the text index %s does not say what its rows say: %v", index, err))
		}
	}
	return v, nil
}

// checkIndex compares a text index with its rows. FTS5 takes the command as an
// insert, so it needs the writer, and changes nothing.
func (db *DB) checkIndex(ctx context.Context, index string) error {
	return db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO "+index+" ("+index+", rank) VALUES ('integrity-check', 1)")
		return err
	})
}
