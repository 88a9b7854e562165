package memory

import "time"

// Composite is a node of the memory tree: over facts at level 1, over composites of the level below above that.
type Composite struct {
	ID             CompositeID `json:"id"`
	Bank           BankID      `json:"-"`
	Level          int         `json:"level"`
	Text           string      `json:"text"`
	Representative string      `json:"representative"` // the child the text comes from
	Children       []string    `json:"children"`       // direct, sorted; FactIDs at level 1
	Entities       []EntityID  `json:"entities,omitempty"`
	Tags           []string    `json:"tags,omitempty"`
	Occurred       Span        `json:"occurred,omitzero"`
	Said           time.Time   `json:"said"` // latest of its leaves
	Confidence     float64     `json:"confidence"`
	Version        uint64      `json:"version"`
	Vector         Vector      `json:"vector,omitempty"` // the representative's
	By             *Stamp      `json:"by,omitempty"`     // the model that wrote Text; nil = it is the representative's
}

// Node is what clustering sees of a fact (level 0) or a composite: the same algorithm builds every level of the tree.
type Node struct {
	ID         string
	Level      int
	Text       string
	Vector     Vector // unit length; nil = cannot cluster
	Entities   []EntityID
	Tags       []string
	Confidence float64
	Said       time.Time
	Occurred   Span
	Parent     CompositeID // "" = a root of its level
	Children   []string    // direct; nil for a fact
}

// ObservationType says what an observation shows.
type ObservationType string

// The six types. Rules derive the first four.
const (
	ObservationPattern        ObservationType = "pattern"
	ObservationCausal         ObservationType = "causal"
	ObservationGeneralization ObservationType = "generalization"
	ObservationPreference     ObservationType = "preference"
	ObservationRisk           ObservationType = "risk"
	ObservationStrategy       ObservationType = "strategy"
)

// Valid reports whether t is one of the six types.
func (t ObservationType) Valid() bool {
	switch t {
	case ObservationPattern, ObservationCausal, ObservationGeneralization, ObservationPreference, ObservationRisk, ObservationStrategy:
		return true
	}
	return false
}

// Observation is what several facts show together. It rests on facts alone, never on observations.
type Observation struct {
	ID         ObservationID   `json:"id"`
	Bank       BankID          `json:"-"`
	Type       ObservationType `json:"type"`
	Subject    string          `json:"subject"` // what keys it: an entity and what is said of it
	Text       string          `json:"text"`
	Reasoning  string          `json:"reasoning"`
	Confidence float64         `json:"confidence"`
	Facts      []FactID        `json:"facts"`   // sorted
	Sources    []MessageID     `json:"sources"` // of those facts; filled on read
	Entities   []EntityID      `json:"entities,omitempty"`
	Said       time.Time       `json:"said"` // latest of its facts
	Version    uint64          `json:"version"`
	Given      bool            `json:"given,omitempty"` // handed in ready-made
	By         *Stamp          `json:"by,omitempty"`    // the model that made it; nil = none did
}
