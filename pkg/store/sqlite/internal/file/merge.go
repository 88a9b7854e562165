package file

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// mergePages is how much of a text index is rewritten in one transaction, in pages of about 4 KB, for which a writer
	// that comes meanwhile waits.
	mergePages = 32
	// mergeFor is how long segments are merged in one period without commits.
	mergeFor = 50 * time.Millisecond
)

// mergeSegments merges segments of the text indexes for a short time. Each transaction adds one to an index, which merges
// by itself only as much as keeps writing fast, and a search looks for a word in each. done is true when there is nothing
// left to merge.
func (f *File) mergeSegments(ctx context.Context) (done bool, err error) {
	conn, err := f.writer.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("merge segments: %w", err)
	}
	defer func() { _ = conn.Close() }()
	indexes, err := textIndexes(ctx, conn)
	if err != nil {
		return false, Failure(fmt.Errorf("merge segments: %w", err))
	}
	until := time.Now().Add(mergeFor)
	for _, index := range indexes {
		merge := fmt.Sprintf("INSERT INTO %[1]s (%[1]s, rank) VALUES ('merge', %[2]d)", index, mergePages)
		for changed := true; changed; {
			if !time.Now().Before(until) {
				return false, nil
			}
			if changed, err = changes(ctx, conn, merge); err != nil {
				return false, Failure(fmt.Errorf("merge segments of %s: %w", index, err))
			}
		}
	}
	return true, nil
}

// textIndexes returns the names of the text indexes.
func textIndexes(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return texts(ctx, conn, `SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'`)
}

// texts returns the first column of a query.
func texts(ctx context.Context, conn *sql.Conn, query string, args ...any) (out []string, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// changes runs a merge and reports whether it merged something: then more than the statement itself counts as a change.
func changes(ctx context.Context, conn *sql.Conn, merge string) (bool, error) {
	var before, after int64
	if err := conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
		return false, err
	}
	if _, err := conn.ExecContext(ctx, merge); err != nil {
		return false, err
	}
	err := conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after)
	return after-before > 1, err
}
