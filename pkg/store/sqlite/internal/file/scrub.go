package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// inMemory is the size of the file, in bytes, up to which it is rewritten in memory, and when the store closes.
const inMemory = 256 << 20

// scrub rewrites the text indexes and then the whole file. SQLite overwrites deleted content, but when it moved rows
// between pages before, copies stay in the unused part of pages, and only this removes them. The time grows with the file.
func (f *File) scrub(ctx context.Context) (took time.Duration, err error) {
	conn, err := f.writer.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("scrub: %w", err)
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	if err := rewriteIndexes(ctx, conn); err != nil {
		return time.Since(began), Failure(fmt.Errorf("scrub: %w", err))
	}
	steps := []string{"VACUUM", "DELETE FROM meta WHERE key = 'scrub'"}
	if sizeOf(f.config.Path) > inMemory {
		// VACUUM copies only what stays, so its temporary file holds nothing erased.
		steps = append([]string{"PRAGMA temp_store = FILE"}, steps...)
		defer func() {
			if _, again := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY"); err == nil {
				err = again
			}
		}()
	}
	for _, s := range steps {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return time.Since(began), Failure(fmt.Errorf("scrub: %w", err))
		}
	}
	f.scrubbing.Store(false)
	return time.Since(began), nil
}

// rewriteIndexes writes the text indexes anew from what they hold. A deleted row's words leave the leaves of an index, but
// the keys by which a leaf is found are beginnings of words, or whole ones, that stood there when the leaf was written.
func rewriteIndexes(ctx context.Context, conn *sql.Conn) error {
	indexes, err := textIndexes(ctx, conn)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if err := rewriteIndex(ctx, conn, index); err != nil {
			return fmt.Errorf("rewrite %s: %w", index, err)
		}
	}
	return nil
}

// rewriteIndex merges all segments of an index into one. A segment that is alone is not touched by that, so a row of one
// word, which no table has, makes a second one, and goes again.
func rewriteIndex(ctx context.Context, conn *sql.Conn, index string) (err error) {
	columns, err := columnsOf(ctx, conn, index)
	if err != nil {
		return err
	}
	row := "rowid, " + strings.Join(columns, ", ")
	values := "0, 'b0'" + strings.Repeat(", ''", len(columns)-1)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if undone := tx.Rollback(); !errors.Is(undone, sql.ErrTxDone) {
			err = errors.Join(err, undone)
		}
	}()
	for _, s := range []string{
		fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", index, row, values),
		fmt.Sprintf("INSERT INTO %[1]s (%[1]s) VALUES ('optimize')", index),
		fmt.Sprintf("INSERT INTO %[1]s (%[1]s, %s) VALUES ('delete', %s)", index, row, values),
	} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// columnsOf returns the columns of a text index, of which the first is the bank.
func columnsOf(ctx context.Context, conn *sql.Conn, index string) (out []string, err error) {
	return texts(ctx, conn, "SELECT name FROM pragma_table_info(?)", index)
}
