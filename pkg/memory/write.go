package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"time"
)

// WriteKind says what an event of MEM_WRITES does to the store; it is the last token of its subject.
type WriteKind string

// The kinds of write.
const (
	WriteWindow      WriteKind = "window"      // a window ended: facts, empty or dead
	WriteRetain      WriteKind = "retain"      // facts given by hand
	WriteObserve     WriteKind = "observe"     // derive or take observations
	WriteConsolidate WriteKind = "consolidate" // run what is due by schedule
	WriteEdit        WriteKind = "edit"        // a new version of a fact
	WriteConflict    WriteKind = "conflict"    // resolve or dismiss a conflict
	WriteAlias       WriteKind = "alias"       // several names of one entity
	WriteFeedback    WriteKind = "feedback"    // how useful a recall was
	WriteBank        WriteKind = "bank"        // a bank's profile
	WriteForget      WriteKind = "forget"      // erase
	WriteDecide      WriteKind = "decide"      // what a model decided about facts that are near each other
	WriteSummary     WriteKind = "summary"     // a model's wordings for composites
	WriteVectors     WriteKind = "vectors"     // vectors that come after their records
	WriteUsage       WriteKind = "usage"       // model usage that no other write reports
	WriteApply       WriteKind = "apply"       // several changes at once
	WriteUndo        WriteKind = "undo"        // takes an apply back
	WriteErased      WriteKind = "erased"      // names of events that a forget erased from the log
	WriteRest        WriteKind = "rest"        // what a forget left of an earlier write; RestOf names it
)

// Write is one event of MEM_WRITES. Exactly one of the parts is set, the one that its Kind names. The order of these
// events is the truth: the same events make the same store.
type Write struct {
	Bank BankID    `json:"-"` // the subject's
	Kind WriteKind `json:"-"` // the subject's
	Seq  uint64    `json:"-"` // sequence in MEM_WRITES
	// Stored is when the broker stored the event; zero = it is not one of the log.
	Stored Instant `json:"-"`
	// Trace is the trace context that the changes of the write are published with; "" = none. It is not content.
	Trace string `json:"-"`

	Op   string    `json:"op"`            // a write with an op that was applied changes nothing
	Time time.Time `json:"time,omitzero"` // zero = the stream timestamp; set when it is appended again
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
	Alias       *AliasRequest       `json:"alias,omitempty"`
	Apply       []CurationWrite     `json:"apply,omitempty"`
	Undo        string              `json:"undo,omitempty"` // op of the apply
	Feedback    *FeedbackRequest    `json:"feedback,omitempty"`
	Profile     *BankUpdate         `json:"profile,omitempty"`
	Forget      *ForgetRequest      `json:"forget,omitempty"`
	Decide      []Decided           `json:"decide,omitempty"`
	Summaries   []Summary           `json:"summaries,omitempty"`
	Vectors     []LateVector        `json:"vectors,omitempty"` // also of messages of a window
	// Early says that a change of the embedding model made Vectors: a rebuild attaches them to their facts when the
	// facts are made, before this event.
	Early bool `json:"early,omitempty"`

	// RestOf says that this is what a forget left of an earlier event, which is erased; nil = it is no such rest. Its op
	// was applied, so it changes nothing, and a rebuild applies it in the place of the earlier event.
	RestOf *RestOf `json:"rest_of,omitempty"`
	// Receipt, of the rest of a forget, is what the forget erased.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Refusal, of the rest of a write that was refused when it was applied, is why; nil = it was not.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Erased names events that are erased from the log, so that a rebuild accounts for them.
	Erased *Erased `json:"erased,omitempty"`

	// Seen, of observations by a model, is the MEM_WRITES sequence up to which the model had seen the bank's facts; 0 =
	// a part of them.
	Seen uint64 `json:"seen,omitempty"`

	// By says which model made what the write holds; nil = none did.
	By *Stamp `json:"by,omitempty"`
	// Usage is what the model calls behind the write used. It counts once for every event of the log, even for one
	// whose op was applied before.
	Usage []StageUsage `json:"usage,omitempty"`
}

// WindowOutcome is how a window ended.
type WindowOutcome string

// The ends of a window. The first applied end stands, but facts or empty replace an earlier dead.
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

// WriteResult is what became of one fact of a write, or of one change. Superseded, for a retained fact, says that it ended
// another.
type WriteResult struct {
	Key      string      `json:"key,omitempty"`
	ID       string      `json:"id,omitempty"`
	IDs      []string    `json:"ids,omitempty"` // where several were made or changed
	Outcome  Outcome     `json:"outcome"`
	Reason   string      `json:"reason,omitempty"`
	Collides []Collision `json:"collides,omitempty"` // what the fact contradicts or is near to, five at most
}

