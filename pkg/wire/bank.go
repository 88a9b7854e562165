package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// BankReply is a bank's profile; Op and Write are those of the write that the request made, if it set anything.
type BankReply struct {
	Op    string `json:"op,omitempty"`
	Write uint64 `json:"write,omitempty"`
	memory.Bank
}

// BanksRequest pages through all banks by id.
type BanksRequest struct {
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// EraseRequest erases a whole bank.
type EraseRequest struct {
	WriteControl
	Bank    string `json:"bank"`
	Preview bool   `json:"preview,omitempty"` // say what would be erased, and erase nothing
}
