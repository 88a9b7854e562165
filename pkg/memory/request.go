package memory

import "time"

// WriteControl is what every write request may carry.
type WriteControl struct {
	Op   string    `json:"op,omitempty"`   // repeating it changes nothing; "" = a new one
	Wait *Duration `json:"wait,omitempty"` // how long to wait for the outcome; default 2s
}

// RetainRequest stores facts by hand, or a text as a message of its own.
type RetainRequest struct {
	WriteControl
	Facts   []FactInput `json:"facts,omitempty"`
	Text    string      `json:"text,omitempty"`
	Session SessionID   `json:"session,omitempty"`
	Time    *time.Time  `json:"time,omitempty"`
}

// RetainReply answers a RetainRequest; partial success is normal.
type RetainReply struct {
	Op      string        `json:"op"`
	Write   uint64        `json:"write"`
	Results []WriteResult `json:"results"`
}

// ObservationInput is an observation handed in ready-made.
type ObservationInput struct {
	Type       ObservationType `json:"type"`
	Text       string          `json:"text"`
	Reasoning  string          `json:"reasoning,omitempty"`
	Subject    string          `json:"subject,omitempty"`
	Confidence *float64        `json:"confidence,omitempty"`
	Facts      []FactID        `json:"facts,omitempty"`
}

// ObserveRequest derives observations from the bank's facts.
type ObserveRequest struct {
	WriteControl
	Query         string             `json:"query,omitempty"`
	Types         []ObservationType  `json:"types,omitempty"`
	MinConfidence *float64           `json:"min_confidence,omitempty"`
	Observations  []ObservationInput `json:"observations,omitempty"`
}

// ObserveReply answers an ObserveRequest.
type ObserveReply struct {
	Op           string        `json:"op"`
	Write        uint64        `json:"write"`
	Observations []Observation `json:"observations"`
	// Pending says that a language model has not answered yet: what it finds
	// comes later, under the op followed by "/model".
	Pending bool `json:"pending,omitempty"`
}

// ConsolidateRequest runs what waits for a schedule.
type ConsolidateRequest struct {
	WriteControl
	Force bool `json:"force,omitempty"`
}

// ConsolidateReply says what ran.
type ConsolidateReply struct {
	Op           string `json:"op"`
	Write        uint64 `json:"write"`
	Ran          bool   `json:"ran"`
	Facts        int    `json:"facts"`
	Composites   int    `json:"composites"`
	Observations int    `json:"observations"`
	// Pending says that a language model has not answered yet.
	Pending bool `json:"pending,omitempty"`
}

// EditRequest makes a new version of a fact. Another text is a new fact that
// supersedes the old one.
type EditRequest struct {
	WriteControl
	ID      FactID    `json:"id"`
	Version *uint64   `json:"version,omitempty"` // 409 when the fact is at another
	Text    string    `json:"text,omitempty"`
	Type    Type      `json:"type,omitempty"`
	Tags    *[]string `json:"tags,omitempty"`
	Pin     *bool     `json:"pin,omitempty"`
}

// EditReply answers an EditRequest.
type EditReply struct {
	Op      string `json:"op"`
	Write   uint64 `json:"write"`
	ID      string `json:"id"`
	Version uint64 `json:"version"`
}

// ConflictRequest lists by state, or resolves or dismisses one conflict.
type ConflictRequest struct {
	WriteControl
	State   ConflictState `json:"state,omitempty"`
	ID      ConflictID    `json:"id,omitempty"`
	Version *uint64       `json:"version,omitempty"`
	Winner  FactID        `json:"winner,omitempty"`
	Dismiss bool          `json:"dismiss,omitempty"`
	Limit   int           `json:"limit,omitempty"`
	Cursor  string        `json:"cursor,omitempty"`
}

// FeedbackRequest says what a recall was good for.
type FeedbackRequest struct {
	WriteControl
	Recall    string   `json:"recall,omitempty"`
	Retrieved []string `json:"retrieved,omitempty"`
	Used      []string `json:"used,omitempty"`
	Outcome   string   `json:"outcome,omitempty"` // success, failure, correction or unknown
	Note      string   `json:"note,omitempty"`
}

// ForgetRequest erases a record, a session or what a speaker said. Bank is an
// operator's, through the admin door.
type ForgetRequest struct {
	WriteControl
	ID           string    `json:"id,omitempty"`
	Session      SessionID `json:"session,omitempty"`
	Speaker      string    `json:"speaker,omitempty"`
	Bank         bool      `json:"bank,omitempty"`
	KeepMessages bool      `json:"keep_messages,omitempty"`
}

// GetRequest reads one record.
type GetRequest struct {
	ID string `json:"id"`
}

// ListRequest pages through records.
type ListRequest struct {
	Record Record `json:"record,omitempty"` // default fact
	Filter
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

// TreeNode is a composite or a fact with what stands below it.
type TreeNode struct {
	Item
	Nodes []TreeNode `json:"nodes,omitempty"`
}

// EntitiesRequest lists entities.
type EntitiesRequest struct {
	Type   EntityType `json:"type,omitempty"`
	Match  string     `json:"match,omitempty"` // a part of the name or an alias
	Limit  int        `json:"limit,omitempty"`
	Cursor string     `json:"cursor,omitempty"`
}

// HistoryRequest reads how a fact came to be as it is.
type HistoryRequest struct {
	ID string `json:"id"`
}

// ChangesRequest reads change events since a sequence.
type ChangesRequest struct {
	After uint64 `json:"after,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

// Page is a page of a list. Items is never null; Next is "" at the end.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}