// RestOf names the event of MEM_WRITES that a rest stands for.
type RestOf struct {
	Seq  uint64    `json:"seq"`
	Kind WriteKind `json:"kind"`
}

// Refusal is why a write was refused when it was applied, as its outcome says.
type Refusal struct {
	Code    int    `json:"code"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Erased names events that a forget erased from the log: ids and places, never text.
type Erased struct {
	Messages []ErasedMessage `json:"messages,omitempty"`
	Writes   []ErasedWrite   `json:"writes,omitempty"` // of a bank that was erased
}

// ErasedMessage is a message event that was erased.
type ErasedMessage struct {
	Seq     uint64    `json:"seq"` // in MEM_MESSAGES
	ID      MessageID `json:"id"`
	Session SessionID `json:"session,omitempty"` // "" for one of a bank that was erased
	Stored  time.Time `json:"stored,omitzero"`   // zero for one of a bank that was erased
}

// ErasedWrite is a write that was erased whole.
type ErasedWrite struct {
	Seq uint64 `json:"seq"` // in MEM_WRITES
	Op  string `json:"op"`  // its hash (HashedOp)
}

// HashedOp stands for the op of a write of a bank that was erased: an op is a word of its caller.
func HashedOp(bank BankID, op string) string {
	if strings.HasPrefix(op, hashedOp) {
		return op
	}
	sum := sha256.Sum256([]byte(string(bank) + "\x00" + op))
	return hashedOp + hex.EncodeToString(sum[:16])
}

const hashedOp = "erased:"

// LogPosition is how far a store has applied one of the two kept streams, and what tells that stream from another.
type LogPosition struct {
	Log     string  // identity of the stream; "" = the store has seen none
	Applied uint64  // last sequence applied
	Event   uint64  // an event that was applied and that no forget erased, the last one known; 0 = none is known
	Stored  Instant // when the broker stored that event
}

// MessagePosition says which events of MEM_MESSAGES are applied: all up to Seq, and up to Ahead those of all banks but the
// ones in Held, whose events are applied up to the sequence that is given there. The events of one bank are applied in
// their order. Its zero value says that none is.
type MessagePosition struct {
	Seq   uint64            `json:"seq"`
	Ahead uint64            `json:"ahead,omitempty"` // at least Seq, or 0
	Held  map[BankID]uint64 `json:"held,omitempty"`  // at least Seq; mostly less than Ahead
}

// Of returns the sequence up to which the events of a bank are applied.
func (p MessagePosition) Of(bank BankID) uint64 {
	if seq, ok := p.Held[bank]; ok {
		return seq
	}
	return max(p.Seq, p.Ahead)
}

// Last returns the last sequence up to which the events of any bank are applied.
func (p MessagePosition) Last() uint64 {
	last := max(p.Seq, p.Ahead)
	for _, seq := range p.Held {
		last = max(last, seq)
	}
	return last
}

// Equal reports whether two positions say the same.
func (p MessagePosition) Equal(q MessagePosition) bool {
	return p.Seq == q.Seq && p.Ahead == q.Ahead && maps.Equal(p.Held, q.Held)
}

// HashedWords stands for the query of an observe in the log, where no forget could find its words: the hashes of their
// stems, behind a mark. Stems that are equal in a bank have one hash.
func HashedWords(bank BankID, stems []string) string {
	out := hashedWords
	for _, stem := range stems {
		out += " " + hashedWord(bank, stem)
	}
	return out
}

// AskedWords returns which stems the query of an observe in the log names, none of which narrows nothing; stems is what a
// query that stands there in plain words holds.
func AskedWords(bank BankID, query string, stems func(string) []string) (names func(stem string) bool, n int) {
	hashes, hashed := strings.CutPrefix(query, hashedWords)
	words := map[string]bool{}
	if hashed {
		for h := range strings.FieldsSeq(hashes) {
			words[h] = true
		}
	} else {
		for _, stem := range stems(query) {
			words[hashedWord(bank, stem)] = true
		}
	}
	return func(stem string) bool { return words[hashedWord(bank, stem)] }, len(words)
}

const hashedWords = "stems:"

func hashedWord(bank BankID, stem string) string {
	sum := sha256.Sum256([]byte(string(bank) + "\x00" + stem))
	return hex.EncodeToString(sum[:8])
}
