package memory

// The operations of a curation.
const (
	CurateRemember  = "remember"       // a new fact
	CurateEdit      = "edit"           // a new version of a fact
	CurateSupersede = "supersede"      // one fact ends another
	CurateMerge     = "merge"          // facts that say the same become one
	CurateSplit     = "split"          // a fact becomes several
	CurateConflict  = "conflict"       // two facts cannot both hold
	CurateResolve   = "resolve"        // one party of a conflict holds
	CurateDismiss   = "dismiss"        // both parties hold
	CurateLink      = "link"           // a relation between two facts or entities
	CurateUnlink    = "unlink"         // its end
	CurateTopic     = "topic"          // what facts are about
	CuratePin       = "pin"            // a fact does not decay
	CurateAlias     = "alias"          // names of one entity are joined, or parted
	CurateEntities  = "merge_entities" // several entities become one
	CurateForget    = "forget"         // refused: it is a request of its own
)

// Curation is one change of an apply. Which fields an op takes is the contract's. A field that takes an id may hold a
// reference, "$name", to what an earlier change with that As made.
type Curation struct {
	Op string `json:"op"`
	As string `json:"as,omitempty"`

	FactInput
	Text     string       `json:"text,omitempty"` // that of the FactInput
	ID       string       `json:"id,omitempty"`
	IDs      []string     `json:"ids,omitempty"`
	By       string       `json:"by,omitempty"`
	Into     string       `json:"into,omitempty"`
	Winner   string       `json:"winner,omitempty"`
	Version  *uint64      `json:"version,omitempty"`
	From     string       `json:"from,omitempty"`
	To       string       `json:"to,omitempty"`
	Relation RelationType `json:"relation,omitempty"`
	Strength *float64     `json:"strength,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Topic    *string      `json:"topic,omitempty"`
	Pin      *bool        `json:"pin,omitempty"`
	Parts    []FactInput  `json:"parts,omitempty"`
	Entity   string       `json:"entity,omitempty"`
	Aliases  []string     `json:"aliases,omitempty"`
	Remove   bool         `json:"remove,omitempty"`
}

// AliasRequest returns what a change joins or parts; false for one that is about no names.
func (c Curation) AliasRequest() (AliasRequest, bool) {
	switch c.Op {
	case CurateAlias:
		return AliasRequest{Entity: c.Entity, Aliases: c.Aliases, Remove: c.Remove}, true
	case CurateEntities:
		r := AliasRequest{Entity: c.Into}
		for i, id := range c.IDs {
			if r.Entity == "" && i == 0 {
				r.Entity = id
			} else if id != r.Entity {
				r.Aliases = append(r.Aliases, id)
			}
		}
		return r, true
	}
	return AliasRequest{}, false
}

// CurationWrite is a change as the log has it: the facts that it gives are among those of the write.
type CurationWrite struct {
	Curation
	Facts []int `json:"facts,omitempty"` // indexes of the write's facts
}

// Collision is a fact that a new one is near to or contradicts.
type Collision struct {
	ID       FactID     `json:"id"`
	Near     float64    `json:"near,omitempty"`     // cosine similarity, 0 to 1; 0 where only the conflict is known
	Conflict ConflictID `json:"conflict,omitempty"` // the open conflict of the two
	// Text and Settle are filled in replies: what the fact says, and changes for apply, one of which would settle it.
	Text   string     `json:"text,omitempty"`
	Settle []Curation `json:"settle,omitempty"`
}

// MaxUndos is how many applies of a bank can be taken back, the last ones.
const MaxUndos = 100

// Undo is what takes an apply back: the records that it changed as they were, without vectors, and the ids of those that
// it made.
type Undo struct {
	Op            string         `json:"op"`    // of the apply
	Write         uint64         `json:"write"` // its sequence: the version of every record that it changed
	Facts         []Fact         `json:"facts,omitempty"`
	MadeFacts     []FactID       `json:"made_facts,omitempty"`
	Conflicts     []Conflict     `json:"conflicts,omitempty"`
	MadeConflicts []ConflictID   `json:"made_conflicts,omitempty"`
	Observations  []Observation  `json:"observations,omitempty"`
	Relations     []UndoRelation `json:"relations,omitempty"`
	Entities      []UndoEntity   `json:"entities,omitempty"` // where the apply joined or parted names
}

// UndoRelation is a relation before and after an apply; nil = there was none.
type UndoRelation struct {
	Before *Relation `json:"before,omitempty"`
	After  *Relation `json:"after,omitempty"`
}

// UndoEntity is an entity before and after an apply. Before is nil for one that it made.
type UndoEntity struct {
	Before *Entity `json:"before,omitempty"`
	After  Entity  `json:"after"`
}
