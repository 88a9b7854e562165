package wire

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// StatusRequest asks for a bank's status; it has no fields.
type StatusRequest struct{}

// Status is the state of a bank.
type Status struct {
	Messages     StatusMessages      `json:"messages"`
	Windows      Pending             `json:"windows"`
	Writes       Pending             `json:"writes"`
	Decisions    Pending             `json:"decisions"`
	Dead         int                 `json:"dead"`
	Facts        int                 `json:"facts"` // live
	Composites   int                 `json:"composites"`
	Observations int                 `json:"observations"`
	Entities     int                 `json:"entities"`
	Settled      bool                `json:"settled"`
	Lag          memory.Duration     `json:"lag"` // age of the oldest pending message
	Waiting      []Waiting           `json:"waiting"`
	Conservation memory.Conservation `json:"conservation"`
	// Answers says that a language model writes the answers of reflect.
	Answers bool `json:"answers,omitempty"`
	// Usage is what models have used for the bank so far, by stage and model.
	Usage []memory.StageUsage `json:"usage,omitempty"`
}

// StatusMessages is the last sequence published and how many were throttled.
type StatusMessages struct {
	Last      uint64 `json:"last"`
	Throttled int    `json:"throttled"`
}

// Pending counts what is not done yet. Of windows, Parked counts those that wait for the bank's token budget; they are
// included in Pending.
type Pending struct {
	Pending int `json:"pending"`
	Parked  int `json:"parked,omitempty"`
}

// Waiting is a session with messages that no window holds yet. One will at Until, at the latest.
type Waiting struct {
	Session  memory.SessionID `json:"session"`
	Messages int              `json:"messages"`
	Until    time.Time        `json:"until"`
}
