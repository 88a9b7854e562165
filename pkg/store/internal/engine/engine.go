package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ErrReplaced is the error of a database that another has taken the place of. Its connections still read the old one; none
// is opened any more. It is memory.ErrUnavailable.
var ErrReplaced = fmt.Errorf("the store was replaced by another: %w", memory.ErrUnavailable)

// ErrExists is the error of a row that was inserted with a value which another row has and only one may have.
var ErrExists = errors.New("there is such a row already")

// Database is an open database with the tables of one store. It is safe for concurrent use.
type Database interface {
	Engine

	// Read runs fn in one read transaction: every query in it sees the same state.
	Read(ctx context.Context, fn func(tx *Tx) error) error
	// Write runs fn in one write transaction and commits it, or rolls it back on error. It waits for other writers until
	// ctx ends. From then on the transaction runs to its end whatever becomes of ctx, unless fn itself checks the context
	// of its caller. A commit need not be on the disk yet, unless it erases something. On a database that was opened for
	// reading it is memory.ErrUnavailable.
	Write(ctx context.Context, fn func(tx *Tx) error) error
	// Second begins a transaction on another connection that reads the same state as t, for reads in parallel. It returns
	// nil when all second connections are in use, when something was committed since t began, or when a connection cannot
	// be opened, which is logged: the caller goes on with t alone. The caller calls release at the end.
	Second(t *Tx) (second *Tx, release func(), err error)
	// Writable reports whether the database was opened for writing.
	Writable() bool
	// Erased wakes the scrub that a committed transaction requested (Tx.RequestScrub).
	Erased()
	// Go runs fn in a goroutine of its own. The context of fn ends when the database closes, and Close waits for fn. After
	// Close Go does nothing.
	Go(fn func(ctx context.Context))
	// Warn logs an error of background work; nil logs nothing.
	Warn(err error, what string)
	// Close stops the background work and closes all connections. Closing again returns the same result.
	Close() error
}

// Engine is what differs between the databases that a store can be kept in. Its methods that take a Tx run in it.
type Engine interface {
	// Statement returns a statement of the common dialect and its arguments as the database takes them.
	Statement(query string, args []any) (string, []any)
	// Insert runs an INSERT into a table with the column no and returns the row number that the row was given: one more
	// than the greatest there is.
	Insert(t *Tx, query string, args []any) (int64, error)
	// Batch runs a query of the given number of columns and calls scan once for each row, up to the first error.
	Batch(t *Tx, columns int, query string, args []any, scan func(*Rowset) error) error
	// Failure maps an error of the driver to its meaning for a caller: what waiting or an operator can mend becomes
	// memory.ErrUnavailable. Other errors, and those that have a meaning already, are returned as they are.
	Failure(err error) error

	// Reindex replaces the entry of a row in a text index. was are the indexed columns as they were, with the grams last,
	// nil for a row that was not indexed; now are the new ones, nil to remove the row. Old values must be exactly those
	// that were indexed.
	Reindex(t *Tx, i TextIndex, no, bank int64, was, now []string) error
	// EraseIndex removes the entries of a bank whose rows are still there; with upto, those of numbers up to it alone.
	EraseIndex(t *Tx, i TextIndex, bank int64, upto *uint64) error
	// Words returns up to q.Limit numbers of rows that have a word, descending.
	Words(t *Tx, i TextIndex, q WordQuery) ([]int64, error)
	// Indexed is a query of the numbers of the rows that an index has entries for.
	Indexed(i TextIndex) string
	// CheckIndex compares a text index with its rows, word by word. It needs a write transaction, and changes nothing.
	CheckIndex(t *Tx, i TextIndex) error

	// TermTable returns the statements of the table node_terms.
	TermTable() TermTable

	// Distances calls each for rows of a table x with the column vector, of packed vectors (sketch.Pack), with the
	// Euclidean distance of the vector to v: the limit nearest (-1 = all), by distance and then number. from is the query
	// from FROM on, and number the column with the row number. All vectors that it finds must have the size of v.
	Distances(t *Tx, v memory.Vector, number, from string, args []any, limit int, each func(no int64, distance float64)) error

	// CheckFiles lets the database check what it stores. It returns what is checked, as the rule that holds for a whole
	// database, and what is wrong.
	CheckFiles(t *Tx, full bool) (rule string, wrong []string, err error)
	// Tables returns the names of all tables of the store, but for those that belong to a text index.
	Tables(t *Tx) ([]string, error)
	// TablesOfBanks returns the names of the tables with a column bank of row numbers.
	TablesOfBanks(t *Tx) ([]string, error)
	// Orphans tells which rows refer to rows that are not there.
	Orphans(t *Tx) ([]string, error)
}

