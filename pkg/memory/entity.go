package memory

// EntityType says what kind of thing an entity is.
type EntityType string

// The types of entity.
const (
	EntityPerson       EntityType = "person"
	EntityPlace        EntityType = "place"
	EntityOrganization EntityType = "organization"
	EntityProject      EntityType = "project"
	EntityTool         EntityType = "tool"
	EntityConcept      EntityType = "concept"
	EntityFile         EntityType = "file"
	EntityOther        EntityType = "other"
)

// Known reports whether t is one of the eight types.
func (t EntityType) Known() bool {
	switch t {
	case EntityPerson, EntityPlace, EntityOrganization, EntityProject, EntityTool, EntityConcept, EntityFile, EntityOther:
		return true
	}
	return false
}

// Entity is a named thing of one bank.
type Entity struct {
	ID       EntityID   `json:"id"`
	Type     EntityType `json:"type"`
	Name     string     `json:"name"`              // as it was first written
	Aliases  []string   `json:"aliases,omitempty"` // other spellings, sorted
	Facts    int        `json:"facts"`             // live facts that name it; filled on read
	Redirect EntityID   `json:"redirect,omitempty"`
}

// RelationType names how one record bears on another.
type RelationType string

// The ten types of relation.
const (
	RelImplies     RelationType = "implies"
	RelContradicts RelationType = "contradicts"
	RelSpecializes RelationType = "specializes"
	RelGeneralizes RelationType = "generalizes"
	RelCauses      RelationType = "causes"
	RelCorrelates  RelationType = "correlates"
	RelPartOf      RelationType = "part_of"
	RelContextOf   RelationType = "context_of"
	RelSupersedes  RelationType = "supersedes"
	RelRelatedTo   RelationType = "related_to"
)

// RelationTypes lists the ten types.
var RelationTypes = []RelationType{RelImplies, RelContradicts, RelSpecializes, RelGeneralizes, RelCauses,
	RelCorrelates, RelPartOf, RelContextOf, RelSupersedes, RelRelatedTo}

// Relation is a typed edge between two facts or two entities of a bank.
type Relation struct {
	From     string       `json:"from"`
	To       string       `json:"to"`
	Type     RelationType `json:"type"`
	Strength float64      `json:"strength"` // 0 to 1
	Facts    []FactID     `json:"facts,omitempty"`
}

// ConflictState is where a conflict stands.
type ConflictState string

// A conflict is open until it is resolved or dismissed. It does not open again.
const (
	ConflictOpen      ConflictState = "open"
	ConflictResolved  ConflictState = "resolved"
	ConflictDismissed ConflictState = "dismissed"
)

// Conflict is two facts that cannot both be true, with no clear winner.
type Conflict struct {
	ID      ConflictID    `json:"id"`
	A       FactID        `json:"a"`
	B       FactID        `json:"b"`
	Reason  string        `json:"reason"`
	State   ConflictState `json:"state"`
	Winner  FactID        `json:"winner,omitempty"`
	Version uint64        `json:"version"`
}
