package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// Curation is one change of an ApplyRequest.
type Curation = memory.Curation

// MaxChanges is how many changes an apply may hold.
const MaxChanges = 100

// ApplyRequest makes several changes at once: all of them or none.
type ApplyRequest struct {
	WriteControl
	Changes []Curation `json:"changes"`
	DryRun  bool       `json:"dry_run,omitempty"` // say what would become of each, and change nothing
}

// ApplyResult is what became of one change. IDs are all ids that a split made.
type ApplyResult struct {
	Change string `json:"change"` // its op
	As     string `json:"as,omitempty"`
	memory.WriteResult
}

// ApplyReply holds a result for each change, in order. That of a dry run has no Op and no Write.
type ApplyReply struct {
	Op      string        `json:"op"`
	Write   uint64        `json:"write"`
	DryRun  bool          `json:"dry_run,omitempty"`
	Results []ApplyResult `json:"results"`
}

// UndoRequest takes an apply back: all of it, or nothing where something has changed since.
type UndoRequest struct {
	WriteControl
	Apply  string `json:"apply"`             // its op
	DryRun bool   `json:"dry_run,omitempty"` // say what would become of its facts, and change nothing
}

// UndoReply says of each fact that the apply changed or made what became of it: updated is as it was before, removed
// holds at no time. That of a dry run has no Op and no Write.
type UndoReply struct {
	Op      string               `json:"op"`
	Write   uint64               `json:"write"`
	DryRun  bool                 `json:"dry_run,omitempty"`
	Results []memory.WriteResult `json:"results"`
}
