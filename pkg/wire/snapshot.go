package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// The scopes of a snapshot. Those that end in a colon take what follows it.
const (
	ScopePending   = "pending"   // what is not worked up yet
	ScopeConflicts = "conflicts" // open conflicts with their facts
	ScopeStats     = "stats"     // counts
	ScopeHealth    = "health"    // what a curator may want to mend
	ScopeEntity    = "entity:"   // the entities of a name or id, and the facts that name them
	ScopeTopic     = "topic:"    // the facts of a topic
	ScopeRecent    = "recent:"   // the facts said last, so many
	ScopeQuery     = "query:"    // what recall finds
)

// MaxScopes is how many scopes a snapshot may have.
const MaxScopes = 32

// SnapshotRequest asks for what a curator of the memory looks at.
type SnapshotRequest struct {
	Scopes    []string `json:"scopes,omitempty"`     // default pending, conflicts, recent:20, stats, health
	MaxTokens *int     `json:"max_tokens,omitempty"` // of all texts together; default 4000
}

// Snapshot is one part for each scope, in the order of the request.
type Snapshot struct {
	Parts  []SnapshotPart `json:"parts"`
	Tokens int            `json:"tokens"`
}

// SnapshotPart is what one scope shows. Which fields it has depends on the scope.
type SnapshotPart struct {
	Scope     string           `json:"scope"`
	Counts    map[string]int   `json:"counts,omitempty"`
	Items     []memory.Item    `json:"items,omitempty"`
	Conflicts []ConflictItem   `json:"conflicts,omitempty"`
	Entities  []memory.Entity  `json:"entities,omitempty"`
	Sessions  []SessionPending `json:"sessions,omitempty"`
	// Alike are entities whose names differ by so little that they may be one.
	Alike [][]memory.EntityID `json:"alike,omitempty"`
	// Settle are changes for apply, one of which would settle a conflict, in the order of Conflicts.
	Settle [][]Curation `json:"settle,omitempty"`
	Cut    bool         `json:"cut,omitempty"` // there is more than max_tokens, or a page, holds
}

// SessionPending is a session with messages whose window has not ended.
type SessionPending struct {
	Session  memory.SessionID `json:"session"`
	Messages int              `json:"messages"`
}
