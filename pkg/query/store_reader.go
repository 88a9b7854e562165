package query

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Reader reads one state of a bank, every record in every state.
type Reader interface {
	// Applied gives the last applied sequence of MEM_MESSAGES and MEM_WRITES.
	Applied() (messages, writes uint64, err error)
	// Bank gives the profile.
	Bank() (memory.Bank, error)
	// Item gives one record by id as an item; nil if there is none. A message's
	// id may look like another record's: records are looked up first.
	Item(id string) (*memory.Item, error)
	// FactItems gives facts by id, in the order asked, in any state.
	FactItems(ids []memory.FactID) ([]memory.Item, error)
	// PointingTo gives the facts superseded by or merged into one of the ids, by id.
	PointingTo(ids []memory.FactID) ([]memory.FactID, error)
	// DecisionsOf gives what became of a model's decisions that one of the facts
	// was party to, by fact, target and write.
	DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error)
	// ObservationsByID gives observations by id, in the order asked.
	ObservationsByID(ids []memory.ObservationID) ([]memory.Observation, error)
	// WindowOf gives the end of the window in which a message was new; nil while
	// there is none, or where the message is not known.
	WindowOf(id memory.MessageID) (*WindowResult, error)
	// SourcesNamed gives messages as sources, by sequence; those that are not
	// in the bank are left out. Start is when each was said.
	SourcesNamed(ids []memory.MessageID) ([]memory.Source, error)

	Lister
	Accounts
}

// Lister pages through records. A place says where the page before ended; its
// zero value is the start.
type Lister interface {
	// List gives up to limit records of r that pass f, ordered by the time they
	// were said, and the place after the last; the place is zero at the end.
	List(r memory.Record, f memory.Filter, oldestFirst bool, from Place, limit int) ([]memory.Item, Place, error)
	// Roots gives up to limit composites that stand under no other, by
	// descending level and then id.
	Roots(from Place, limit int) ([]memory.Item, Place, error)
	// Children gives the direct children of composites as items, by id of parent then child.
	Children(parent memory.CompositeID) ([]memory.Item, error)
	// Entities gives up to limit entities of a type ("" = all) whose name or
	// alias holds match (NormalText), redirected ones left out, by id.
	Entities(typ memory.EntityType, match string, from Place, limit int) ([]memory.Entity, Place, error)
	// Conflicts gives up to limit conflicts in a state ("" = all), by id.
	Conflicts(state memory.ConflictState, from Place, limit int) ([]memory.Conflict, Place, error)
}

// Place is where a page ended: the last row's sort value and its number or id.
type Place struct {
	At int64
	No int64
	ID string
}

// IsZero reports the start, or the end, of a list.
func (p Place) IsZero() bool { return p == Place{} }

// Accounts counts a bank's state for status.
type Accounts interface {
	// Conservation counts message events by what became of them.
	Conservation() (memory.Conservation, error)
	// PendingDecisions counts the facts that wait for a model's decision.
	PendingDecisions() (int, error)
	// Tally counts live facts, composites, observations, entities and open conflicts.
	Tally() (Tally, error)
	// Pending gives, for each session with pending messages, how many, the first
	// and last of them, by session; at most limit sessions.
	Pending(limit int) ([]PendingSession, error)
	// Bytes sums up the text and captions of the bank's messages.
	Bytes() (int64, error)
	// Usage gives what models took for the bank, by stage and model.
	Usage() ([]memory.StageUsage, error)
}

// Tally counts the records of a bank.
type Tally struct {
	Facts, Composites, Observations, Entities, Conflicts int
}

// PendingSession is a session whose messages have not ended in a window yet.
type PendingSession struct {
	Session     memory.SessionID
	Messages    int
	First, Last uint64    // sequences
	Oldest      time.Time // stream timestamp of the first
	Newest      time.Time // stream timestamp of the last
}

// WindowResult is how the window in which a message was new ended, and what
// became of its facts.
type WindowResult struct {
	Outcome memory.WindowOutcome
	Reason  string
	Write   uint64
	Results []memory.WriteResult
}
