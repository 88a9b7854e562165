package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// GetRequest reads one record.
type GetRequest struct {
	ID string `json:"id"`
}

// ListRequest pages through records.
type ListRequest struct {
	Record memory.Record `json:"record,omitempty"` // default fact
	memory.Filter
	Order  string `json:"order,omitempty"` // newest (default) or oldest
	Limit  int    `json:"limit,omitempty"` // default 50
	Cursor string `json:"cursor,omitempty"`
}

// TreeRequest reads composites with their children.
type TreeRequest struct {
	Root   string `json:"root,omitempty"` // "" = all roots
	Depth  int    `json:"depth,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// TreeNode is a composite or a fact with the nodes below it.
type TreeNode struct {
	memory.Item
	Nodes []TreeNode `json:"nodes,omitempty"`
}

// EntitiesRequest lists entities.
type EntitiesRequest struct {
	Type   memory.EntityType `json:"type,omitempty"`
	Match  string            `json:"match,omitempty"` // a part of the name or an alias
	Limit  int               `json:"limit,omitempty"`
	Cursor string            `json:"cursor,omitempty"`
}

// HistoryRequest reads how a fact came to be as it is.
type HistoryRequest struct {
	ID string `json:"id"`
}

// HistoryReply is a fact with every fact that it superseded, absorbed or was superseded by, oldest said first, and the
// messages they rest on.
type HistoryReply struct {
	ID      string             `json:"id"`
	Current []string           `json:"current"` // the live ones among them
	Items   []memory.Item      `json:"items"`
	Sources []memory.MessageID `json:"sources"`
	// Decisions are what language models decided about two of the facts, with model and prompt. A decision that had no
	// effect has a reason.
	Decisions []memory.DecisionResult `json:"decisions,omitempty"`
}

// ChangesRequest reads change events since a sequence.
type ChangesRequest struct {
	After uint64 `json:"after,omitempty"`
	Limit int    `json:"limit,omitempty"`
	// Latest reads nothing: Next is the sequence after which every later change comes.
	Latest bool `json:"latest,omitempty"`
	// Received is the id of a change event after After that the caller has received. The reply waits until the log holds
	// it, and not for others that are on their way.
	Received string `json:"received,omitempty"`
}
