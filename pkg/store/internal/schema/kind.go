// Package schema describes what the tables of a store mean, once for every kind of rows.
//
// A Kind names the tables of a record kind and says how its rows are indexed, listed, filtered, read as items, dumped,
// erased with their bank and verified. The generic code of the driver (search, verification, dump, erasure of a bank)
// runs over the list of Kinds and knows no kind by name, so a new kind is a migration and an entry of that list.
// Records adds how the values of a kind are stored, read and removed, from one list of columns. Facts and composites
// are stored by the writer itself, because their rows keep further indexes in step: terms, entities and vectors.
//
// Statements are written in the common dialect of the databases (package engine). Their tables are the engine's: the same
// names and columns in all. Row numbers are local to a store and never shown.
package schema

import (
	"database/sql"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Schema is the kinds of rows of a store, in the order of the dump. It is read-only once a store is open.
type Schema struct{ Kinds []Kind }

// Default returns the schema of this program.
func Default() Schema {
	return Schema{Kinds: []Kind{
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
	// Indexed are the columns of the text index, apart from bank and grams; none = no text index.
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
	// AllHidden is a query of the row numbers that Hidden leaves out, as no, ascending. It takes the bank.
	AllHidden string
	Items     Items
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

// TextIndex is the text index of the kind.
func (k Kind) TextIndex() engine.TextIndex {
	return engine.TextIndex{Table: k.Table, Number: k.Number, Columns: k.Indexed}
}

// Reindex replaces the entry of a row in the text index, as engine.Engine's does.
func (k Kind) Reindex(tx *engine.Tx, no, bank int64, was, now []string) error {
	return tx.Engine().Reindex(tx, k.TextIndex(), no, bank, was, now)
}

// CheckIndex compares the text index with its rows, word by word. It needs a write transaction.
func (k Kind) CheckIndex(tx *engine.Tx) error { return tx.Engine().CheckIndex(tx, k.TextIndex()) }

// EraseBank deletes the rows of a bank from every table of the schema, but for those of message events behind a sequence.
func (s Schema) EraseBank(tx *engine.Tx, t *Counter, bank int64, upto uint64) error {
	if err := t.beforeErasure(tx, s, bank); err != nil {
		return err
	}
	for _, k := range s.Kinds {
		if len(k.Indexed) == 0 {
			continue
		}
		var upper *uint64
		if k.Record == memory.RecordMessage {
			upper = &upto
		}
		if err := tx.Engine().EraseIndex(tx, k.TextIndex(), bank, upper); err != nil {
			return err
		}
	}
	for _, k := range s.Kinds {
		for _, table := range k.Tables {
			if !table.OfBank {
				continue
			}
			erase, args := `DELETE FROM `+table.Name+` WHERE bank = ?`, []any{bank}
			if table.Sequence != "" {
				erase, args = erase+` AND `+table.Sequence+` <= ?`, append(args, int64(upto))
			}
			if err := tx.Exec("erase the bank's "+table.Name, erase, args...); err != nil {
				return err
			}
		}
	}
	return t.afterErasure(tx, s, bank)
}
