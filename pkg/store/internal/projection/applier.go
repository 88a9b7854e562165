package projection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// The two kept streams as the store names them, whatever prefix the names of the broker have.
const (
	StreamMessages = schema.StreamMessages
	StreamWrites   = schema.StreamWrites
	// StreamDead stands in erasures alone, where the sequence is that of the message that the dead letter is about.
	StreamDead = schema.StreamDead
)

// applier applies events in one write transaction.
type applier struct {
	db    *DB
	tx    *engine.Tx
	cache *cache.Cache // nil when facts are not touched

	messages, facts, composites schema.Kind

	ops   map[opKey]string            // under which name ops were applied, "" for none; nil = not read ahead
	ids   messageIDs                  // of the messages being applied
	banks map[memory.BankID]*bankRow  // of the banks met in this transaction
	made  map[memory.BankID]time.Time // when banks that have a profile were made

	// renewed are the composites of the changes being applied that take the row of a removed one, by new id.
	renewed map[memory.CompositeID]memory.CompositeID
	put     map[memory.CompositeID]int64 // row numbers of the composites of the changes being applied
	stored  stored                       // of what they change
	known   *known                       // of the write being applied; nil once it changes something
	assumes bool                         // composites that no plan has read are taken for new ones (storedComposites)
	named   map[memory.EntityID]int      // by how many more live facts each entity is named (countEntities)

	counter  *schema.Counter  // of the transaction
	embedder *schema.Embedder // nil until it is read
	next     numbers
	erased   bool     // something was erased
	unnamed  []string // ids of entities that the write removed
	trim     []uint64 // writes whose outcomes lose their results, because they name such an entity
}

// apply runs fn as one write transaction.
func (db *DB) apply(ctx context.Context, fn func(a *applier) error) error {
	a := &applier{db: db, messages: schema.Messages(), facts: schema.Facts(), composites: schema.Composites(),
		banks: map[memory.BankID]*bankRow{}, made: map[memory.BankID]time.Time{}, next: numbers{}, named: map[memory.EntityID]int{}, counter: schema.NewCounter()}
	err := db.database.Write(ctx, func(tx *engine.Tx) error {
		a.tx = tx
		if err := fn(a); err != nil {
			return err
		}
		if err := a.counter.Write(tx); err != nil || !a.erased {
			return err
		}
		return tx.RequestScrub()
	})
	if err == nil && a.erased {
		db.database.Erased()
	}
	return err
}

// in returns the applier for statements that go together with others.
func (a *applier) in(tx *engine.Tx) *applier {
	other := *a
	other.tx = tx
	return &other
}

// advance is the fence: it moves the position of a stream from after to last. A position that is not after means that
// another owner moved it, which is memory.ErrConflict: fenced tells so once the database has answered something else.
func (a *applier) advance(stream string, after, last uint64) (fenced func() error, err error) {
	const move = `UPDATE applied SET seq = ? WHERE stream = ? AND part = 0 AND seq = ? RETURNING seq`
	if last < after {
		return nil, fmt.Errorf("apply %s from %d to %d: the end lies before the start: %w", stream, after, last, memory.ErrInvalid)
	}
	moved := false
	err = a.tx.NumbersLater(fmt.Sprintf("advance %s to %d", stream, last), move, []any{int64(last), stream, int64(after)}, func(int64) { moved = true })
	return func() error {
		if moved {
			return nil
		}
		return fmt.Errorf("advance %s from %d to %d: the store stands elsewhere, another consolidator was here: %w", stream, after, last, memory.ErrConflict)
	}, err
}

// advanceMessages is the fence of the messages: it moves their position.
func (a *applier) advanceMessages(from, to memory.MessagePosition) error {
	fenced, err := a.advance(StreamMessages, from.Seq, to.Seq)
	if err != nil {
		return err
	}
	from.Seq = to.Seq
	now, err := schema.Ahead(a.tx)
	if err := cmp.Or(err, fenced()); err != nil {
		return err
	}
	if !now.Equal(from) {
		return fmt.Errorf("the store has applied other messages ahead, another consolidator was here: %w", memory.ErrConflict)
	}
	if now.Equal(to) {
		return nil
	}
	if err := checkMove(now, to); err != nil {
		return err
	}
	if err := a.tx.Exec("move what is ahead", `DELETE FROM ahead`); err != nil || to.Ahead == 0 && len(to.Held) == 0 {
		return err
	}
	const put = `INSERT INTO ahead (bank, seq) VALUES (?, ?)`
	if err := a.tx.Exec("note how far banks are ahead", put, "", int64(to.Ahead)); err != nil {
		return err
	}
	for bank, seq := range to.Held {
		if err := a.tx.Exec(fmt.Sprintf("hold bank %q", string(bank)), put, string(bank), int64(seq)); err != nil {
			return err
		}
	}
	return nil
}

