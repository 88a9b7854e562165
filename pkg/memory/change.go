package memory

import "time"

// Change tells what became of a record, after the commit that did it. It carries ids and never text. A change that is
// published twice has the same ID.
type Change struct {
	ID      string    `json:"id"`
	What    string    `json:"what,omitempty"` // message, fact, composite, …; in answers of changes only: an event's subject ends with it
	Op      Outcome   `json:"op"`
	Record  string    `json:"record"` // id of the record
	IDs     []string  `json:"ids,omitempty"`
	Write   uint64    `json:"write,omitempty"`   // MEM_WRITES sequence
	Message uint64    `json:"message,omitempty"` // MEM_MESSAGES sequence
	Time    time.Time `json:"time"`
	Seq     uint64    `json:"seq,omitempty"` // in answers of changes only
}

// The values of Change.What.
const (
	ChangeMessage     = "message"
	ChangeFact        = "fact"
	ChangeComposite   = "composite"
	ChangeObservation = "observation"
	ChangeEntity      = "entity"
	ChangeConflict    = "conflict"
	ChangeBank        = "bank"
	ChangeUsage       = "usage"
	ChangeForget      = "forget"
)
