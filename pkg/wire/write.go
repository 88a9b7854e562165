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

// FeedbackReply answers a feedback.
type FeedbackReply struct {
	Op    string `json:"op"`
	Write uint64 `json:"write"`
}

// ForgetReply is a receipt with the sequence of the write.
type ForgetReply struct {
	Write uint64 `json:"write"`
	memory.Receipt
}
