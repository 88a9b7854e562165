// Package search answers queries from the tables of a store: it is the reading half of the driver.
//
// A Store runs a function on one unchanging state of a bank, which it sees as a Reader. A Reader implements
// recall.Searcher, which sees a bank through a filter, and query.Reader, which sees every record. A filter is turned
// into SQL conditions once (filter.go). When an index leads to all rows that pass it and they are few, they are listed
// first, and searches look only among them (passing.go).
//
// Keyword search asks the text index for the rows that contain a term, the latest first; ranking is the caller's.
// Vector search compares every vector of a small bank; of a large bank a process holds sketches in memory, which name
// a few hundred candidates, and those are compared exactly (vectors.go, sketches.go).
package search

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// Config says when searches use sketches and lists.
type Config struct {
	SketchFrom int // facts or messages of a bank from which their vectors are sketched in memory; at least 1
	ListUpTo   int // rows that may pass a filter for them to be listed first; 0 = they never are
	Log        zerolog.Logger
}

// Store answers queries. It is safe for concurrent use.
type Store struct {
	database engine.Database
	schema   schema.Schema
	config   Config
	sketches sketches
	unlooked atomic.Int64 // vectors that may change until Maintain looks at what there is

	vocabularies *vocabularies
	held         *heldVectors
	rows         *heldRows
	following    sync.Once    // of rows that went
	rowsSeed     maphash.Seed // of the names that words are held by
}

// NewStore returns the reading half of a store over a database, which is closed by its owner.
func NewStore(c Config, database engine.Database, s schema.Schema) *Store {
	return &Store{database: database, schema: s, config: c, vocabularies: newVocabularies(), held: newHeldVectors(heldBytes),
		rows: newHeldRows(), rowsSeed: maphash.MakeSeed()}
}

// Reader reads one state of one bank. It lives as long as the transaction it reads in.
type Reader struct {
	store  *Store
	tx     *engine.Tx // its context does not end, which saves the driver a goroutine per statement
	bank   int64
	id     memory.BankID
	filter filter
	counts map[memory.Record]counted  // of the records that the bank has or had
	stems  map[memory.Record][]uint32 // of a record, once asked; nil = they are not kept
	ahead  map[memory.Record]*scan    // begun by Prefetch
	passes *passes                    // shared with second readers
	ends   []func()                   // run at the end of this reader

	firstChange, lastChange int64 // of the vector changes that there are
}

var (
	_ recall.Searcher = (*Reader)(nil)
	_ query.Reader    = (*Reader)(nil)
)

// counted is what is known of the rows of a record that a bank has.
type counted struct {
	n           int
	first, last int64 // no row has a number below or above
	alone       bool  // no other bank has rows of the record
	gone        int64 // how often rows went
}

// Search runs fn on one unchanging state of a bank, narrowed by f.
func (s *Store) Search(ctx context.Context, bank memory.BankID, f memory.Filter, fn func(recall.Searcher) error) error {
	return s.readBank(ctx, bank, func(r *Reader) error {
		var err error
		if r.filter, err = r.newFilter(f); err != nil {
			return err
		}
		if err = r.listAhead(); err != nil {
			return err
		}
		if r.filter.Plain {
			if err = r.followRows(); err != nil {
				return err
			}
		}
		defer r.end()
		return fn(r)
	})
}

// end waits for the scans that r began and ends its second readers.
func (r *Reader) end() {
	r.awaitScans()
	for _, end := range r.ends {
		end()
	}
}

// Read runs fn on one unchanging state of a bank.
func (s *Store) Read(ctx context.Context, bank memory.BankID, fn func(query.Reader) error) error {
	return s.readBank(ctx, bank, func(r *Reader) error { return fn(r) })
}

// Transaction runs fn in a read transaction with the row number of a bank. A bank that does not exist is
// memory.ErrNotFound.
func (s *Store) Transaction(ctx context.Context, bank memory.BankID, fn func(tx *engine.Tx, bank int64) error) error {
	return s.database.Read(ctx, func(tx *engine.Tx) error {
		tx = tx.With(context.WithoutCancel(ctx))
		var no int64
		found, err := tx.Find(fmt.Sprintf("look up bank %q", string(bank)), `SELECT no FROM banks WHERE id = ? AND profile <> ''`, []any{string(bank)}, &no)
		if err != nil {
			return err
		}
		if !found {
			return missing(bank)
		}
		return fn(tx, no)
	})
}

