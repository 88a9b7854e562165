package memory

import "time"

// PendingKind says what a language model is asked about.
type PendingKind string

// The kinds of questions that wait for a language model.
const (
	PendingDecide    PendingKind = "decide"    // what a new fact means for similar older ones
	PendingSummarise PendingKind = "summarise" // a wording for a composite
	PendingObserve   PendingKind = "observe"   // a request that a model is to answer too
)

// PendingKey names one question of a bank.
type PendingKey struct {
	Kind PendingKind
	ID   string // of the fact or the composite, or the op of the request
}

// PendingQuestion is a question that waits for a language model. It is stored with the write that raised it and removed
// by the write that answers it.
type PendingQuestion struct {
	PendingKey  `json:"-"`
	Targets     []FactID        `json:"targets,omitempty"`     // of a fact: older ones to ask about, the most similar first
	Request     *ObserveRequest `json:"request,omitempty"`     // of a request
	Consolidate bool            `json:"consolidate,omitempty"` // the request was to consolidate
	Write       uint64          `json:"-"`                     // MEM_WRITES sequence it waits since
	At          time.Time       `json:"-"`                     // time of that write
}

// ModelOp is the op of the write in which a model answers the request of an op.
func ModelOp(op string) string { return op + "/model" }

// DecisionResult is what became of a language model's decision about two facts.
type DecisionResult struct {
	Fact   FactID `json:"fact"`   // the newer one
	Target FactID `json:"target"` // the older one
	Action Action `json:"action"`
	Made   FactID `json:"made,omitempty"`   // the fact that an update made of both
	Reason string `json:"reason,omitempty"` // why it was not applied; "" = it was
	Write  uint64 `json:"write"`
	Stamp
}