// checkMove checks that no bank moves back.
func checkMove(from, to memory.MessagePosition) error {
	banks := slices.AppendSeq(slices.Collect(maps.Keys(from.Held)), maps.Keys(to.Held))
	for _, bank := range append(banks, "") {
		if at := to.Of(bank); at < from.Of(bank) || at < to.Seq {
			return fmt.Errorf("move bank %q from message %d to %d, where all are at %d: %w", string(bank), from.Of(bank), at, to.Seq, memory.ErrInvalid)
		}
	}
	return nil
}

// noteEvent records the last of the writes as the event by which the log is known again.
func (a *applier) noteEvent(writes []memory.Write) error {
	if len(writes) == 0 || writes[len(writes)-1].Stored.IsZero() {
		return nil
	}
	last := writes[len(writes)-1]
	return a.note(StreamWrites, last.Seq, engine.Micros(last.Stored))
}

// note records an event of a stream, and when it was stored in microseconds, as the one by which the log is known again.
func (a *applier) note(stream string, seq uint64, stored int64) error {
	const note = `UPDATE applied SET event = ?, stored = ? WHERE stream = ? AND part = 0`
	return a.tx.Exec("note the last event", note, int64(seq), stored, stream)
}

// checkOrder checks that the sequence of an event is past the previous one and not past the end of the run.
func checkOrder(stream string, prev, seq, last uint64) error {
	if seq <= prev || seq > last {
		return fmt.Errorf("apply %s: event %d is out of order between %d and %d: %w", stream, seq, prev, last, memory.ErrInvalid)
	}
	return nil
}

// emit puts a change into the outbox, with the trace context that it is published with.
func (a *applier) emit(bank memory.BankID, c memory.Change, trace string) error {
	body, err := engine.JSON(queuedChange{c, trace})
	if err != nil {
		return fmt.Errorf("write change %s: %w", c.ID, err)
	}
	return a.tx.Exec("queue change "+c.ID, `INSERT INTO outbox (bank, what, body) VALUES (?, ?, ?)`, string(bank), c.What, body)
}

// each calls do in a bank for every item, up to the first error.
func each[T any](bank int64, list []T, do func(bank int64, item T) error) error {
	for _, v := range list {
		if err := do(bank, v); err != nil {
			return err
		}
	}
	return nil
}

// mostTogether bounds the items whose reads go to the database together: their answers are held in memory.
const mostTogether = 64

// eachTogether is each of items with keys of their own that change nothing of each other's: what is read for them goes to the
// database together (engine.Tx.Together). Where two have the same key, it is each.
func eachTogether[T any, K comparable](a *applier, list []T, key func(T) K, do func(a *applier, item T) error) error {
	keys := make(map[K]bool, len(list))
	for _, v := range list {
		keys[key(v)] = true
	}
	most := mostTogether
	if len(keys) < len(list) {
		most = 1
	}
	for some := range slices.Chunk(list, most) {
		run := make([]func(*engine.Tx) error, len(some))
		for i, v := range some {
			run[i] = func(tx *engine.Tx) error { return do(a.in(tx), v) }
		}
		if err := a.tx.Together(run...); err != nil {
			return err
		}
	}
	return nil
}

// inTurn runs steps up to the first error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// numbers are the highest row numbers of tables, ascending, as far as they are known: a new row gets one more than the highest
// there is. They are the transaction's. 0 stands below all rows of a table.
type numbers map[string][]int64

// numbersAtOnce is how many numbers are read of a table: rows that are removed leave theirs to the next.
const numbersAtOnce = 32

// read reads the highest numbers of a table, unless they are known.
func (n numbers) read(tx *engine.Tx, table string) error {
	if len(n[table]) > 0 {
		return nil
	}
	found, err := engine.Column[int64](tx, "read the highest numbers of "+table, `SELECT no FROM `+table+` ORDER BY no DESC LIMIT ?`, numbersAtOnce)
	if err == nil && len(n[table]) == 0 { // another function that runs together with this one may have read and taken some
		if len(found) < numbersAtOnce {
			found = append(found, 0)
		}
		slices.Reverse(found)
		n[table] = found
	}
	return err
}

// take returns the number of a new row of a table.
func (n numbers) take(tx *engine.Tx, table string) (int64, error) {
	if err := n.read(tx, table); err != nil {
		return 0, err
	}
	known := n[table]
	no := known[len(known)-1] + 1
	n[table] = append(known, no)
	return no, nil
}

// removed notes that a row of a table was removed.
func (n numbers) removed(table string, no int64) {
	if at, found := slices.BinarySearch(n[table], no); found {
		n[table] = slices.Delete(n[table], at, at+1)
	}
}
