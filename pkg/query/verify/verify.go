// Package verify checks a store: by itself, and against the log it was made from.
//
// Store runs every check and returns a wire.Verification, which names tables, ids and numbers and never text. The store
// checks itself (its file, its indexes, what must hold within and between its tables). Against the log it is checked that
// the store is not ahead of it, that the log holds the messages of the store (in full also that it holds no others, that it
// holds the writes of the store, and that all that the streams count can be read), and that what commits left behind is
// carried out: changes published, forgotten events erased.
package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Options say how a store is checked.
type Options struct {
	Full bool // every index of the file, every row and all of the log, where a part is enough otherwise
	// Stopped says that no consolidator runs, so what waits for one is no problem.
	Stopped bool
	// Patience is how long the first entry of a queue may stay the first; 0 = 10 s.
	Patience time.Duration
}

// Verifiable is what a check asks of a store.
type Verifiable interface {
	// Applied returns the last applied sequences of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// LogPositions returns how far the store has applied the same, and what tells that log from another.
	LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error)
	// Verify checks the file, its indexes, and what must hold within and between its tables; in full every row and index.
	Verify(ctx context.Context, full bool) (wire.Verification, error)
	// MessageEvents returns up to limit message events past a sequence that the store has stored, forgotten ones too, by
	// sequence.
	MessageEvents(ctx context.Context, after uint64, limit int) ([]MessageEvent, error)
	// AppliedWrites returns the sequences of up to limit writes past one that the store has applied, ascending. Writes that
	// repeated an op are left out.
	AppliedWrites(ctx context.Context, after uint64, limit int) ([]uint64, error)
	// Queues tells what work commits have left behind, of each shard.
	Queues(ctx context.Context) ([]Queues, error)
}

// Parts is what a store of several shards has besides: each is at a position of its own.
type Parts interface {
	LogStores() []events.LogStore
}

// MessageEvent is a message event that the store has stored.
type MessageEvent struct {
	Seq       uint64
	Bank      memory.BankID
	Forgotten bool // it is in the log only until it is erased there
}

// Queues is the work that commits of one store have left behind: how many entries, and the number of the first; and what of
// it cannot be done.
type Queues struct {
	Changes      int // to be published
	FirstChange  int64
	Erasures     int // stream events to be erased
	FirstErasure int64
	Damaged      int // forgotten stream events that cannot be erased: the broker cannot read them
}

// Store checks a store by itself, and against the log unless conn is nil.
func Store(ctx context.Context, conn *events.Conn, store Verifiable, o Options) (wire.Verification, error) {
	v, err := store.Verify(ctx, o.Full)
	if err != nil {
		return v, err
	}
	c := &logCheck{conn: conn, store: store, v: &v, unreadable: wire.Check{Rule: readableRule}}
	if conn == nil {
		c.skip(positionRule, "there is no log to compare the store with")
		return v, nil
	}
	for _, check := range []func(context.Context, Options) error{c.positions, c.messages, c.everyWrite, c.readable, c.queues} {
		if err := check(ctx, o); err != nil {
			return v, err
		}
	}
	return v, nil
}

// logCheck compares the store with the log.
type logCheck struct {
	conn  *events.Conn
	store Verifiable
	v     *wire.Verification

	unreadable wire.Check // the events that the streams count and do not give out
}

func (c *logCheck) skip(rule, why string) { c.v.Add(wire.Check{Rule: rule, Skipped: why}) }

const positionRule = "the store is not ahead of the log"

// positions checks that everything applied was published.
func (c *logCheck) positions(ctx context.Context, _ Options) error {
	messages, writes, err := c.store.Applied(ctx)
	if err != nil {
		return err
	}
	out := wire.Check{Rule: positionRule}
	for _, p := range []struct {
		stream  string
		applied uint64
	}{{c.conn.Naming.Messages(), messages}, {c.conn.Naming.Writes(), writes}} {
		last, err := c.conn.EndOf(ctx, p.stream, p.applied)
		if err != nil {
			return err
		}
		if p.applied > last {
			out.Broken++
			out.Where = append(out.Where, fmt.Sprintf("%s ends at %d, the store stands at %d", p.stream, last, p.applied))
		}
	}
	parts := []events.LogStore{c.store}
	if s, ok := c.store.(Parts); ok {
		parts = s.LogStores()
	}
	for _, part := range parts {
		if out.Broken > 0 {
			break
		}
		if _, _, err := c.conn.CheckLog(ctx, part); errors.Is(err, memory.ErrConflict) {
			note(&out, err.Error())
		} else if err != nil {
			return err
		}
	}
	c.v.Add(out)
	return nil
}

// inLog reports whether the log holds a message event.
func (c *logCheck) inLog(ctx context.Context, k MessageEvent) (bool, error) {
	e, err := c.conn.EventAt(ctx, c.conn.Naming.Messages(), k.Seq)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && e.Kind == events.KindMessage && e.Bank == k.Bank, err
}
