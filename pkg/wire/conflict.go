package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// ConflictItem is a conflict with its two facts.
type ConflictItem struct {
	memory.Conflict
	Facts []memory.Item `json:"facts"`
}

// ConflictReply answers a list of conflicts, or a decision about one.
type ConflictReply struct {
	Op      string               `json:"op,omitempty"`
	Write   uint64               `json:"write,omitempty"`
	ID      memory.ConflictID    `json:"id,omitempty"`
	State   memory.ConflictState `json:"state,omitempty"`
	Version uint64               `json:"version,omitempty"`
	Items   []ConflictItem       `json:"items"`
	Next    string               `json:"next"`
}
