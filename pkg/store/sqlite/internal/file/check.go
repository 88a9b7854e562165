package file

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// CheckFiles implements engine.Engine: SQLite checks the pages, and with full also the indexes against their tables. The
// connection reads every text index as it is now: one that read an index before another one changed it would check what
// it remembers.
func (f *File) CheckFiles(t *engine.Tx, full bool) (rule string, wrong []string, err error) {
	pragma, rule := `PRAGMA quick_check(20)`, "the file is whole"
	if full {
		pragma, rule = `PRAGMA integrity_check(20)`, "the file is whole, and every index of it"
	}
	indexes, err := engine.Column[string](t, "list text indexes", `SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5(%' ORDER BY name`)
	if err != nil {
		return rule, nil, err
	}
	for _, name := range indexes {
		_, err := t.Numbers("open the text index "+name, fmt.Sprintf(`SELECT rowid FROM %[1]s WHERE %[1]s MATCH 'b0' LIMIT 1`, name))
		if err != nil && (t.Context().Err() != nil || unavailable(err)) {
			return rule, nil, err // any other error is damage, which is found below
		}
	}
	found, err := engine.Column[string](t, "check the file", pragma)
	for _, line := range found {
		if line != "ok" {
			wrong = append(wrong, line)
		}
	}
	return rule, wrong, err
}

// Tables implements engine.Engine.
func (*File) Tables(t *engine.Tx) ([]string, error) {
	return engine.Column[string](t, "list tables", `SELECT name FROM sqlite_schema t WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'
AND NOT EXISTS (SELECT 1 FROM sqlite_schema v WHERE v.sql LIKE 'CREATE VIRTUAL%' AND substr(t.name, 1, length(v.name) + 1) = v.name || '_') ORDER BY name`)
}

// TablesOfBanks implements engine.Engine.
func (*File) TablesOfBanks(t *engine.Tx) ([]string, error) {
	return engine.Column[string](t, "list tables with banks", `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) k
WHERE t.type = 'table' AND k.name = 'bank' AND k.type = 'INTEGER' ORDER BY t.name`)
}

// Orphans implements engine.Engine.
func (*File) Orphans(t *engine.Tx) ([]string, error) {
	return engine.All(t, "check references", `SELECT "table", rowid, parent FROM pragma_foreign_key_check`, nil, func(rows *sql.Rows) (string, error) {
		var table, parent string
		var row sql.NullInt64
		err := rows.Scan(&table, &row, &parent)
		return fmt.Sprintf("%s row %d names no row of %s", table, row.Int64, parent), err
	})
}