// readBank runs fn on a reader of a bank. A bank that does not exist is memory.ErrNotFound.
func (s *Store) readBank(ctx context.Context, bank memory.BankID, fn func(*Reader) error) error {
	return s.database.Read(ctx, func(tx *engine.Tx) error {
		r := &Reader{store: s, tx: tx.With(context.WithoutCancel(ctx)), id: bank, passes: &passes{},
			counts: map[memory.Record]counted{}, stems: map[memory.Record][]uint32{}, ahead: map[memory.Record]*scan{}}
		// Whether another bank has rows tells the text index whether every row is the bank's (WordQuery.Alone).
		const find = `SELECT b.no, coalesce(c.record, ''), coalesce(c.n, 0), coalesce(c.first, 0), coalesce(c.last, 0), coalesce(c.gone, 0),
  NOT EXISTS (SELECT 1 FROM row_counts o WHERE o.record = c.record AND o.bank <> b.no AND o.n > 0), ` + changesThere + `
FROM banks b LEFT JOIN row_counts c ON c.bank = b.no WHERE b.id = ? AND b.profile <> ''`
		err := r.tx.Batch(fmt.Sprintf("look up bank %q", string(bank)), 9, find, []any{string(bank)}, func(row *engine.Rowset) error {
			r.bank = row.Int()
			r.counts[memory.Record(row.Text())] = counted{n: int(row.Int()), first: row.Int(), last: row.Int(), gone: row.Int(), alone: row.Bool()}
			r.firstChange, r.lastChange = row.Int(), row.Int()
			return nil
		})
		if err != nil {
			return err
		}
		if r.bank == 0 {
			return missing(bank)
		}
		return fn(r)
	})
}

func missing(bank memory.BankID) error {
	return fmt.Errorf("bank %q: %w", string(bank), memory.ErrNotFound)
}

// Together runs functions that read one state, each with the reader that it is given. Where a database is far away, what
// they read is asked for together: one of them runs at a time, up to its next read. rest returns when the others went on,
// false when that is over because one of them failed; elsewhere they run one after the other, and it returns at once.
func (r *Reader) Together(fns ...func(s recall.Searcher, rest func() bool) error) error {
	if _, far := r.tx.Engine().(engine.Sender); !far {
		for _, fn := range fns {
			if err := fn(r, func() bool { return true }); err != nil {
				return err
			}
		}
		return nil
	}
	inner := make([]func(*engine.Tx, func() bool) error, len(fns))
	for i, fn := range fns {
		inner[i] = func(tx *engine.Tx, rest func() bool) error {
			other := *r
			other.tx = tx
			return fn(&other, rest)
		}
	}
	return r.tx.Interleave(inner...)
}

// SecondReader returns a reader of the same state and filter on another connection, for one more goroutine; nil when there
// is none to spare. It ends with this one.
func (r *Reader) SecondReader() (recall.Searcher, error) {
	tx, release, err := r.store.database.Second(r.tx)
	if err != nil || tx == nil {
		return nil, err
	}
	second := &Reader{store: r.store, tx: tx, bank: r.bank, id: r.id, filter: r.filter, passes: r.passes, counts: r.counts,
		firstChange: r.firstChange, lastChange: r.lastChange,
		stems: map[memory.Record][]uint32{}, ahead: map[memory.Record]*scan{}}
	r.ends = append(r.ends, func() {
		second.end()
		release()
	})
	return second, nil
}

// Applied returns the sequence of MEM_MESSAGES up to which the messages of the bank are applied, and the last applied one
// of MEM_WRITES.
func (r *Reader) Applied() (messages, writes uint64, err error) { return schema.AppliedOf(r.tx, r.id) }

// Bank returns the profile of the bank.
func (r *Reader) Bank() (memory.Bank, error) {
	var raw []byte
	var b memory.Bank
	what := fmt.Sprintf("read the profile of bank %d", r.bank)
	err := r.tx.Get(what, `SELECT profile FROM banks WHERE no = ?`, []any{r.bank}, &raw)
	if err == nil {
		err = engine.FromJSON(raw, &b)
	}
	return b, err
}

// inOrderAsked returns rows in the order of the numbers they were asked for by, each once. Rows that were asked for in
// ascending order usually come so.
func inOrderAsked[V any](nos []int64, rows []V, number func(V) int64) []V {
	asked := slices.IsSorted(nos)
	for i := 1; asked && i < len(rows); i++ {
		asked = number(rows[i-1]) < number(rows[i])
	}
	if asked {
		return rows
	}
	found := make(map[int64]V, len(rows))
	for _, row := range rows {
		found[number(row)] = row
	}
	return engine.InOrder(nos, found)
}
