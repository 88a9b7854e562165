package consolidate

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// erase removes facts for good. What they had superseded or absorbed lives
// again; what lives again is held against its neighbours anew, so that two
// wordings of one statement become one.
func (ws *workspace) erase(ids []memory.FactID) {
	if len(ids) == 0 {
		return
	}
	ws.load(ids)
	gone := setOf(ids)
	pointing := ws.factsPointingTo(ids)
	var states []memory.State
	for _, id := range ids {
		if f := ws.fact(id); f != nil {
			if f.State != nil {
				states = append(states, *f.State)
			}
			ws.drop(id)
		}
	}
	var revived []memory.Fact
	for _, p := range pointing {
		if gone[p.ID] {
			continue
		}
		f := cloneFact(p)
		if gone[f.Merged] {
			f.Merged, f.Valid = "", []memory.Interval{{From: start(f)}}
			revived = append(revived, f)
		} else {
			f.Superseded = ""
			if n := len(f.Valid); n > 0 {
				f.Valid[n-1].To = nil
			} else {
				f.Valid = []memory.Interval{{From: start(f)}}
			}
		}
		ws.put(f)
		ws.recount(f)
		if f.State != nil {
			states = append(states, *f.State)
		}
	}
	for _, s := range states {
		ws.retime(s)
	}
	slices.SortFunc(revived, rank)
	for _, r := range revived {
		if f := ws.fact(r.ID); f != nil && f.Live() && f.Vector != nil {
			ws.mergeNear(*f, ws.nearFacts(*f))
		}
	}
}

// recount brings a fact's times in line with the sources it has left.
func (ws *workspace) recount(f memory.Fact) {
	f = cloneFact(f)
	if len(f.Sources) > 0 {
		f.Said = lastSaid(f.Sources)
		if from := start(f); len(f.Valid) > 0 && f.Valid[0].From.Before(from) && (f.Valid[0].To == nil || from.Before(*f.Valid[0].To)) {
			f.Valid[0].From = from
		}
		if until := ws.takenBack(f); until != nil && f.Merged == "" && f.State == nil {
			closeAt(&f, *until, f.Superseded)
		}
	}
	ws.put(f)
	if f.State != nil && f.Merged == "" {
		ws.retime(*f.State)
	}
}
