// Package schema describes what the tables of a store mean, once for every kind of rows.
//
// A Kind names the tables of a record kind and says how its rows are indexed, listed, filtered, read as items, dumped,
// erased with their bank and verified. The generic code of the driver (search, verification, dump, erasure of a bank)
// runs over the list of Kinds and knows no kind by name, so a new kind is a migration and an entry of that list.
// Records adds how the values of a kind are stored, read and removed, from one list of columns. Facts and composites
// are stored by the writer itself, because their rows keep further indexes in step: terms, entities and vectors.
//
// The migrations are part of this package. Row numbers are local to a file and never shown.
package schema

import (
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite/internal/engine"
)

// Schema is the migrations of a file and the kinds of its rows. It is read-only once a store is open.
type Schema struct {
	Migrations fs.FS  // *.sql, numbered from 0001
	Kinds      []Kind // in the order of the dump
}

//go:embed migrations/*.sql
var migrations embed.FS

// Default returns the schema of this program.
func Default() Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant: it cannot be wrong
	}
	return Schema{Migrations: files, Kinds: []Kind{
		banks(), Messages(), Facts(), Composites(), lateVectors(), entities(), relations(), conflicts(), Observations().Kind, uses(), ops(), undos(), usage(),
		pending(), decisions(), derived(), tombstones(),
	}}
}

// Kind describes the rows of one kind. Those with a Record have one table of records, with the columns bank, id and
// Number; of the others callers never ask by record.
type Kind struct {
	Record memory.Record
	Tables []Table
	Rules  []Rule

	Table  string // of the records
	Alias  string // of the table in queries
	Number string // column of the row number
	Said   string // column of the time by which records are listed
	// Indexed are the columns of the text index, apart from bank and grams; none = no text index. The index is the
	// FTS5 table "<table>_fts" over the view "<table>_text".
	Indexed []string
	// GivenIDs says that publishers choose the ids. Then an id is looked up here last.
	GivenIDs   bool
	Versioned  bool // the table has a column version, a MEM_WRITES sequence
	Confidence bool // the table has a column confidence

	// Vectors is where the vectors of records are stored; the zero value for none.
	Vectors VectorTable
	// Passes returns the condition under which a record passes a filter, over the alias.
	Passes func(Filter) Condition
	// Hidden returns the condition that leaves out, by an index of its own, what no search without a filter finds.
	// It takes the row number as SQL and the bank as its argument. nil = keyword search ignores the filter, which is
	// applied when the rows are read.
	Hidden func(number string) string
	Items  Items

	unindex, index string // statements of Reindex, when they are prepared
}

// Table is one table of a kind.
type Table struct {
	Name string
	// Dump reads the logical content in an order that does not depend on row numbers; "" = the table is not dumped,
	// because its rows follow from others.
	Dump string
	// OfBank says that the rows have a column bank and are deleted with it. Others go by a foreign key, or stay.
	OfBank bool
	// Sequence is the column with the MEM_MESSAGES sequence, where messages behind an erasure stay; "" = all rows go.
	Sequence string
}

// Rule is an invariant between rows. Find returns one row for every violation, with one column that tells where: an
// id or a number, never text.
type Rule struct{ Name, Find string }

// VectorTable is a table of packed vectors and the column with the row number of the record.
type VectorTable struct{ Table, Number string }

// Items says how records are read as items.
type Items struct {
	// Select takes the row numbers as JSON and the bank.
	Select string
	// Scan reads one row of Select, with its row number.
	Scan func(*sql.Rows) (no int64, item memory.Item, err error)
	// Sources returns (row number, message id, message sequence) in the order in which sources are listed. It takes
	// the row numbers as ?1 and the bank as ?2. "" = Scan knows the sources.
	Sources string
}

// Condition is an SQL condition with its arguments.
type Condition struct {
	SQL  string
	Args []any
}

// Filter is a memory.Filter as conditions.
type Filter struct {
	Facts, Messages, Observations Condition // over the aliases f, m and o; never empty
	Composites                    Condition // over the alias c, besides that on the facts beneath; never empty
	Plain                         bool      // whatever is live now passes, and nothing is narrowed beyond that
}

// Find returns the kind of a record; false when there is none.
func (s Schema) Find(rec memory.Record) (Kind, bool) {
	for i := range s.Kinds {
		if s.Kinds[i].Record == rec && rec != "" {
			return s.Kinds[i], true
		}
	}
	return Kind{}, false
}

