package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// DeadRequest lists dead letters, shows, retries or drops one (ID), or retries or drops all of a bank and stage (All).
type DeadRequest struct {
	Action string        `json:"action,omitempty"` // list (default), show, retry or drop
	Bank   memory.BankID `json:"bank,omitempty"`   // "" = every bank
	Stage  string        `json:"stage,omitempty"`  // "" = every stage
	ID     uint64        `json:"id,omitempty"`
	All    bool          `json:"all,omitempty"`
	Limit  int           `json:"limit,omitempty"`
	Cursor string        `json:"cursor,omitempty"`
}

// DeadReply answers a DeadRequest. A list omits the payloads.
type DeadReply struct {
	Items []memory.DeadLetter `json:"items"`
	Next  string              `json:"next"`           // cursor of the next page; "" at the end
	Done  int                 `json:"done,omitempty"` // letters sent again or dropped
	Seq   uint64              `json:"seq,omitempty"`  // where a letter sent again stands
}
