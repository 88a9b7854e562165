package consolidate

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/backfill"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/erasure"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/outbox"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Store is what consolidation asks of a backend, whose only writer it is. The Apply methods take a contiguous run of a
// stream: after is the sequence applied so far, last the one the run ends at (events of other subjects may lie
// between). Each is one transaction. When the stored position is not after, another owner has been there: the error is
// memory.ErrConflict, and the caller stands down.
type Store interface {
	outbox.Store
	erasure.Store
	backfill.Store
	// ApplyMessages stores message events. It never reads facts. The first event of an id wins; a later one is stored
	// as a duplicate event without its text.
	ApplyMessages(ctx context.Context, after, last uint64, events []MessageEvent) error
	// ApplyMessagesAhead is ApplyMessages where banks are applied ahead of others: it moves the position of the messages
	// from one to another, by a run whose events are past what from says of their banks.
	ApplyMessagesAhead(ctx context.Context, from, to memory.MessagePosition, events []MessageEvent) error
	// MessagePosition returns how far MEM_MESSAGES is applied.
	MessagePosition(ctx context.Context) (memory.MessagePosition, error)
	// ApplyWrites runs decide for each write in order, each on the store as the writes before it left it, and applies
	// what it returns. An op that was applied before changes nothing.
	ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error
	// LogPositions returns how far the store has applied MEM_MESSAGES and MEM_WRITES.
	LogPositions(ctx context.Context) (messages, writes memory.LogPosition, err error)
	// AdoptLog records the identities of the streams that are applied from now on.
	AdoptLog(ctx context.Context, messages, writes string) error
	// MessageStates counts the message events of all banks by state.
	MessageStates(ctx context.Context) (map[memory.MessageState]int64, error)
}

// MessageEvent is one event of MEM_MESSAGES as the store keeps it.
type MessageEvent struct {
	Seq     uint64
	Bank    memory.BankID
	Session memory.SessionID
	Stored  time.Time
	State   memory.MessageState // pending for a message, dead for a malformed one
	Message *memory.Message     // nil for a dead one
	// ID and Speaker are what can be read of a malformed message, so that a forget of either finds it; "" = nothing.
	ID      memory.MessageID
	Speaker string
	Indexed string // content with secrets redacted; "" = the content itself
	// Erased is the id of a message that is forgotten and erased from the log; its State says so and Message is nil.
	Erased memory.MessageID
	Trace  string // trace context of its change; "" = none. It is not kept with the message
}

// Backlog is what of one bank waits for a language model.
type Backlog struct {
	Bank      memory.BankID
	Decisions int // facts
	Summaries int // composites
	Requests  int // requests to observe or to consolidate
	// OldestDecision and OldestSummary are the times of the writes that the longest waiting ones came with; zero
	// without one.
	OldestDecision, OldestSummary time.Time
}

// Unobserved is a bank with facts that no model has observed yet.
type Unobserved struct {
	Bank  memory.BankID
	Facts int
}
