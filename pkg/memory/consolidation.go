package memory

import "time"

// Changes is what consolidating one write changes in the store: whole new states, applied in one transaction in the
// order of the fields. It is what a plan returns; a store applies it and decides nothing.
type Changes struct {
	Bank *Bank // new state of the profile

	RemovedComposites []CompositeID
	// Renewed maps new composites to the removed ones that they replace: a store may reuse their rows.
	Renewed             map[CompositeID]CompositeID
	Facts               []Fact // whole new states; a nil Vector keeps the stored one
	RemovedFacts        []FactID
	Composites          []Composite
	Entities            []Entity
	Relations           []Relation // upserted by (From, To, Type)
	RemovedRelations    []Relation // by From, To and Type
	Conflicts           []Conflict
	Observations        []Observation
	RemovedObservations []ObservationID
	// RemovedConflicts are those of forgotten facts.
	RemovedConflicts []ConflictID
	// RemovedEntities were named by forgotten facts. Each is removed, with its spellings, unless a fact in any state
	// still names it.
	RemovedEntities []EntityID

	Replacements []Replacement // replacements that are now in effect
	Ended        []MessageEnd  // what became of message events
	// MessageVectors are vectors of stored messages; a message that has one keeps it.
	MessageVectors []LateVector
	Window         *WindowEnd // the window that ended, nil if none
	Uses           []Use
	Forgotten      *Forgotten

	Pending   []PendingQuestion // what waits for a language model from now on
	Resolved  []PendingKey      // what no longer waits
	Decisions []DecisionResult  // what became of a model's decisions
	Derived   []FactID          // facts that the write's texts by a model rest on
	// Stale says that the write rests on facts that are gone: its event is to be erased from the log, and what is left
	// of it appended again.
	Stale bool
	// Undo takes the write back, if it was an apply. A store keeps that of the last MaxUndos applies of a bank, until one
	// is taken back (Undone) or anything is forgotten: it holds words.
	Undo   *Undo
	Undone string // op of the apply that the write took back
	// Observed is the MEM_WRITES sequence up to which a model has seen the bank's facts; 0 leaves it.
	Observed uint64

	Outcome WriteOutcome
	Changes []Change // change events in order; ids, time and write are filled when applied
}

// WriteOutcome is the answer to the requester of a write. It is stored by op.
type WriteOutcome struct {
	Op           string          `json:"op"`
	Write        uint64          `json:"write"`
	Results      []WriteResult   `json:"results,omitempty"`
	Observations []ObservationID `json:"observations,omitempty"`
	Ran          *bool           `json:"ran,omitempty"`
	Facts        int             `json:"facts,omitempty"`
	Composites   int             `json:"composites,omitempty"`
	Version      uint64          `json:"version,omitempty"`
	Receipt      *Receipt        `json:"receipt,omitempty"`
	// Code and Message are set when the write was refused when it was applied.
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
	// Erased says that the write was one of a bank that was erased since: nothing of its outcome is known.
	Erased bool `json:"-"`
}

// Replacement says that message By replaces message ID from Time on.
type Replacement struct {
	ID   MessageID
	By   uint64
	Time time.Time
}

// MessageState is what became of a message event. Every event has exactly one.
type MessageState string

// The states, in order of precedence.
const (
	StateForgotten MessageState = "forgotten"
	StateDead      MessageState = "dead"
	StateDuplicate MessageState = "duplicate"
	StateThrottled MessageState = "throttled"
	StateSkipped   MessageState = "skipped"
	StateCommitted MessageState = "committed"
	StateEmpty     MessageState = "empty"
	StatePending   MessageState = "pending"
)

// MessageEnd sets the state of a message event.
type MessageEnd struct {
	Seq   uint64
	State MessageState
}

// Use is how often a record was retrieved and used, as feedback reported it.
type Use struct {
	ID        string
	Retrieved int
	Used      int
	Success   int
	Failure   int
	At        time.Time
}

// Forgotten is what a forget erases from the store, decided from its state.
type Forgotten struct {
	Bank     bool     // the whole bank: only its tombstones stay
	Messages []uint64 // message events to erase, by sequence
	// Late are events behind the forget's Upto that repeat an erased id: they are erased as well, and not counted.
	Late  []uint64
	Upto  uint64 // of Bank: message events behind it stay
	Facts []FactID
	// Observations are to be erased; the writes that gave them ready-made hold their text.
	Observations []ObservationID
	// Receipt is shared with the outcome: the store adds the stream events that it queues for erasure.
	Receipt *Receipt
}

// Receipt counts what a forget erased, and where.
type Receipt struct {
	Op           string `json:"op"`
	Upto         uint64 `json:"upto"`
	Messages     int    `json:"messages"`
	Facts        int    `json:"facts"`
	Composites   int    `json:"composites"`
	Observations int    `json:"observations"`
	Events       int    `json:"events"` // stream events secure-deleted
	Rewritten    int    `json:"rewritten"`
}
