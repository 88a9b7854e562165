package schema

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Counter gathers in a write transaction what follows from the rows that it writes: how many records a bank has (row_counts),
// how many of its message events are in each state (state_counts) and pending in each session (pending_counts), and which
// vectors came, changed or went (vector_changes). Write writes it. Who writes a row tells it; nothing of these tables may be
// read in the transaction before.
type Counter struct {
	records map[recordsOf]*recordChange
	states  map[stateOf]int64
	pending map[sessionOf]int64
	vectors int // noted so far
}

type recordsOf struct {
	bank   int64
	record memory.Record
}

// recordChange is what happened to the records of a bank.
type recordChange struct {
	n, gone     int64
	came        bool
	first, last int64   // row numbers of those that came
	vectors     []int64 // row numbers of those whose vector came, changed or went
}

type stateOf struct {
	bank  int64
	state memory.MessageState
}

type sessionOf struct {
	bank    int64
	session memory.SessionID
}

// NewCounter returns an empty counter.
func NewCounter() *Counter {
	return &Counter{records: map[recordsOf]*recordChange{}, states: map[stateOf]int64{}, pending: map[sessionOf]int64{}}
}

func (t *Counter) of(bank int64, r memory.Record) *recordChange {
	key := recordsOf{bank, r}
	c := t.records[key]
	if c == nil {
		c = &recordChange{}
		t.records[key] = c
	}
	return c
}

// Came counts a record with the row number no that was not there.
func (t *Counter) Came(bank int64, r memory.Record, no int64) {
	c := t.of(bank, r)
	if !c.came {
		c.came, c.first, c.last = true, no, no
	}
	c.n, c.first, c.last = c.n+1, min(c.first, no), max(c.last, no)
}

// Went counts a record that was there, and whose words went with it.
func (t *Counter) Went(bank int64, r memory.Record) {
	c := t.of(bank, r)
	c.n, c.gone = c.n-1, c.gone+1
}

// Reworded notes that words of a record went.
func (t *Counter) Reworded(bank int64, r memory.Record) { t.of(bank, r).gone++ }

// Vector notes that the vector of a record came, changed or went. One too many does no harm.
func (t *Counter) Vector(bank int64, r memory.Record, no int64) {
	c := t.of(bank, r)
	c.vectors = append(c.vectors, no)
	t.vectors++
}

// Turned notes that a record is or was one that no search without a filter finds (Kind.Hidden).
func (t *Counter) Turned(bank int64, r memory.Record, no int64) { t.Vector(bank, r, no) }

// Vectors returns how many changes of vectors were noted in the transaction.
func (t *Counter) Vectors() int { return t.vectors }

// Event counts a message event of a session that goes from one state to another; "" for one that was not there.
func (t *Counter) Event(bank int64, s memory.SessionID, from, to memory.MessageState) {
	add := func(state memory.MessageState, n int64) {
		if state == "" {
			return
		}
		t.states[stateOf{bank, state}] += n
		if state == memory.StatePending {
			t.pending[sessionOf{bank, s}] += n
		}
	}
	add(from, -1)
	add(to, 1)
}

// Write writes what was gathered, and empties the counter.
func (t *Counter) Write(tx *engine.Tx) error {
	for key, c := range t.records {
		if err := c.write(tx, key); err != nil {
			return err
		}
	}
	for key, n := range t.states {
		const add = `INSERT INTO state_counts (bank, state, n) VALUES (?, ?, ?) ON CONFLICT (bank, state) DO UPDATE SET n = state_counts.n + excluded.n`
		if n == 0 {
			continue
		}
		if err := tx.Exec("count message events", add, key.bank, string(key.state), n); err != nil {
			return err
		}
	}
	for key, n := range t.pending {
		if err := countPending(tx, key, n); err != nil {
			return err
		}
	}
	clear(t.records)
	clear(t.states)
	clear(t.pending)
	return nil
}

