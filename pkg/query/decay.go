package query

import (
	"math"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Decay is how relevant a fact still is at now: half after each half-life since
// it was last used (or said, where nothing used it), never below floor, 1 for a
// system without a half-life and for a time that lies ahead.
func (c RecallConfig) Decay(system memory.System, last, now time.Time) float64 {
	halfLife, decays := c.HalfLives[system]
	if !decays || halfLife <= 0 || !now.After(last) {
		return 1
	}
	return max(c.DecayFloor, math.Exp2(-float64(now.Sub(last))/float64(halfLife)))
}

// decays gives what decay leaves of each fact's score: DecayWeight of the score
// decays, the rest stays.
func (g *gatherer) decays(facts []int64) (map[int64]float64, error) {
	if err := g.readFacts(facts); err != nil {
		return nil, err
	}
	rows := known(facts, g.facts)
	ids := make([]string, len(rows))
	for i, f := range rows {
		ids[i] = string(f.ID)
	}
	uses, err := g.s.Uses(ids)
	if err != nil {
		return nil, err
	}
	used := make(map[string]time.Time, len(uses))
	for _, u := range uses {
		if u.Used > 0 {
			used[u.ID] = u.At
		}
	}
	out := make(map[int64]float64, len(rows))
	for _, f := range rows {
		last := f.Said
		if at, ok := used[string(f.ID)]; ok && at.After(last) {
			last = at
		}
		left := g.cfg.Decay(f.Type.System(), last, g.a.now)
		if f.Pinned {
			left = 1
		}
		out[f.No] = 1 - g.cfg.DecayWeight*(1-left)
	}
	return out, nil
}