// Records returns the kinds that callers ask for by record, in the order in which an id is looked up.
func (s Schema) Records() []Kind {
	var out, given []Kind
	for _, k := range s.Kinds {
		switch {
		case k.Record == "":
		case k.GivenIDs:
			given = append(given, k)
		default:
			out = append(out, k)
		}
	}
	return append(out, given...)
}

// Rows is the table with its alias, as FROM takes it.
func (k Kind) Rows() string { return k.Table + " " + k.Alias }

// No is the column of the row number, with the alias.
func (k Kind) No() string { return k.Alias + "." + k.Number }

// Time is the column by which records are listed, with the alias.
func (k Kind) Time() string { return k.Alias + "." + k.Said }

// InBank is the condition that takes the bank.
func (k Kind) InBank() string { return k.Alias + ".bank = ?" }

// Among is FROM of the rows whose numbers are given as a JSON list.
func (k Kind) Among() string {
	return "json_each(?) j CROSS JOIN " + k.Rows() + " ON " + k.No() + " = j.value"
}

// Index is the name of the text index.
func (k Kind) Index() string { return k.Table + "_fts" }

// BankToken is the word that stands for a bank in a text index.
func BankToken(bank int64) string { return "b" + strconv.FormatInt(bank, 10) }

// Reindex replaces the entry of a row in the text index. was are the indexed columns as they were, with the grams
// last, nil for a row that was not indexed; now are the new ones, nil to remove the row. Old values must be exactly
// those that were indexed.
func (k Kind) Reindex(tx *engine.Tx, no, bank int64, was, now []string) error {
	if k.index == "" {
		k = k.Prepared()
	}
	args := func(texts []string) []any {
		out := append(make([]any, 0, len(texts)+2), no, BankToken(bank))
		for _, t := range texts {
			out = append(out, t)
		}
		return out
	}
	if was != nil {
		if err := tx.Exec("unindex", k.unindex, args(was)...); err != nil {
			return err
		}
	}
	if now == nil {
		return nil
	}
	return tx.Exec("index", k.index, args(now)...)
}

// Prepared returns the kind with the statements of Reindex written, for a caller that indexes many rows.
func (k Kind) Prepared() Kind {
	columns := "rowid, bank, " + strings.Join(k.Indexed, ", ") + ", grams"
	values := "?, ?" + strings.Repeat(", ?", len(k.Indexed)+1)
	k.unindex = fmt.Sprintf("INSERT INTO %[1]s (%[1]s, %[2]s) VALUES ('delete', %[3]s)", k.Index(), columns, values)
	k.index = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", k.Index(), columns, values)
	return k
}

// CheckIndex compares the text index with its rows, word by word. FTS5 takes the command as an INSERT, so it needs a
// write transaction, although it changes nothing.
func (k Kind) CheckIndex(tx *engine.Tx) error {
	return tx.Exec("check the text index of "+k.Table, fmt.Sprintf("INSERT INTO %[1]s (%[1]s, rank) VALUES ('integrity-check', 1)", k.Index()))
}

// EraseBank deletes the rows of a bank from every table of the schema, but for those of message events behind a sequence.
func (s Schema) EraseBank(tx *engine.Tx, bank int64, upto uint64) error {
	for _, k := range s.Kinds {
		if len(k.Indexed) == 0 {
			continue
		}
		unindex := fmt.Sprintf(`INSERT INTO %[1]s_fts (%[1]s_fts, rowid, bank, %[2]s, grams) SELECT 'delete', %[3]s, bank, %[2]s, grams FROM %[1]s_text
WHERE %[3]s IN (SELECT %[3]s FROM %[1]s WHERE bank = ?1 AND (?2 OR %[3]s <= ?3))`, k.Table, strings.Join(k.Indexed, ", "), k.Number)
		if err := tx.Exec("unindex the bank's "+k.Table, unindex, bank, k.Record != memory.RecordMessage, int64(upto)); err != nil {
			return err
		}
	}
	for _, k := range s.Kinds {
		for _, t := range k.Tables {
			if !t.OfBank {
				continue
			}
			erase, args := `DELETE FROM `+t.Name+` WHERE bank = ?`, []any{bank}
			if t.Sequence != "" {
				erase, args = erase+` AND `+t.Sequence+` <= ?`, append(args, int64(upto))
			}
			if err := tx.Exec("erase the bank's "+t.Name, erase, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
