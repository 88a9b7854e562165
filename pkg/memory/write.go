package memory

import "time"

// WriteKind says what an event of MEM_WRITES does to the store; it is the last
// token of its subject.
type WriteKind string

// The kinds of write.
const (
	WriteWindow      WriteKind = "window"      // a window ended: facts, empty or dead
	WriteRetain      WriteKind = "retain"      // facts given by hand
	WriteObserve     WriteKind = "observe"     // derive or take observations
	WriteConsolidate WriteKind = "consolidate" // run what waits for a schedule
	WriteEdit        WriteKind = "edit"        // a new version of a fact
	WriteConflict    WriteKind = "conflict"    // resolve or dismiss a conflict
	WriteFeedback    WriteKind = "feedback"    // what a recall was good for
	WriteBank        WriteKind = "bank"        // a bank's profile
	WriteForget      WriteKind = "forget"      // erase
	WriteDecide      WriteKind = "decide"      // what a model decided about facts that are near each other
	WriteSummary     WriteKind = "summary"     // a model's wordings for composites
	WriteVectors     WriteKind = "vectors"     // vectors that come after their records
	WriteUsage       WriteKind = "usage"       // what model calls took that no other write tells of
)

// Write is one event of MEM_WRITES. Exactly one of the parts is set, the one
// its Kind names. The order of these events is the truth: the same ones give
// the same store.
type Write struct {
	Bank BankID    `json:"-"` // the subject's
	Kind WriteKind `json:"-"` // the subject's
	Seq  uint64    `json:"-"` // sequence in MEM_WRITES
	// Trace is the trace context that the write's changes go out with; "" = none.
	// It is no part of what the write says.
	Trace string `json:"-"`

	Op   string    `json:"op"`            // repeating it changes nothing
	Time time.Time `json:"time,omitzero"` // zero = the stream timestamp; set when appended anew
	// Upto is the MEM_MESSAGES sequence that must be applied before this event.
	Upto uint64 `json:"upto,omitempty"`

	Window      *WindowEnd          `json:"window,omitempty"`
	Facts       []Fact              `json:"facts,omitempty"` // of a window or a retain, with vectors
	Refused     []WriteResult       `json:"refused,omitempty"`
	Relations   []Relation          `json:"relations,omitempty"` // edges an extractor saw between facts or entities of the write
	Observe     *ObserveRequest     `json:"observe,omitempty"`
	Consolidate *ConsolidateRequest `json:"consolidate,omitempty"`
	Edit        *EditWrite          `json:"edit,omitempty"`
	Conflict    *ConflictRequest    `json:"conflict,omitempty"`
	Feedback    *FeedbackRequest    `json:"feedback,omitempty"`
	Profile     *BankUpdate         `json:"profile,omitempty"`
	Forget      *ForgetRequest      `json:"forget,omitempty"`
	Decide      []Decided           `json:"decide,omitempty"`
	Summaries   []Summary           `json:"summaries,omitempty"`
	Vectors     []LateVector        `json:"vectors,omitempty"` // also of messages of a window
	// Early says that a change of the embedding model made Vectors: a rebuild
	// gives them to their facts where the facts are made, before this event.
	Early bool `json:"early,omitempty"`

	// Seen, of observations by a model, is the MEM_WRITES sequence up to which
	// the model had seen the bank's facts; 0 = a part of them.
	Seen uint64 `json:"seen,omitempty"`

	// By says which model made what the write holds; nil = none did.
	By *Stamp `json:"by,omitempty"`
	// Usage is what the model calls behind the write took. It counts once for
	// every event of the log, even for one whose op was applied before.
	Usage []StageUsage `json:"usage,omitempty"`
}

// WindowOutcome is how a window ended.
type WindowOutcome string

// The ends a window can have. The first applied end stands; facts or empty
// replace an earlier dead one.
const (
	WindowFacts WindowOutcome = "facts"
	WindowEmpty WindowOutcome = "empty"
	WindowDead  WindowOutcome = "dead"
)

// WindowEnd is the end of one window.
type WindowEnd struct {
	Window
	SessionID SessionID     `json:"session"`
	Outcome   WindowOutcome `json:"outcome"`
	Reason    string        `json:"reason,omitempty"` // why it is dead; no message text
	Extractor string        `json:"extractor,omitempty"`
}

// EditWrite is an edit with the fact of the new text, where the text changes.
type EditWrite struct {
	EditRequest
	Vector Vector `json:"vector,omitempty"`
	Model  string `json:"model,omitempty"`
}

// Outcome is what became of one item of a write.
type Outcome string

// The outcomes of an item.
const (
	OutcomeAdded      Outcome = "added"
	OutcomeMerged     Outcome = "merged"
	OutcomeSuperseded Outcome = "superseded"
	OutcomeUpdated    Outcome = "updated"
	OutcomeRemoved    Outcome = "removed"
	OutcomeRefused    Outcome = "refused"
)

// WriteResult is what became of one fact of a write. Superseded as an outcome
// of a retained fact says that it took another's place.
type WriteResult struct {
	Key     string  `json:"key,omitempty"`
	ID      string  `json:"id,omitempty"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
}
