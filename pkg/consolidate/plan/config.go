package plan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/cluster"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Config holds the numbers by which Plan decides. Two runs over one log make the same store only under the same Config.
type Config struct {
	// Thresholds belong to the embedding model; a bank's own replace them one by one.
	Thresholds memory.SimilarityThresholds
	Model      string // name of the embedding model; "" = any
	Dimension  int    // size of its vectors; 0 = any

	DedupNearest   int // neighbours compared for a duplicate, a correction or a conflict
	ClusterNearest int // neighbours compared for a place in the tree
	Cap            int // members of a composite, at most
	// SharedEase lowers the cluster threshold where members must share a content word, which is evidence of its own;
	// LevelRelax lowers it per level above the first. Neither lowers it below the diameter.
	SharedEase, LevelRelax float64
	MaxLevels              int // levels of the tree

	StateFacts int // facts of one attribute of one subject that a timeline is computed over, newest first

	ObserveEntities int           // entities that observe looks at, busiest first
	ObserveFacts    int           // facts per entity that observe looks at, newest first
	MinConfidence   float64       // observations below it are not kept
	HalfLife        time.Duration // after which the recency of an observation's facts counts half
	ConsolidateMin  int           // waiting facts without which consolidate does not run unforced

	// Decide, Summarise and Observe say that a language model is configured to decide about new facts, to word
	// composites, and to answer requests to observe. Plan queues the questions for it.
	Decide, Summarise, Observe bool
	// SummariseMin is how many facts a composite holds at least to be worded by a model: two or three facts are read as
	// quickly as a wording of them, and most composites are that small.
	SummariseMin int

	DecideNearest int     // neighbours considered for a decision
	DecideTargets int     // older facts that a new one is to be compared with, at most
	DecideCosine  float64 // cosine from which an older fact is asked about, and no less than the cluster threshold
	DecideWords   int     // content words that a less near one of the same entity must share, names left out
}

// DefaultConfig has the thresholds of neural embedding models.
func DefaultConfig() Config {
	return Config{
		Thresholds:      memory.SimilarityThresholds{Dedup: 0.85, Cluster: 0.75, Diameter: 0.70},
		DedupNearest:    10,
		ClusterNearest:  15,
		Cap:             8,
		SharedEase:      0.05,
		LevelRelax:      0.05,
		MaxLevels:       12,
		StateFacts:      256,
		SummariseMin:    4,
		ObserveEntities: 50,
		ObserveFacts:    200,
		MinConfidence:   0.3,
		HalfLife:        180 * 24 * time.Hour,
		ConsolidateMin:  3,
		DecideNearest:   20,
		DecideTargets:   10,
		DecideCosine:    0.75,
		DecideWords:     3,
	}
}

// Validate reports every setting that cannot be used.
func (c Config) Validate() error {
	var errs []error
	share := func(name string, v float64) {
		if math.IsNaN(v) || v < 0 || v > 1 {
			errs = append(errs, memory.Invalid(name, "is %v; expected 0 to 1", v))
		}
	}
	share("thresholds.dedup", c.Thresholds.Dedup)
	share("thresholds.cluster", c.Thresholds.Cluster)
	share("thresholds.diameter", c.Thresholds.Diameter)
	share("shared_ease", c.SharedEase)
	share("level_relax", c.LevelRelax)
	share("min_confidence", c.MinConfidence)
	share("decide_cosine", c.DecideCosine)
	for _, n := range []struct {
		name      string
		value     int
		low, high int
	}{
		{"dimension", c.Dimension, 0, memory.MaxDimension},
		{"dedup_nearest", c.DedupNearest, 1, 100}, {"cluster_nearest", c.ClusterNearest, 1, 100},
		{"cap", c.Cap, 3, 64}, {"max_levels", c.MaxLevels, 1, 32}, {"state_facts", c.StateFacts, 2, 10000},
		{"observe_entities", c.ObserveEntities, 1, 1000}, {"observe_facts", c.ObserveFacts, 1, 10000},
		{"consolidate_min", c.ConsolidateMin, 1, 1000000}, {"summarise_min", c.SummariseMin, 2, 1000000},
		{"decide_nearest", c.DecideNearest, 1, 100}, {"decide_targets", c.DecideTargets, 1, 100}, {"decide_words", c.DecideWords, 1, 100},
	} {
		if n.value < n.low || n.value > n.high {
			errs = append(errs, memory.Invalid(n.name, "is %d; expected %d to %d", n.value, n.low, n.high))
		}
	}
	if c.HalfLife <= 0 {
		errs = append(errs, memory.Invalid("half_life", "is %s; it must be positive", c.HalfLife))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("plan config: %w", err)
	}
	return nil
}

