package plan

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// View is what Plan may read of one bank, as the store stood when the write's transaction reached it. Equal stores give
// equal answers in equal order. Ids that are not there are left out.
type View interface {
	// Bank returns the profile; of a bank that does not exist yet, the default one.
	Bank() (memory.Bank, error)
	// Made reports whether the bank was made by a write, or by a message event up to a sequence.
	Made(upto uint64) (bool, error)

	// Facts returns facts by id, in any state, with vectors, in the order asked.
	Facts(ids []memory.FactID) ([]memory.Fact, error)
	// FactByKey returns the live fact with a key that a caller gave it; nil if there is none.
	FactByKey(key string) (*memory.Fact, error)
	// FactsOfState returns up to limit facts, newest said first, that assert a value of this attribute of this subject,
	// merged ones left out.
	FactsOfState(subject memory.EntityID, attribute string, limit int) ([]memory.Fact, error)
	// FactsOfStateSince returns up to limit of those, in any order, that hold at a time or end at it or later, that
	// hold at no time, or that were said at said or later; it may return others too.
	FactsOfStateSince(subject memory.EntityID, attribute string, at, said time.Time, limit int) ([]memory.Fact, error)
	// FactsOfEntity returns up to limit live facts that name the entity, newest said first.
	FactsOfEntity(entity memory.EntityID, limit int) ([]memory.Fact, error)
	// FactsNaming returns the facts, in any state, that name the entity, by id.
	FactsNaming(entity memory.EntityID) ([]memory.Fact, error)
	// FactsOfMessages returns the facts, in any state, that rest on one of the message events.
	FactsOfMessages(seqs []uint64) ([]memory.Fact, error)
	// FactsByHand returns the facts, in any state, that rest on no message: with a speaker or session given, those that
	// name it; with both empty, all.
	FactsByHand(speaker string, session memory.SessionID) ([]memory.Fact, error)
	// FactsPointingTo returns the facts superseded by or merged into one of the ids.
	FactsPointingTo(ids []memory.FactID) ([]memory.Fact, error)

	// Nearest returns up to limit live nodes of the level whose cosine to v is least or more, by descending cosine,
	// ties by id. Candidates are the at most 128 nodes that share a rare term or an entity with the given ones; the
	// bank is not scanned. The result may be shared with later answers and must not be changed.
	Nearest(level int, v memory.Vector, terms []string, entities []memory.EntityID, least float64, limit int) ([]Neighbour, error)
	// Nodes returns live facts (level 0) or composites as nodes, with vectors.
	Nodes(level int, ids []string) ([]memory.Node, error)
	// Composites returns composites by id.
	Composites(ids []memory.CompositeID) ([]memory.Composite, error)

	// Entities returns entities by id, following no redirect.
	Entities(ids []memory.EntityID) ([]memory.Entity, error)
	// EntitiesNamed returns the entities that have this spelling (NormalText) as name or alias, by id.
	EntitiesNamed(name string) ([]memory.Entity, error)
	// BusiestEntities returns up to limit entities by the number of live facts that name them, ties by id.
	BusiestEntities(limit int) ([]memory.Entity, error)

	// Messages returns what is stored of message events, duplicates included.
	Messages(seqs []uint64) ([]StoredMessage, error)
	// MessagesByID returns what is stored under message ids: of each the stored event and its known duplicates, by
	// sequence.
	MessagesByID(ids []memory.MessageID) ([]StoredMessage, error)
	// MessagesOf returns the message events up to a sequence: of a session or, with session empty, of a speaker; with
	// both empty, of the bank.
	MessagesOf(session memory.SessionID, speaker string, upto uint64) ([]StoredMessage, error)
	// Replacements returns the replacements in effect for the message ids.
	Replacements(ids []memory.MessageID) ([]memory.Replacement, error)

	// Conflicts returns all conflicts one of the facts is party to, by id.
	Conflicts(facts []memory.FactID) ([]memory.Conflict, error)
	// Conflict returns one conflict; nil if there is none.
	Conflict(id memory.ConflictID) (*memory.Conflict, error)
	// Observations returns observations by id.
	Observations(ids []memory.ObservationID) ([]memory.Observation, error)
	// ObservationsOf returns the observations that rest on one of the facts, by id.
	ObservationsOf(facts []memory.FactID) ([]memory.Observation, error)

	// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and
	// write.
	DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error)
	// Pending returns up to limit questions of a kind that wait for a model, the longest waiting first, then by id.
	Pending(kind memory.PendingKind, limit int) ([]memory.PendingQuestion, error)
	// LastObserved returns the MEM_WRITES sequence up to which a model has seen the facts, 0 for none.
	LastObserved() (uint64, error)

	// Window returns how a window ended; nil if it did not.
	Window(id memory.WindowID) (*memory.WindowEnd, error)
	// Outcome returns the outcome of an op that was applied; nil if it was not.
	Outcome(op string) (*memory.WriteOutcome, error)
	// FactsSince counts live facts whose version is past a MEM_WRITES sequence.
	FactsSince(write uint64) (int, error)
	// LastConsolidated returns the MEM_WRITES sequence of the last consolidate that ran, 0 for none.
	LastConsolidated() (uint64, error)
	// Tombstoned reports which of the message events were forgotten.
	Tombstoned(seqs []uint64) (map[uint64]bool, error)
}

// Neighbour is a node near another one.
type Neighbour struct {
	memory.Node
	Cosine float64 // in [-1, 1]
}

// StoredMessage is what the store has of a message event, without its text.
type StoredMessage struct {
	Seq       uint64           // of this event
	ID        memory.MessageID // "" where the id is not known (forgotten)
	Canonical uint64           // the event that is stored under the id; differs from Seq for a duplicate
	Session   memory.SessionID
	Speaker   string
	Said      memory.Instant
	Replaces  memory.MessageID
	State     memory.MessageState
}

// malformed reports whether the event is no message; its id and speaker are what of it can be read.
func (m StoredMessage) malformed() bool {
	return m.State == memory.StateDead && m.Seq != m.Canonical
}
