package ingest_test

import (
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/ingest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Cut is a pure function: with a window every two messages, the second one
// completes a window, and a flush cuts what is left with the others as context.
func ExampleCut() {
	settings := ingest.Settings{TriggerEvery: 2, WindowSize: 6}
	session := ingest.Session{Bank: "alice", Session: "chat"}
	at := time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)
	stream := []ingest.Event{
		{Seq: 1, Stored: at, Role: memory.RoleUser},
		{Seq: 2, Stored: at, Role: memory.RoleAssistant},
		{Seq: 3, Stored: at, Role: memory.RoleUser},
		{Seq: 4, Stored: at, Flush: true},
	}
	for _, e := range stream {
		var windows []memory.Window
		session, windows = ingest.Cut(session, e, settings)
		for _, w := range windows {
			fmt.Printf("event %d cuts messages %d to %d by %s, context %v\n", e.Seq, w.First(), w.Last(), w.Trigger, w.Context)
		}
	}
	// Output:
	// event 2 cuts messages 1 to 2 by count, context []
	// event 4 cuts messages 3 to 3 by flush, context [1 2]
}

// A bank's own settings replace the defaults where they are in range.
func ExampleSettings_For() {
	every := 5
	defaults := ingest.DefaultConfig().Settings
	own := defaults.For(&memory.WindowSettings{TriggerEvery: &every})
	fmt.Println(defaults.TriggerEvery, own.TriggerEvery, own.WindowTokens)
	// Output: 2 5 512
}