// thresholds returns the model's thresholds, eased where they are lexical. A bank's own replace them as they are.
func (c Config) thresholds(b memory.Bank) memory.SimilarityThresholds {
	t := c.Thresholds
	if t.SharedWord {
		t.Cluster = max(t.Cluster-c.SharedEase, min(t.Cluster, t.Diameter))
	}
	if b.Thresholds == nil {
		return t
	}
	for _, own := range []struct{ to, from *float64 }{
		{&t.Dedup, b.Thresholds.Dedup}, {&t.Cluster, b.Thresholds.Cluster}, {&t.Diameter, b.Thresholds.Diameter},
	} {
		if own.from != nil {
			*own.to = *own.from
		}
	}
	return t
}

// mostNeighbours is how many neighbours a new fact is compared with, at most.
func (c Config) mostNeighbours() int {
	if c.Decide {
		return max(c.ClusterNearest, c.DecideNearest)
	}
	return c.ClusterNearest
}

// limitsAt returns what may stand in one composite of a level, 1 and up.
func (c Config) limitsAt(t memory.SimilarityThresholds, level int) cluster.Limits {
	relaxed := t.Cluster - c.LevelRelax*float64(level-1)
	return cluster.Limits{Cluster: max(relaxed, min(t.Cluster, t.Diameter)), Diameter: t.Diameter, SharedWord: t.SharedWord, Cap: c.Cap}
}

