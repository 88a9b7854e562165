package memory

// WriteControl is what every write request may carry.
type WriteControl struct {
	Op   string    `json:"op,omitempty"`   // a write with an op that was applied changes nothing; "" = a new one
	Wait *Duration `json:"wait,omitempty"` // how long to wait for the outcome; default 2s
}

// DefaultWait sets how long to wait for the outcome where the request does not say.
func (w *WriteControl) DefaultWait(d Duration) {
	if w.Wait == nil {
		w.Wait = &d
	}
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

// ConsolidateRequest runs what is due by schedule.
type ConsolidateRequest struct {
	WriteControl
	Force bool `json:"force,omitempty"`
}

// EditRequest makes a new version of a fact. A changed text makes a new fact that supersedes the old one.
type EditRequest struct {
	WriteControl
	ID      FactID    `json:"id"`
	Version *uint64   `json:"version,omitempty"` // 409 when the fact has another
	Text    string    `json:"text,omitempty"`
	Type    Type      `json:"type,omitempty"`
	Tags    *[]string `json:"tags,omitempty"`
	Pin     *bool     `json:"pin,omitempty"`
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

// DefaultWait is that of WriteControl for a decision; a list waits for no outcome.
func (r *ConflictRequest) DefaultWait(d Duration) {
	if r.ID != "" {
		r.WriteControl.DefaultWait(d)
	}
}

// AliasRequest says that several names are one entity, or with Remove that they are not.
type AliasRequest struct {
	WriteControl
	Entity  string   `json:"entity,omitempty"` // "type:name" or a name; may be absent where Remove is set
	Aliases []string `json:"aliases"`          // its other names
	Remove  bool     `json:"remove,omitempty"`
}

// FeedbackRequest says how useful a recall was.
type FeedbackRequest struct {
	WriteControl
	Recall    string   `json:"recall,omitempty"`
	Retrieved []string `json:"retrieved,omitempty"`
	Used      []string `json:"used,omitempty"`
	Outcome   string   `json:"outcome,omitempty"` // success, failure, correction or unknown
	Note      string   `json:"note,omitempty"`
}

// ForgetRequest erases a record, a session or what a speaker said. Only operators may set Bank, by the admin endpoint.
type ForgetRequest struct {
	WriteControl
	ID           string    `json:"id,omitempty"`
	Session      SessionID `json:"session,omitempty"`
	Speaker      string    `json:"speaker,omitempty"`
	Bank         bool      `json:"bank,omitempty"`
	KeepMessages bool      `json:"keep_messages,omitempty"`
	Preview      bool      `json:"preview,omitempty"` // say what would be erased, and erase nothing
}
