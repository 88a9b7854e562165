package memory

import "time"

// Kind says what a fact is about: the world, what the agent did itself, or a belief.
type Kind string

// The kinds of fact. KindObservation is the kind of the record Observation.
const (
	KindWorld       Kind = "world"
	KindExperience  Kind = "experience"
	KindOpinion     Kind = "opinion"
	KindObservation Kind = "observation"
)

// Valid reports whether k is a kind a fact can have.
func (k Kind) Valid() bool { return k == KindWorld || k == KindExperience || k == KindOpinion }

// Type refines a fact. Custom types are allowed: lower-case letters, digits and _.
type Type string

// The types Eunoe knows.
const (
	TypeFact           Type = "fact"
	TypePreference     Type = "preference"
	TypeEvent          Type = "event"
	TypeConstraint     Type = "constraint"
	TypeProcedure      Type = "procedure"
	TypeFailurePattern Type = "failure_pattern"
	TypeToolAffordance Type = "tool_affordance"
	TypeDecision       Type = "decision"
	TypeBelief         Type = "belief"
	TypeInstruction    Type = "instruction"
	TypeQuestion       Type = "question"
	TypeOutcome        Type = "outcome"
)

// TagAnswer marks a fact that holds a question and its answer. It rests on both messages and goes when either is
// forgotten.
const TagAnswer = "answer"

// Valid reports whether t has the form of a type: 1 to 64 of a-z, 0-9 and _.
func (t Type) Valid() bool {
	if len(t) == 0 || len(t) > 64 {
		return false
	}
	for _, c := range []byte(t) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// System is the kind of memory a type belongs to; decay depends on it.
type System string

// The three systems.
const (
	Episodic   System = "episodic"
	Semantic   System = "semantic"
	Procedural System = "procedural"
)

// System derives the memory system from the type; a custom type is semantic.
func (t Type) System() System {
	switch t {
	case TypeEvent, TypeOutcome, TypeQuestion:
		return Episodic
	case TypeProcedure, TypeFailurePattern, TypeToolAffordance, TypeInstruction:
		return Procedural
	}
	return Semantic
}

// Source is a message that a fact rests on. Said and Start are the times that this source gives the fact: when it was
// said, and from when it is valid.
type Source struct {
	Message MessageID `json:"message"`
	Seq     uint64    `json:"seq"`
	Said    time.Time `json:"said"`
	Start   time.Time `json:"start"`
}

// State is the attribute of a subject that a fact gives a value, where the statement has that form: Alice's residence
// is Lisbon. Two facts with equal Subject and Attribute and different Values cannot be valid at one time. "not " before
// the Value says that it is no longer valid, and nothing about another value.
type State struct {
	Subject   EntityID `json:"subject"`
	Attribute string   `json:"attribute"` // lower case: residence, employer, favourite colour
	Value     string   `json:"value"`     // normalised (NormalText)
}

// Result is how an attempt ended.
type Result struct {
	Strategy string  `json:"strategy,omitempty"`
	Result   string  `json:"result,omitempty"`   // success, failure or partial
	Surprise float64 `json:"surprise,omitempty"` // 0 to 1
}

// Fact is one self-contained statement. Its id is hashed from bank, normalised text and kind, so the same thing said
// twice is one fact with two sources.
type Fact struct {
	ID         FactID         `json:"id"`
	Bank       BankID         `json:"-"`
	Key        string         `json:"key,omitempty"` // the caller's name for it (retain)
	Text       string         `json:"text"`
	Kind       Kind           `json:"kind"`
	Type       Type           `json:"type"`
	Entities   []EntityID     `json:"entities,omitempty"` // sorted, unique
	Topic      string         `json:"topic,omitempty"`
	Tags       []string       `json:"tags,omitempty"` // sorted, unique, lower case
	Speaker    string         `json:"speaker,omitempty"`
	Role       Role           `json:"role,omitempty"`
	Session    SessionID      `json:"session,omitempty"`
	Occurred   Span           `json:"occurred,omitzero"`
	Said       time.Time      `json:"said"`             // event time of the latest source
	Recorded   time.Time      `json:"recorded"`         // when the write that made it was appended
	Valid      []Interval     `json:"valid"`            // sorted, disjoint; empty = never valid
	Bounds     *Bounds        `json:"bounds,omitempty"` // when it holds, as given by who retained it; nil = not given
	State      *State         `json:"state,omitempty"`
	Superseded FactID         `json:"superseded_by,omitempty"` // the fact that ended it
	Merged     FactID         `json:"merged_into,omitempty"`   // the fact that absorbed it as a duplicate
	Confidence float64        `json:"confidence"`              // 0 to 1
	Sources    []Source       `json:"sources"`                 // by Seq; empty only when retained by hand
	Ops        []string       `json:"ops,omitempty"`           // retain operations it came from
	Outcome    *Result        `json:"outcome,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Version    uint64         `json:"version"` // MEM_WRITES sequence of the last change to it
	Pinned     bool           `json:"pinned,omitempty"`
	Extractor  string         `json:"extractor,omitempty"` // name and version of what extracted it
	Model      string         `json:"embedding_model,omitempty"`
	Vector     Vector         `json:"vector,omitempty"` // unit length, or nil
}

// Bounds are when a fact holds by the word of who retained it. The fact itself holds in what later statements leave of it.
type Bounds struct {
	From time.Time  `json:"from"`
	To   *time.Time `json:"to,omitempty"` // nil = open
	Said time.Time  `json:"said"`         // when that was said: of contradicting statements the later one counts
}

// Live reports whether the fact is valid with an open end: it is not merged, and its last interval is open.
func (f Fact) Live() bool {
	return f.Merged == "" && len(f.Valid) > 0 && f.Valid[len(f.Valid)-1].To == nil
}

// ValidAt reports whether one of the validity intervals covers t.
func (f Fact) ValidAt(t time.Time) bool {
	for _, i := range f.Valid {
		if i.Covers(t) {
			return true
		}
	}
	return false
}

// MessageIDs returns the ids of the sources, in order; never nil.
func (f Fact) MessageIDs() []MessageID {
	ids := make([]MessageID, 0, len(f.Sources))
	for _, s := range f.Sources {
		ids = append(ids, s.Message)
	}
	return ids
}

// FactInput is a fact as a caller of retain sends it.
type FactInput struct {
	Key        string         `json:"key,omitempty"`
	Text       string         `json:"text"`
	Kind       Kind           `json:"kind,omitempty"`
	Type       Type           `json:"type,omitempty"`
	Entities   []string       `json:"entities,omitempty"`
	Tags       []string       `json:"tags,omitempty"`
	Speaker    string         `json:"speaker,omitempty"`
	Occurred   *Span          `json:"occurred,omitempty"`
	Valid      *Interval      `json:"valid,omitempty"` // when it holds; nil = since it was said
	Said       *time.Time     `json:"said,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Sources    []MessageID    `json:"sources,omitempty"`
	Vector     Vector         `json:"vector,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}