// TermTable has the statements of the table node_terms, which lists the terms of each node. Its shape is the engine's own, but
// for the columns bank, level and node. In Put, Remove and Count ?1 is the bank, ?2 the level, ?3 the node, and ?4 a list of
// different terms.
type TermTable struct {
	Put    string // lists the terms of a node that has none so far
	Remove string // removes the terms, which are all that the node has
	Count  string // counts those of the terms that the node has
	// Find has a row for each of the terms ?1: the term, and up to ?4 nodes of the bank ?2 and the level ?3 that have it, as
	// numbers with blanks between them in any order, NULL for none.
	Find string
}

// Distancer is an Engine whose database is far away and who compares vectors in this process, which may hold them.
type Distancer interface {
	// Distancer returns the distance to v of a packed vector of its size, as Distances tells it. It is not safe for
	// concurrent use.
	Distancer(v memory.Vector) func(packed []byte) float64
}

// WordReader is an Engine whose database is far away and who tells which rows of a text index have which words, so that this
// process may hold that.
type WordReader interface {
	// AnyOf returns words, and how others begin ("" for none): a row has one of these if and only if the query finds it, whatever
	// narrows the query. ok is false for a query that asks for something else.
	AnyOf(q WordQuery) (words []string, begins string, ok bool, err error)
	// WordsOf calls each with the words of up to limit rows of a bank behind a number, ascending by row, and returns the number
	// of the last of these rows, and whether there are none behind it. A word is as AnyOf has it.
	WordsOf(t *Tx, i TextIndex, bank, behind int64, limit int, each func(no int64, word string)) (last int64, all bool, err error)
}

// Deferrer is an Engine that may run a statement whose result nobody waits for later than it is given (Tx.Exec,
// Tx.NumbersLater): with the next one that has a result, or before the commit, in the order given. Its error is then that
// one's, as a *Late.
type Deferrer interface {
	// Deferred returns the context of a statement that may run later. what names it; each is called with the rows of a
	// query of one integer column, and is nil for a statement without rows.
	Deferred(ctx context.Context, what string, each func(no int64)) context.Context
}

// Late is the error of a statement that ran later than it was given.
type Late struct {
	What string // names the statement
	Err  error
}

// Error returns the name of the statement with its error.
func (e *Late) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap returns the error of the statement.
func (e *Late) Unwrap() error { return e.Err }

// Stemmer is an Engine that says by which words its text indexes have a text. It has a view "<table>_text" of the columns
// of each index.
type Stemmer interface {
	// EachStem calls fn with every word of a text as an index has it, one that has letters of other scripts than Latin
	// aside, and perhaps with others. A word is valid during its call only.
	EachStem(text string, fn func(word []byte))
}

// TextIndex names a text index.
type TextIndex struct {
	Table   string   // whose rows are indexed
	Number  string   // column of the row number
	Columns []string // indexed columns, apart from grams; never empty
}

// Name is the name of the index in the database.
func (i TextIndex) Name() string { return i.Table + "_fts" }

// WordQuery asks a text index for rows.
type WordQuery struct {
	Bank   int64
	Alone  bool     // no other bank has rows in the index
	First  int64    // no row of the bank has a lower number
	Last   int64    // or a higher one
	Above  int64    // rows of higher numbers alone; 0 = all
	Forms  []string // any of these, each a word or several in succession; blank ones are left out
	Prefix string   // or a word that begins like this; "" for none
	Grams  bool     // look in grams, and else in the columns
	// From and Where narrow the result: what is joined to "x", whose column rowid is the row number, and further
	// conditions that begin with " AND "; Args are the arguments of both, in order.
	From, Where string
	Args        []any
	Limit       int
}
