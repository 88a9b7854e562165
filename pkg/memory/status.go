package memory

import "time"

// Status is where a bank stands.
type Status struct {
	Messages     StatusMessages `json:"messages"`
	Windows      Pending        `json:"windows"`
	Writes       Pending        `json:"writes"`
	Decisions    Pending        `json:"decisions"`
	Dead         int            `json:"dead"`
	Facts        int            `json:"facts"` // live
	Composites   int            `json:"composites"`
	Observations int            `json:"observations"`
	Entities     int            `json:"entities"`
	Settled      bool           `json:"settled"`
	Lag          Duration       `json:"lag"` // age of the oldest pending message
	Waiting      []Waiting      `json:"waiting"`
	Conservation Conservation   `json:"conservation"`
	// Usage is what models took for the bank so far, by stage and model.
	Usage []StageUsage `json:"usage,omitempty"`
}

// StatusMessages is the last sequence published and how many were throttled.
type StatusMessages struct {
	Last      uint64 `json:"last"`
	Throttled int    `json:"throttled"`
}

// Pending counts what is not yet done. Parked of windows are those that wait
// for the bank's token budget; they are among Pending.
type Pending struct {
	Pending int `json:"pending"`
	Parked  int `json:"parked,omitempty"`
}

// Waiting is a session whose messages wait for a window: until at the latest.
type Waiting struct {
	Session  SessionID `json:"session"`
	Messages int       `json:"messages"`
	Until    time.Time `json:"until"`
}

// Conservation accounts for every message event of a bank: Published is the
// sum of the eight others.
type Conservation struct {
	Published int `json:"published"`
	Forgotten int `json:"forgotten"`
	Dead      int `json:"dead"`
	Duplicate int `json:"duplicate"`
	Throttled int `json:"throttled"`
	Skipped   int `json:"skipped"`
	Committed int `json:"committed"`
	Empty     int `json:"empty"`
	Pending   int `json:"pending"`
}

// Sum adds up the eight.
func (c Conservation) Sum() int {
	return c.Forgotten + c.Dead + c.Duplicate + c.Throttled + c.Skipped + c.Committed + c.Empty + c.Pending
}
