package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// RebuildLive makes the store anew beside the one in force, or moves it. The active consolidator answers it, and no other
// program.
var RebuildLive = Endpoint[RebuildRequest, RebuildStatus]{
	Name: "rebuild", Role: Operator, Summary: "Make the store anew from the log while everything runs, move it, or say how far that is.",
	Example: Example[RebuildRequest, RebuildStatus]{
		RebuildRequest{Start: true},
		RebuildStatus{ID: "01K0ZQ3W", Store: "eunoe.db", Running: true, Doing: "following the log",
			Progress: RebuildProgress{Messages: 1240, Writes: 60, LastWrite: 78}},
	},
}

// ByConsolidators lists the endpoints that the active consolidator answers. No reply is a Fault: an error is in the reply.
func ByConsolidators() []Description { return []Description{RebuildLive.Describe()} }

// RebuildRequest asks the active consolidator to rebuild its store, or how far it is. Its zero value asks how far it is.
type RebuildRequest struct {
	// Start begins a rebuild, unless one runs.
	Start bool `json:"start,omitempty"`
	// To is the data source name of the store to make, where none is yet, which is then in force in place of this one; "" = this
	// one is made anew. Of several stores it is what EUNOE_STORE will be.
	To string `json:"to,omitempty"`
	// Shard is the index of the store, of several (EUNOE_SHARDS).
	Shard int `json:"shard,omitempty"`
	// Smaller allows a store that holds fewer message events to take the place of the old one.
	Smaller bool `json:"smaller,omitempty"`
	// Hold has the rebuild that begins follow the log, once it has caught up, until Switch names it: so several stores are moved at
	// one time. It ends where nobody asks how far it is for a minute.
	Hold bool `json:"hold,omitempty"`
	// Switch has the rebuild of this id, which holds, put the new store in force.
	Switch string `json:"switch,omitempty"`
	// Cancel ends the rebuild of this id.
	Cancel string `json:"cancel,omitempty"`
}

// RebuildStatus is the state of the last rebuild that the consolidator began.
type RebuildStatus struct {
	ID       string          `json:"id"`    // "" = none since the process started
	Store    string          `json:"store"` // where it is, without a password
	Running  bool            `json:"running"`
	Doing    string          `json:"doing,omitempty"` // "following the log", "checking", "holding", "switching"
	Progress RebuildProgress `json:"progress"`
	// Paused is for how long nothing was applied, once it is done.
	Paused memory.Duration `json:"paused,omitempty"`
	Error  string          `json:"error,omitempty"` // why the old store stayed; "" = it runs, or has succeeded
	Code   int             `json:"code,omitempty"`  // of the error
}

// RebuildProgress says how far a rebuild has come.
type RebuildProgress struct {
	Messages  uint64 `json:"messages"`           // sequence applied
	Writes    uint64 `json:"writes"`             // sequence applied
	LastWrite uint64 `json:"last_write"`         // sequence at which the log of writes ended when the rebuild began
	Embedded  int    `json:"embedded,omitempty"` // records that were embedded anew
}
