package query

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/rank"
)

// gatherer finds candidates for one recall in one state of a bank.
type gatherer struct {
	cfg      RecallConfig
	a        ask
	q        question
	s        Searcher
	second   Searcher // of the same state, for another line of steps; nil = there is none
	weights  rank.Weights
	deadline time.Time // zero = none
	degraded []string

	pool         pool
	found        map[memory.Record]*postings // of every record
	talk         *conversation
	early        *readAhead
	settled      map[memory.Record][]int64 // what was found and passes, of every record, ascending
	messages     map[int64]MessageRow
	facts        map[int64]FactRow
	composites   map[int64]CompositeRow
	observations map[int64]ObservationRow
}

func newGatherer(cfg RecallConfig, a ask, s Searcher) *gatherer {
	g := &gatherer{cfg: cfg, a: a, s: s, weights: cfg.Ranking, pool: newPool(), found: map[memory.Record]*postings{}, talk: &conversation{}, early: &readAhead{},
		messages: map[int64]MessageRow{}, facts: map[int64]FactRow{}, composites: map[int64]CompositeRow{}, observations: map[int64]ObservationRow{}}
	for _, r := range memory.Records {
		g.found[r] = &postings{has: map[int64]uint64{}, df: map[string]int{}}
	}
	return g
}

// wants reports whether rows of a record are asked for.
func (g *gatherer) wants(r memory.Record) bool { return g.a.records[r] }

// byVectors reports whether vectors are compared.
func (g *gatherer) byVectors() bool {
	return g.a.on(memory.StrategySemantic) && len(g.a.vector) > 0
}

// wantsFacts reports whether facts are looked for: for themselves or because
// they support the messages and composites they belong to.
func (g *gatherer) wantsFacts() bool {
	return g.wants(memory.RecordFact) || g.wants(memory.RecordComposite)
}