// View is what Plan may read of one bank, as the store stood when the write's transaction reached it. Equal stores give
// equal answers in equal order. Ids that are not there are left out.
type View interface {
	// Bank returns the profile; of a bank that does not exist yet, the default one.
	Bank() (memory.Bank, error)
	// Made reports whether the bank was made by a write, or by a message event up to a sequence.
	Made(upto uint64) (bool, error)

	// Facts returns facts by id, in any state, with vectors, in the order asked.
	Facts(ids []memory.FactID) ([]memory.Fact, error)
	// FactByKey returns the live fact with a key that a caller gave it; nil if there is none.
	FactByKey(key string) (*memory.Fact, error)
	// FactsOfState returns up to limit facts, newest said first, that assert a value of this attribute of this subject,
	// merged ones left out.
	FactsOfState(subject memory.EntityID, attribute string, limit int) ([]memory.Fact, error)
	// FactsOfStateSince returns up to limit of those, in any order, that hold at a time or end at it or later, that
	// hold at no time, or that were said at said or later; it may return others too.
	FactsOfStateSince(subject memory.EntityID, attribute string, at, said time.Time, limit int) ([]memory.Fact, error)
	// FactsOfEntity returns up to limit live facts that name the entity, newest said first.
	FactsOfEntity(entity memory.EntityID, limit int) ([]memory.Fact, error)
	// FactsNaming returns the facts, in any state, that name the entity, by id.
	FactsNaming(entity memory.EntityID) ([]memory.Fact, error)
	// FactsOfMessages returns the facts, in any state, that rest on one of the message events.
	FactsOfMessages(seqs []uint64) ([]memory.Fact, error)
	// FactsByHand returns the facts, in any state, that rest on no message: with a speaker or session given, those that
	// name it; with both empty, all.
	FactsByHand(speaker string, session memory.SessionID) ([]memory.Fact, error)
	// FactsPointingTo returns the facts superseded by or merged into one of the ids.
	FactsPointingTo(ids []memory.FactID) ([]memory.Fact, error)

	// Nearest returns up to limit live nodes of the level whose cosine to v is least or more, by descending cosine,
	// ties by id. Candidates are the at most 128 nodes that share a rare term or an entity with the given ones; the
	// bank is not scanned. The result may be shared with later answers and must not be changed.
	Nearest(level int, v memory.Vector, terms []string, entities []memory.EntityID, least float64, limit int) ([]Neighbour, error)
	// Nodes returns live facts (level 0) or composites as nodes, with vectors.
	Nodes(level int, ids []string) ([]memory.Node, error)
	// Composites returns composites by id.
	Composites(ids []memory.CompositeID) ([]memory.Composite, error)

	// Entities returns entities by id, following no redirect.
	Entities(ids []memory.EntityID) ([]memory.Entity, error)
	// EntitiesNamed returns the entities that have this spelling (NormalText) as name or alias, by id.
	EntitiesNamed(name string) ([]memory.Entity, error)
	// BusiestEntities returns up to limit entities by the number of live facts that name them, ties by id.
	BusiestEntities(limit int) ([]memory.Entity, error)

	// Messages returns what is stored of message events, duplicates included.
	Messages(seqs []uint64) ([]StoredMessage, error)
	// MessagesByID returns what is stored under message ids: of each the stored event and its known duplicates, by
	// sequence.
	MessagesByID(ids []memory.MessageID) ([]StoredMessage, error)
	// MessagesOf returns the message events up to a sequence: of a session or, with session empty, of a speaker; with
	// both empty, of the bank.
	MessagesOf(session memory.SessionID, speaker string, upto uint64) ([]StoredMessage, error)
	// Replacements returns the replacements in effect for the message ids.
	Replacements(ids []memory.MessageID) ([]memory.Replacement, error)

	// Conflicts returns all conflicts one of the facts is party to, by id.
	Conflicts(facts []memory.FactID) ([]memory.Conflict, error)
	// Conflict returns one conflict; nil if there is none.
	Conflict(id memory.ConflictID) (*memory.Conflict, error)
	// Relation returns the relation of the type that leads from one record to another; nil if there is none.
	Relation(from, to string, typ memory.RelationType) (*memory.Relation, error)
	// Undo returns what takes the apply of an op back; nil if that is not there.
	Undo(op string) (*memory.Undo, error)
	// Observations returns observations by id.
	Observations(ids []memory.ObservationID) ([]memory.Observation, error)
	// ObservationsOf returns the observations that rest on one of the facts, by id.
	ObservationsOf(facts []memory.FactID) ([]memory.Observation, error)

	// DecisionsOf returns what became of a model's decisions that one of the facts was party to, by fact, target and
	// write.
	DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error)
	// Pending returns up to limit questions of a kind that wait for a model, the longest waiting first, then by id.
	Pending(kind memory.PendingKind, limit int) ([]memory.PendingQuestion, error)
	// LastObserved returns the MEM_WRITES sequence up to which a model has seen the facts, 0 for none.
	LastObserved() (uint64, error)

	// Window returns how a window ended; nil if it did not.
	Window(id memory.WindowID) (*memory.WindowEnd, error)
	// Outcome returns the outcome of an op that was applied; nil if it was not.
	Outcome(op string) (*memory.WriteOutcome, error)
	// FactsSince counts live facts whose version is past a MEM_WRITES sequence.
	FactsSince(write uint64) (int, error)
	// LastConsolidated returns the MEM_WRITES sequence of the last consolidate that ran, 0 for none.
	LastConsolidated() (uint64, error)
	// Tombstoned reports which of the message events were forgotten.
	Tombstoned(seqs []uint64) (map[uint64]bool, error)
}

// Neighbour is a node near another one.
type Neighbour struct {
	memory.Node
	Cosine float64 // in [-1, 1]
}

// StoredMessage is what the store has of a message event, without its text.
type StoredMessage struct {
	Seq       uint64           // of this event
	ID        memory.MessageID // "" where the id is not known (forgotten)
	Canonical uint64           // the event that is stored under the id; differs from Seq for a duplicate
	Session   memory.SessionID
	Speaker   string
	Said      memory.Instant
	Replaces  memory.MessageID
	State     memory.MessageState
}

// malformed reports whether the event is no message; its id and speaker are what of it can be read.
func (m StoredMessage) malformed() bool {
	return m.State == memory.StateDead && m.Seq != m.Canonical
}
