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
