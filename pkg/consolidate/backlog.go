package consolidate

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Backlog is what of one bank waits for a language model.
type Backlog struct {
	Bank      memory.BankID
	Decisions int // facts
	Summaries int // composites
	Requests  int // requests to observe or to consolidate
	// OldestDecision and OldestSummary are the times of the writes that the
	// longest waiting ones came with; zero without one.
	OldestDecision, OldestSummary time.Time
}

// Unobserved is a bank with facts that no model has observed yet.
type Unobserved struct {
	Bank  memory.BankID
	Facts int
}
