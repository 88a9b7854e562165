package wire

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// RetainRequest stores facts by hand, or a text as a message of its own.
type RetainRequest struct {
	WriteControl
	Facts   []memory.FactInput `json:"facts,omitempty"`
	Text    string             `json:"text,omitempty"`
	Speaker string             `json:"speaker,omitempty"` // of the text
	Session memory.SessionID   `json:"session,omitempty"`
	Time    *time.Time         `json:"time,omitempty"`
}

// RetainReply answers a RetainRequest; partial success is normal.
type RetainReply struct {
	Op      string               `json:"op"`
	Write   uint64               `json:"write"`
	Results []memory.WriteResult `json:"results"`
}

// ObserveReply answers an ObserveRequest.
type ObserveReply struct {
	Op           string               `json:"op"`
	Write        uint64               `json:"write"`
	Observations []memory.Observation `json:"observations"`
	// Pending says that a language model has not answered yet: its observations follow later, under the op followed by
	// "/model".
	Pending bool `json:"pending,omitempty"`
}

// ConsolidateReply says what ran.
type ConsolidateReply struct {
	Op           string `json:"op"`
	Write        uint64 `json:"write"`
	Ran          bool   `json:"ran"`
	Facts        int    `json:"facts"`
	Composites   int    `json:"composites"`
	Observations int    `json:"observations"`
	// Pending says that a language model has not answered yet.
	Pending bool `json:"pending,omitempty"`
}

// EditReply answers an EditRequest.
type EditReply struct {
	Op      string `json:"op"`
	Write   uint64 `json:"write"`
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// AliasReply names the entity and all its other names.
type AliasReply struct {
	Op      string          `json:"op"`
	Write   uint64          `json:"write"`
	Entity  memory.EntityID `json:"entity"`
	Aliases []string        `json:"aliases"`
}

// FeedbackReply answers a feedback.
type FeedbackReply struct {
	Op    string `json:"op"`
	Write uint64 `json:"write"`
}

// ForgetReply is a receipt with the sequence of the write. That of a preview counts what would be erased; its Op is "",
// its Write 0, and stream events are not counted.
type ForgetReply struct {
	Write uint64 `json:"write"`
	memory.Receipt
	// Pending says that the forget is in the log and not applied yet, so that nothing is counted: asking again with its op
	// alone returns the receipt once it is.
	Pending bool           `json:"pending,omitempty"`
	Preview *ForgetPreview `json:"preview,omitempty"`
}

// MaxPreview is how many of a kind a preview names.
const MaxPreview = 20

// ForgetPreview names some of what a forget would erase, MaxPreview of each kind; no list is null.
type ForgetPreview struct {
	Fresh        bool                   `json:"fresh"` // what was published before is all among it
	Facts        []memory.FactID        `json:"facts"`
	Messages     []memory.MessageID     `json:"messages"`
	Composites   []memory.CompositeID   `json:"composites"`
	Observations []memory.ObservationID `json:"observations"`
	Changed      []memory.FactID        `json:"changed"`  // facts that stay: they lose a source, or hold again
	Sessions     []SessionCount         `json:"sessions"` // whose messages would go, those with the most first
}

// SessionCount counts messages of a session.
type SessionCount struct {
	Session  memory.SessionID `json:"session"`
	Messages int              `json:"messages"`
}
