package wire

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// SessionsRequest pages through the sessions of a bank.
type SessionsRequest struct {
	Order  string `json:"order,omitempty"` // newest (default) or oldest, by the last message stored
	Limit  int    `json:"limit,omitempty"` // default 50
	Cursor string `json:"cursor,omitempty"`
}

// Session is a conversation of a bank, by the messages of it that are stored: neither forgotten nor duplicates.
type Session struct {
	Session  memory.SessionID `json:"session"`
	Messages int              `json:"messages"`
	First    time.Time        `json:"first"`             // when the earliest of them was said
	Last     time.Time        `json:"last"`              // when the latest of them was said
	Seq      uint64           `json:"seq"`               // of the last one stored
	Pending  int              `json:"pending,omitempty"` // messages whose window has not ended
	// Until is when the open window ends at the latest; nil where no window is open.
	Until *time.Time `json:"until,omitempty"`
}

// The states of a window.
const (
	WindowQueued = "queued" // waits for an extractor, or is with one
	WindowParked = "parked" // waits for the bank's token budget
	WindowEnded  = "ended"  // its facts, or their absence, are stored
)

// WindowsRequest pages through the windows of a bank: those that have not ended, or those that have.
type WindowsRequest struct {
	State   string           `json:"state,omitempty"`   // pending (default: queued and parked) or ended
	Session memory.SessionID `json:"session,omitempty"` // "" = every session
	Limit   int              `json:"limit,omitempty"`   // default 50
	Cursor  string           `json:"cursor,omitempty"`
}

// WindowStatus is a run of messages that is extracted together, and how far it is. It holds sequences and no text.
type WindowStatus struct {
	ID         memory.WindowID      `json:"id"`
	Session    memory.SessionID     `json:"session"`
	State      string               `json:"state"`
	Generation int                  `json:"generation"`
	First      uint64               `json:"first"` // sequence of its first new message
	Last       uint64               `json:"last"`
	Outcome    memory.WindowOutcome `json:"outcome,omitempty"` // of one that ended: facts, empty or dead
	Reason     string               `json:"reason,omitempty"`  // why it is dead
	Write      uint64               `json:"write,omitempty"`   // MEM_WRITES sequence of its end
	Stored     *time.Time           `json:"stored,omitempty"`  // since when one waits that has not ended
}

// LettersRequest pages through the dead letters of a bank, or shows one with its payload (ID).
type LettersRequest struct {
	Stage  string `json:"stage,omitempty"` // "" = every stage
	ID     uint64 `json:"id,omitempty"`
	Limit  int    `json:"limit,omitempty"` // default 50
	Cursor string `json:"cursor,omitempty"`
}
