package query

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/recall"
	"github.com/eunoe-memory/eunoe/pkg/query/reflect"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Store is what the query service asks of a backend. Implementations are safe for concurrent use. Every answer is
// deterministic: equal stores give equal answers in equal order.
type Store interface {
	recall.Store
	// Read runs fn on one unchanging state of a bank, every record in it. A bank that was never made is
	// memory.ErrNotFound.
	Read(ctx context.Context, bank memory.BankID, fn func(Reader) error) error
	// Outcome returns the outcome of an op that was applied; nil if it was not.
	Outcome(ctx context.Context, bank memory.BankID, op string) (*memory.WriteOutcome, error)
	// Banks returns up to limit banks whose id is past after, by id.
	Banks(ctx context.Context, after memory.BankID, limit int) ([]memory.Bank, error)
	// Warm prepares in the background what makes searches fast, and returns at once. Searches are right without it.
	Warm()
	// Sketches tells what this process holds in memory to search vectors fast.
	Sketches() Sketches
	verify.Verifiable
}

// Sketches describes the vectors that a process holds in memory, shortened, to find those that may be near without
// comparing all.
type Sketches struct {
	Banks    int   `json:"banks"`    // with sketches of their facts, their messages or both
	Rows     int   `json:"rows"`     // vectors that are sketched
	Held     int   `json:"held"`     // vectors that are held as they are, of a store on a server
	Bytes    int64 `json:"bytes"`    // memory that both take, and what else is held of large banks, of a store on a server
	Building int   `json:"building"` // large banks, by record, whose sketches are being built: every vector is compared
}

// Reader reads one state of a bank, every record in every state.
type Reader interface {
	write.Reader
	// Applied returns the sequence of MEM_MESSAGES up to which the messages of the bank are applied, and the last applied
	// one of MEM_WRITES.
	Applied() (messages, writes uint64, err error)
	// Item returns one record by id as an item; nil if there is none. A message's id may look like another record's:
	// records are looked up first.
	Item(id string) (*memory.Item, error)
	// PointingTo returns the facts superseded by or merged into one of the ids, by id.
	PointingTo(ids []memory.FactID) ([]memory.FactID, error)
	// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and write.
	DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error)

	Lister
	Accounts
}

// Lister pages through records. A position is where the page before ended; its zero value is the start.
type Lister interface {
	// List returns up to limit records of r that pass f, ordered by the time they
	// were said, and the position after the last; it is zero at the end.
	List(r memory.Record, f memory.Filter, oldestFirst bool, from Position, limit int) ([]memory.Item, Position, error)
	// Roots returns up to limit composites that stand under no other, by descending level and then id.
	Roots(from Position, limit int) ([]memory.Item, Position, error)
	// Children returns the direct children of composites as items, by id of parent then child.
	Children(parent memory.CompositeID) ([]memory.Item, error)
	// Entities returns up to limit entities of a type ("" = all) whose name or
	// alias holds match (NormalText), redirected ones left out, by id.
	Entities(typ memory.EntityType, match string, from Position, limit int) ([]memory.Entity, Position, error)
	// Sessions returns up to limit sessions with stored messages, by the sequence of the last of them, the greatest first
	// unless oldestFirst. Until is when the last pending message was stored; nil where none is.
	Sessions(oldestFirst bool, from Position, limit int) ([]wire.Session, Position, error)
	// Windows returns up to limit windows that ended, of a session ("" = all), the last end first.
	Windows(session memory.SessionID, from Position, limit int) ([]wire.WindowStatus, Position, error)
	// Located returns up to limit ids of message events by sequence, in that order and without those that have none, and
	// up to limit sessions with how many of the events are theirs, those with the most first and then by name.
	Located(seqs []uint64, limit int) ([]memory.MessageID, []wire.SessionCount, error)
	// Conflicts returns up to limit conflicts in a state ("" = all), by id.
	Conflicts(state memory.ConflictState, from Position, limit int) ([]memory.Conflict, Position, error)
}

// Position is where a page ended: the last row's sort value and its number or id.
type Position struct {
	At int64
	No int64
	ID string
}

// IsZero reports the start, or the end, of a list.
func (p Position) IsZero() bool { return p == Position{} }

// Accounts counts a bank's state for status.
type Accounts interface {
	// Conservation counts message events by what became of them.
	Conservation() (memory.Conservation, error)
	// PendingQuestions counts what of a kind waits for a model.
	PendingQuestions(kind memory.PendingKind) (int, error)
	// Pending gives, for each session with pending messages, how many, the first
	// and last of them, by session; at most limit sessions.
	Pending(limit int) ([]PendingSession, error)
	// Usage returns what models took for the bank, by stage and model.
	Usage() ([]memory.StageUsage, error)
}

// PendingSession is a session whose messages have not ended in a window yet.
type PendingSession struct {
	Session     memory.SessionID
	Messages    int
	First, Last uint64    // sequences
	Oldest      time.Time // stream timestamp of the first
	Newest      time.Time // stream timestamp of the last
}

// reflectStore narrows the store's reader to what reflect reads.
type reflectStore struct{ Store }

// Read implements reflect.Store.
func (s reflectStore) Read(ctx context.Context, bank memory.BankID, fn func(reflect.Reader) error) error {
	return s.Store.Read(ctx, bank, func(r Reader) error { return fn(r) })
}

// writeStore narrows the store's reader to what writes read.
type writeStore struct{ Store }

// Read implements write.Store.
func (s writeStore) Read(ctx context.Context, bank memory.BankID, fn func(write.Reader) error) error {
	return s.Store.Read(ctx, bank, func(r Reader) error { return fn(r) })
}
