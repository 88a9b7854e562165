package memory

// Action is what a decision does about an older fact when a newer one arrived.
type Action string

// The actions.
const (
	ActionUpdate     Action = "update"     // one wording replaces both, with the sources of both
	ActionSupersede  Action = "supersede"  // the newer fact ends the older one
	ActionMerge      Action = "merge"      // both say the same: the newer absorbs the older
	ActionContradict Action = "contradict" // both cannot be true and neither is the clear winner: a conflict
	ActionIgnore     Action = "ignore"     // they are unrelated
)

// Valid reports whether a is one of the five actions.
func (a Action) Valid() bool {
	switch a {
	case ActionUpdate, ActionSupersede, ActionMerge, ActionContradict, ActionIgnore:
		return true
	}
	return false
}

// Stamp says which model made something, and by which prompt.
type Stamp struct {
	Model  string `json:"model"`  // provider and model
	Prompt string `json:"prompt"` // name and version of the prompt, as "decide/1"
}

// Decided is what a language model decided about one fact and older ones near it.
type Decided struct {
	Fact FactID `json:"fact"`
	// Version of Fact when it was judged. 0 on both sides says that the decision was applied before and is appended
	// again.
	Version uint64     `json:"version"`
	Targets []Decision `json:"targets"`
}

// Decision is what is to become of one older fact. It is applied only if the target still has Version.
type Decision struct {
	Target   FactID      `json:"target"`
	Version  uint64      `json:"version"`
	Action   Action      `json:"action"`
	Text     string      `json:"text,omitempty"`   // of an update: the wording that replaces both
	Vector   Vector      `json:"vector,omitempty"` // of Text
	Model    string      `json:"embedding_model,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Evidence []MessageID `json:"evidence,omitempty"` // messages it was decided from
}

// Summary is a wording for a composite that replaces its representative's.
type Summary struct {
	Composite CompositeID `json:"composite"` // its id fixes its members
	// Text is "" to keep the representative's.
	Text   string   `json:"text"`
	Facts  []FactID `json:"facts,omitempty"` // the leaves it was written from
	Vector Vector   `json:"vector,omitempty"`
	Model  string   `json:"embedding_model,omitempty"`
}

// LateVector is the vector of a record that was stored without one.
type LateVector struct {
	Record Record `json:"record"` // fact or message
	ID     string `json:"id,omitempty"`
	Seq    uint64 `json:"seq,omitempty"` // of a message
	Model  string `json:"embedding_model"`
	Vector Vector `json:"vector"`
}