// write writes what happened to the records of a bank. One that came with a number that another had before counts as gone too:
// who knows the rows up to a number looks for those above it alone.
func (c *recordChange) write(tx *engine.Tx, key recordsOf) error {
	const (
		add = `INSERT INTO row_counts (bank, record, n, gone, first, last) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (bank, record) DO UPDATE
SET n = row_counts.n + excluded.n, gone = row_counts.gone + excluded.gone + CASE WHEN excluded.first <= row_counts.last THEN 1 ELSE 0 END,
  first = CASE WHEN excluded.first < row_counts.first THEN excluded.first ELSE row_counts.first END,
  last = CASE WHEN excluded.last > row_counts.last THEN excluded.last ELSE row_counts.last END`
		change = `UPDATE row_counts SET n = n + ?, gone = gone + ? WHERE bank = ? AND record = ?`
		note   = `INSERT INTO vector_changes (bank, record, no) SELECT ?, ?, value FROM json_each(?)`
	)
	what, bank, record := fmt.Sprintf("count %ss", key.record), key.bank, string(key.record)
	var err error
	switch {
	case c.came:
		err = tx.Exec(what, add, bank, record, c.n, c.gone, c.first, c.last)
	case c.n != 0 || c.gone != 0:
		err = tx.Exec(what, change, c.n, c.gone, bank, record)
	}
	if err != nil || len(c.vectors) == 0 {
		return err
	}
	return tx.Exec("note changes of vectors", note, bank, record, engine.List(c.vectors))
}

// countPending adds n to the pending messages of a session. A session without any has no row.
func countPending(tx *engine.Tx, key sessionOf, n int64) error {
	const (
		add    = `INSERT INTO pending_counts (bank, session, n) VALUES (?, ?, ?) ON CONFLICT (bank, session) DO UPDATE SET n = pending_counts.n + excluded.n`
		remove = `DELETE FROM pending_counts WHERE bank = ? AND session = ? AND n = 0`
	)
	what, session := "count pending messages", engine.Text(string(key.session))
	if n == 0 {
		return nil
	}
	if err := tx.Exec(what, add, key.bank, session, n); err != nil || n > 0 {
		return err
	}
	return tx.Exec(what, remove, key.bank, session)
}

// beforeErasure writes what was gathered, and notes that every vector and every hidden row of a bank goes.
func (t *Counter) beforeErasure(tx *engine.Tx, s Schema, bank int64) error {
	if err := t.Write(tx); err != nil {
		return err
	}
	for _, k := range s.Kinds {
		if k.Vectors.Table == "" {
			continue
		}
		note := fmt.Sprintf(`INSERT INTO vector_changes (bank, record, no) SELECT bank, '%s', %s FROM %s WHERE bank = ?`, k.Record, k.Vectors.Number, k.Vectors.Table)
		if err := tx.Exec("note that vectors go", note, bank); err != nil {
			return err
		}
		note = fmt.Sprintf(`INSERT INTO vector_changes (bank, record, no) SELECT %d, '%s', h.no FROM (%s) h`, bank, k.Record, k.AllHidden)
		if err := tx.Exec("note that hidden rows go", note, bank); err != nil {
			return err
		}
	}
	return nil
}

// afterErasure counts what an erasure left of a bank.
func (t *Counter) afterErasure(tx *engine.Tx, s Schema, bank int64) error {
	statements := []string{
		`DELETE FROM state_counts WHERE bank = ?1`,
		`INSERT INTO state_counts (bank, state, n) SELECT bank, state, count(*) FROM message_events WHERE bank = ?1 GROUP BY bank, state`,
		`DELETE FROM pending_counts WHERE bank = ?1`,
		`INSERT INTO pending_counts (bank, session, n) SELECT bank, session, count(*) FROM message_events
WHERE bank = ?1 AND state = 'pending' GROUP BY bank, session`,
	}
	for _, k := range s.Records() {
		statements = append(statements, fmt.Sprintf(`UPDATE row_counts SET n = (SELECT count(*) FROM %s WHERE bank = ?1), gone = gone + 1
WHERE bank = ?1 AND record = '%s'`, k.Table, k.Record))
	}
	for _, s := range statements {
		if err := tx.Exec("count what is left of the bank", s, bank); err != nil {
			return err
		}
	}
	return nil
}
