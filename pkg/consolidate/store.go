package consolidate

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PlanFunc decides what a write changes, from the view alone.
type PlanFunc func(View, memory.Write) (memory.Changes, error)

// Store is what the consolidator asks of a backend. It is the store's only
// writer. Apply methods take a contiguous run of a stream: after is the
// sequence applied so far, last the sequence the run ends at (events of other
// subjects may lie between). They are one transaction each; when the stored
// position is not after, another owner was there and the error is
// memory.ErrConflict: stand down.
type Store interface {
	LateStore
	// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied(ctx context.Context) (messages, writes uint64, err error)
	// ApplyMessages stores message events. It never reads facts. The first event
	// of an id wins; a later one is stored as a duplicate event without its text.
	ApplyMessages(ctx context.Context, after, last uint64, events []MessageEvent) error
	// ApplyWrites runs plan for each write in order, each on the store as the
	// writes before it left it, and applies what it returns. An op that was
	// applied before changes nothing.
	ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, plan PlanFunc) error

	// Outbox gives up to limit changes that were committed and not yet marked sent, oldest first.
	Outbox(ctx context.Context, limit int) ([]OutboxEntry, error)
	// Sent removes outbox entries up to a number.
	Sent(ctx context.Context, upto int64) error
	// Erasures gives up to limit stream events that a forget still has to erase.
	Erasures(ctx context.Context, limit int) ([]Erasure, error)
	// Erased removes erasures up to a number: they were carried out.
	Erased(ctx context.Context, upto int64) error
	// MessageStates counts the message events of all banks by what became of them.
	MessageStates(ctx context.Context) (map[memory.MessageState]int64, error)
	// KnownFacts reports which of the facts the store has, in any state.
	KnownFacts(ctx context.Context, ids []memory.FactID) (map[memory.FactID]bool, error)
	// AppliedDecisions gives the decisions of models about these facts that were
	// applied, by fact, target and write.
	AppliedDecisions(ctx context.Context, bank memory.BankID, facts []memory.FactID) ([]memory.DecisionResult, error)
	// KnownObservations reports which of the observations the store has.
	KnownObservations(ctx context.Context, ids []memory.ObservationID) (map[memory.ObservationID]bool, error)
}

// MessageEvent is one event of MEM_MESSAGES as the store keeps it.
type MessageEvent struct {
	Seq     uint64
	Bank    memory.BankID
	Session memory.SessionID
	Stored  time.Time
	// State is pending for a message, dead for a malformed one. Flushes,
	// foreign events and events of undecodable subjects are not given at all.
	State   memory.MessageState
	Message *memory.Message // nil for a dead one
	Indexed string          // content with secrets redacted; "" = the content itself
	Trace   string          // trace context that its change goes out with; "" = none. Not kept with the message
}

// OutboxEntry is a committed change on its way out.
type OutboxEntry struct {
	No     int64
	Bank   memory.BankID
	Change memory.Change
	Trace  string // of the write or the message event that brought it about
}

// Erasure is a stream event to secure-delete.
type Erasure struct {
	No     int64
	Bank   memory.BankID
	Stream string
	Seq    uint64
	Op     string
	Whole  bool // of a write: nothing of it stays, for its bank was erased
}
