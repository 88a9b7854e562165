package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// textIndexes name their table and its row number.
var textIndexes = []struct{ table, number string }{{"messages", "seq"}, {"facts", "no"}, {"composites", "no"}, {"observations", "no"}}

// indexRules say that an index has an entry for each row and no other.
func indexRules() []invariant {
	var out []invariant
	for _, t := range textIndexes {
		out = append(out, invariant{"the text index of " + t.table + " has an entry for each row, and no other",
			fmt.Sprintf(`SELECT 'row ' || n FROM (SELECT %[2]s AS n FROM %[1]s EXCEPT SELECT id FROM %[1]s_fts_docsize)
UNION ALL SELECT 'entry ' || n FROM (SELECT id AS n FROM %[1]s_fts_docsize EXCEPT SELECT %[2]s FROM %[1]s)`, t.table, t.number)})
	}
	return out
}

// openIndexes has the connection look at every text index as it is now: one
// that read an index before another changed it checks it by what it remembers.
func (c *verifier) openIndexes() error {
	for _, t := range textIndexes {
		_, err := c.numbers("open the text index of "+t.table, fmt.Sprintf(`SELECT rowid FROM %[1]s_fts WHERE %[1]s_fts MATCH 'b0' LIMIT 1`, t.table))
		if err != nil {
			if fatal := c.fatal(err); fatal != nil {
				return fatal
			}
		}
	}
	return nil
}

// verifyIndexes compares every text index with its rows, word by word. FTS5
// takes the command as an insert, so it needs the writer, though it changes nothing.
func (db *DB) verifyIndexes(ctx context.Context, v *query.Verification) error {
	for _, t := range textIndexes {
		c := query.Check{Rule: "the text index of " + t.table + " says what its rows say"}
		if db.writer == nil {
			c.Skipped = "only the process that writes the store can ask for it: ask there, or run `eunoe verify --offline` on a stopped store"
			v.Add(c)
			continue
		}
		err := db.checkIndex(ctx, t.table+"_fts")
		if ctx.Err() != nil || errors.Is(err, memory.ErrUnavailable) {
			return err
		}
		if err != nil {
			c.Broken, c.Where = 1, []string{err.Error()}
		}
		v.Add(c)
	}
	return nil
}

func (db *DB) checkIndex(ctx context.Context, index string) error {
	return db.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO "+index+" ("+index+", rank) VALUES ('integrity-check', 1)")
		return err
	})
}
