package consolidate

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// tell adds a change event.
func (ws *workspace) tell(what string, op memory.Outcome, record string, ids ...string) {
	ws.out.Changes = append(ws.out.Changes, memory.Change{What: what, Op: op, Record: record, IDs: ids})
}

// finish takes the changed facts into the tree, the conflicts and the
// observations, and gives what changed in all, in order.
func (ws *workspace) finish() memory.Changes {
	if ws.err != nil {
		return memory.Changes{}
	}
	if ws.out.Outcome.Code != 0 {
		return memory.Changes{Outcome: ws.out.Outcome}
	}
	ws.settleKeys()
	facts := ws.changedFacts()
	ws.queueDecisions(facts)
	ws.growTree(ws.factStep(facts))
	var ended, forgotten, shaken []memory.FactID
	merged := map[memory.FactID]memory.FactID{}
	for _, s := range facts {
		if s.before == nil {
			continue
		}
		switch id := s.before.ID; {
		case s.gone:
			forgotten, shaken = append(forgotten, id), append(shaken, id)
		case s.before.Live() && !s.now.Live():
			ended, shaken = append(ended, id), append(shaken, id)
			merged[id] = s.now.Merged
		case len(s.now.Sources) < len(s.before.Sources):
			shaken = append(shaken, id)
		}
	}
	ws.settleConflicts(ended, forgotten)
	ws.reviseObservations(shaken, merged)
	ws.collectFacts(facts)
	ws.collectComposites()
	ws.collectObservations()
	ws.collectEntities(facts)
	ws.collectConflicts()
	ws.orderPending()
	ws.out.Relations = ws.keptRelations()
	slices.SortFunc(ws.out.Replacements, func(a, b memory.Replacement) int { return cmp.Compare(a.ID, b.ID) })
	if f := ws.out.Forgotten; f != nil {
		f.Receipt.Composites = len(ws.out.RemovedComposites)
		f.Receipt.Observations = len(ws.out.RemovedObservations)
		for _, id := range ws.out.RemovedObservations {
			if ws.observed[id].before.Given {
				f.Observations = append(f.Observations, id)
			}
		}
		ws.out.Outcome.Receipt = f.Receipt
		ws.tell(memory.ChangeForget, memory.OutcomeRemoved, ws.write.Op)
	}
	if ws.out.Outcome.Ran != nil && *ws.out.Outcome.Ran {
		ws.out.Outcome.Composites = len(ws.out.Composites)
	}
	return ws.out
}

// settleKeys leaves every key to one live fact: to the one that had it, where
// an older fact of the key came to hold again by other means than the key.
func (ws *workspace) settleKeys() {
	keys := map[string]bool{}
	for _, s := range ws.facts {
		if s.dirty && !s.gone && s.now.Key != "" && s.now.Live() {
			keys[s.now.Key] = true
		}
	}
	for _, key := range slices.Sorted(mapKeys(keys)) {
		ws.factByKey(key) // so that the stored one is among the facts
		var live []*factState
		for _, s := range ws.facts {
			if !s.gone && s.now.Key == key && s.now.Live() {
				live = append(live, s)
			}
		}
		had := func(s *factState) int {
			if s.before != nil && s.before.Live() && s.before.Key == key {
				return 1
			}
			return 0
		}
		slices.SortFunc(live, func(a, b *factState) int { return cmp.Or(cmp.Compare(had(b), had(a)), rank(b.now, a.now)) })
		for _, s := range live[min(1, len(live)):] {
			f := cloneFact(s.now)
			f.Key = ""
			ws.put(f)
		}
	}
}

// changedFacts gives the facts that differ from what is stored, by id.
func (ws *workspace) changedFacts() []*factState {
	var out []*factState
	for _, s := range ws.facts {
		if s.gone && s.before == nil || !s.dirty || !s.gone && s.before != nil && sameFact(*s.before, s.now) {
			continue
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *factState) int { return cmp.Compare(a.id(), b.id()) })
	return out
}

func (s *factState) id() memory.FactID {
	if s.before != nil {
		return s.before.ID
	}
	return s.now.ID
}

// factStep says what the changed facts mean for the tree. A fact that merged
// into a new one hands its place on to it.
func (ws *workspace) factStep(facts []*factState) step {
	out := step{renewed: map[string]string{}}
	heirs := map[memory.FactID]bool{}
	var fresh []memory.Fact
	for _, s := range facts {
		was, is := s.before != nil && s.before.Live(), !s.gone && s.now.Live()
		switch {
		case was && !is:
			heir := ws.heir(s.now)
			h := ws.facts[heir]
			fits := !s.gone && s.now.Merged != "" && h != nil && !h.gone && h.now.Live() && (h.before == nil || !h.before.Live())
			if fits && !heirs[heir] && ws.parent(0, string(s.id())) != "" {
				heirs[heir] = true
				out.renewed[string(s.id())] = string(heir)
			} else {
				out.gone = append(out.gone, string(s.id()))
			}
		case !was && is:
			fresh = append(fresh, s.now)
		case was && is && s.before.Vector == nil && s.now.Vector != nil:
			fresh = append(fresh, s.now)
		case was && is:
			out.touched = append(out.touched, string(s.id()))
		}
	}
	slices.SortFunc(fresh, rank)
	for _, f := range fresh {
		if !heirs[f.ID] {
			out.fresh = append(out.fresh, string(f.ID))
		}
	}
	return out
}
