package settings

import "time"

// Tuning holds the numbers that no operator has had a reason to set. They are no
// variables of the environment; tests and benchmarks vary them in code.
type Tuning struct {
	// Grace is how long a stage may finish what it began when it is told to stop.
	// It is shorter than the 30 s after which container runtimes kill a process.
	Grace time.Duration
	// Batch is how many events the consolidator commits in one transaction. A commit
	// costs one sync of the file; beyond 200 the share of that sync is below 2 %.
	Batch int
	// ModelPatience is how long a window waits for a model that is away before its
	// attempts count: it outlasts a night without an operator and a daily quota.
	ModelPatience time.Duration
	// ConsolidateBatch is how many facts, or composites, of a bank wait until a
	// language model is asked about them together: what fits into one prompt.
	ConsolidateBatch int
	// ConsolidateAfter is how long a fact waits at most for others to be asked about
	// with it; a composite waits twelve times as long, because it is still growing.
	ConsolidateAfter time.Duration
	// SummariseMin is how many facts a composite holds at least before a language
	// model words it; the text of a smaller one is that of its representative.
	SummariseMin int
	// ModelRetries is how often a failed request to a model is repeated at most, within
	// the time of one call. The stages try again by themselves: this covers a short
	// disturbance, as the clients of the providers do by default (2).
	ModelRetries int
}

// DefaultTuning returns the numbers that every deployment runs with.
func DefaultTuning() Tuning {
	return Tuning{
		Grace:            10 * time.Second,
		Batch:            200,
		ModelPatience:    24 * time.Hour,
		ConsolidateBatch: 32,
		ConsolidateAfter: 5 * time.Minute,
		SummariseMin:     4,
		ModelRetries:     2,
	}
}
