package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// announce adds a change event.
func (ws *workspace) announce(what string, op memory.Outcome, record string, ids ...string) {
	ws.out.Changes = append(ws.out.Changes, memory.Change{What: what, Op: op, Record: record, IDs: ids})
}

func addedOrUpdated(added bool) memory.Outcome {
	if added {
		return memory.OutcomeAdded
	}
	return memory.OutcomeUpdated
}

// buildChanges takes the changed facts into the tree, the conflicts and the observations, and returns all that changed,
// each kind in the order of ids.
func (ws *workspace) buildChanges() memory.Changes {
	if ws.err != nil {
		return memory.Changes{}
	}
	if ws.out.Outcome.Code != 0 {
		return memory.Changes{Outcome: ws.out.Outcome, Stale: ws.out.Stale}
	}
	ws.makeKeysUnique()
	facts := ws.changedFacts()
	ws.queueDecisions(facts)
	ws.growTree(ws.changesForTree(facts))
	ended, removed, weakened, merged := endedFacts(facts)
	ws.settleConflicts(ended, removed)
	ws.reviseObservations(weakened, merged)
	ws.collectFacts(facts)
	ws.collectComposites()
	ws.collectObservations()
	ws.collectEntities(facts)
	ws.collectConflicts()
	ws.sortPending()
	ws.out.Relations = ws.keptRelations()
	slices.SortFunc(ws.out.Replacements, func(a, b memory.Replacement) int { return cmp.Compare(a.ID, b.ID) })
	ws.completeReceipt()
	if ws.out.Stale && ws.write.Kind == memory.WriteWindow {
		ws.dropRefused()
	}
	if ws.write.Kind == memory.WriteApply {
		ws.out.Undo = ws.recordUndo(facts)
	}
	if ws.out.Outcome.Ran != nil && *ws.out.Outcome.Ran {
		ws.out.Outcome.Composites = len(ws.out.Composites)
	}
	return ws.out
}

// dropRefused leaves out of the outcome what was refused. Of a stale window an erasure leaves none of it in the log, so a
// rebuild would not know it, and its key is a word of what was forgotten.
func (ws *workspace) dropRefused() {
	ws.out.Outcome.Results = slices.DeleteFunc(ws.out.Outcome.Results, func(r memory.WriteResult) bool { return r.Outcome == memory.OutcomeRefused })
}

// sourceSeqs returns the message events that the facts of the write name as their sources.
func (ws *workspace) sourceSeqs() (seqs []uint64) {
	for _, f := range ws.write.Facts {
		for _, s := range f.Sources {
			seqs = append(seqs, s.Seq)
		}
	}
	return seqs
}

// withoutLost returns the messages of a window without those that the log lost, of which the store has neither the event nor
// that it was forgotten: a rebuild that goes on without them makes windows of the others.
func (ws *workspace) withoutLost(list []memory.WindowMessage, stored map[uint64]StoredMessage) []memory.WindowMessage {
	var missing []uint64
	for _, m := range list {
		if _, ok := stored[m.Seq]; !ok {
			missing = append(missing, m.Seq)
		}
	}
	if len(missing) == 0 || ws.err != nil {
		return list
	}
	forgotten := ws.forgotten(missing)
	return slices.DeleteFunc(slices.Clone(list), func(m memory.WindowMessage) bool {
		return slices.Contains(missing, m.Seq) && !forgotten[m.Seq]
	})
}

// holdsText reports whether the write holds what an extractor made of its messages.
func (ws *workspace) holdsText() bool {
	w := ws.write
	return len(w.Facts)+len(w.Refused)+len(w.Relations)+len(w.Vectors) > 0 || w.Window != nil && w.Window.Reason != ""
}

// endedFacts returns the changed facts that no longer hold, those that were removed, and those on which observations
// can rest less than before: both, and facts that lost a source. merged says which fact absorbed which.
func endedFacts(facts []*factState) (ended, removed, weakened []memory.FactID, merged map[memory.FactID]memory.FactID) {
	merged = map[memory.FactID]memory.FactID{}
	for _, s := range facts {
		if s.before == nil {
			continue
		}
		switch id := s.before.ID; {
		case s.gone:
			removed, weakened = append(removed, id), append(weakened, id)
		case s.before.Live() && !s.now.Live():
			ended, weakened = append(ended, id), append(weakened, id)
			merged[id] = s.now.Merged
		case len(s.now.Sources) < len(s.before.Sources):
			weakened = append(weakened, id)
		}
	}
	return ended, removed, weakened, merged
}

// completeReceipt adds what went with the forgotten facts to the receipt of a forget.
func (ws *workspace) completeReceipt() {
	f := ws.out.Forgotten
	if f == nil {
		return
	}
	f.Receipt.Composites = len(ws.out.RemovedComposites)
	f.Receipt.Observations = len(ws.out.RemovedObservations)
	for _, id := range ws.out.RemovedObservations {
		if ws.observations[id].before.Given {
			f.Observations = append(f.Observations, id)
		}
	}
	if ws.write.Receipt != nil {
		f.Receipt = nil
	}
	ws.out.Outcome.Receipt = cmp.Or(ws.write.Receipt, f.Receipt)
	ws.announce(memory.ChangeForget, memory.OutcomeRemoved, ws.write.Op)
	if r := ws.write.Forget; r != nil && r.Bank { // last: what comes behind it is another bank's
		ws.announce(memory.ChangeBank, memory.OutcomeRemoved, string(ws.write.Bank))
	}
}

// makeKeysUnique leaves every key to one live fact: to the one that had it, where an older fact of the key came to hold
// again by other means than the key.
func (ws *workspace) makeKeysUnique() {
	keys := map[string]bool{}
	for _, s := range ws.facts {
		if s.dirty && !s.gone && s.now.Key != "" && s.now.Live() {
			keys[s.now.Key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ws.factByKey(key) // loads the stored one
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
		slices.SortFunc(live, func(a, b *factState) int { return cmp.Or(cmp.Compare(had(b), had(a)), compareAge(b.now, a.now)) })
		for _, s := range live[min(1, len(live)):] {
			f := cloneFact(s.now)
			f.Key = ""
			ws.put(f)
		}
	}
}

// changedFacts returns the facts that differ from what is stored, by id.
func (ws *workspace) changedFacts() []*factState {
	var out []*factState
	for _, s := range ws.facts {
		if !s.dirty || s.before == nil && s.gone || s.before != nil && !s.gone && sameFact(*s.before, s.now) {
			continue
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *factState) int { return cmp.Compare(a.id(), b.id()) })
	return out
}

// changesForTree returns what the changed facts mean for the first level of the tree. A fact that merged into a new one
// hands its place on to it.
func (ws *workspace) changesForTree(facts []*factState) levelChanges {
	out := levelChanges{renewed: map[string]string{}}
	heirs := map[memory.FactID]bool{}
	var fresh []memory.Fact
	for _, s := range facts {
		id := string(s.id())
		was, is := s.before != nil && s.before.Live(), !s.gone && s.now.Live()
		switch {
		case was && !is:
			heir := ws.heir(s.now)
			h := ws.facts[heir]
			isNew := h != nil && !h.gone && h.now.Live() && (h.before == nil || !h.before.Live())
			if !s.gone && s.now.Merged != "" && isNew && !heirs[heir] && ws.parent(0, id) != "" {
				heirs[heir] = true
				out.renewed[id] = string(heir)
			} else {
				out.gone = append(out.gone, id)
			}
		case !was && is, was && is && s.before.Vector == nil && s.now.Vector != nil:
			fresh = append(fresh, s.now)
		case was && is:
			out.touched = append(out.touched, id)
		}
	}
	slices.SortFunc(fresh, compareAge)
	for _, f := range fresh {
		if !heirs[f.ID] {
			out.fresh = append(out.fresh, string(f.ID))
		}
	}
	return out
}

// The collect methods add what changed to the plan, each record once, by id, with its change event. A record that is as
// it was is not written.

func (ws *workspace) collectFacts(facts []*factState) {
	for _, s := range facts {
		id := string(s.id())
		if s.gone {
			ws.out.RemovedFacts = append(ws.out.RemovedFacts, s.id())
			ws.announce(memory.ChangeFact, memory.OutcomeRemoved, id)
			continue
		}
		f := s.now
		f.Version, f.Bank = ws.write.Seq, ws.write.Bank
		if s.before != nil && slices.Equal(s.before.Vector, f.Vector) {
			f.Vector = nil
		}
		embedded := s.onlyEmbedded()
		if embedded {
			f.Version = s.before.Version
		}
		ws.out.Facts = append(ws.out.Facts, f)
		switch {
		case embedded:
		case f.Merged != "" && (s.before == nil || s.before.Merged == ""):
			ws.announce(memory.ChangeFact, memory.OutcomeMerged, id, string(f.Merged))
		case s.before == nil:
			ws.announce(memory.ChangeFact, memory.OutcomeAdded, id)
		case f.Superseded != "" && s.before.Superseded != f.Superseded:
			ws.announce(memory.ChangeFact, memory.OutcomeSuperseded, id, string(f.Superseded))
		default:
			ws.announce(memory.ChangeFact, memory.OutcomeUpdated, id)
		}
	}
}

func (ws *workspace) collectComposites() {
	ids := slices.Sorted(maps.Keys(ws.composites))
	for _, id := range ids {
		s := ws.composites[id]
		if s.gone && s.before != nil {
			ws.out.RemovedComposites = append(ws.out.RemovedComposites, id)
			ws.announce(memory.ChangeComposite, memory.OutcomeRemoved, string(id))
		}
		if s.dirty {
			ws.queueSummary(s)
		}
	}
	slices.SortStableFunc(ids, func(a, b memory.CompositeID) int {
		return cmp.Compare(ws.composites[a].now.Level, ws.composites[b].now.Level)
	})
	for _, id := range ids {
		s := ws.composites[id]
		if s.gone || !s.dirty || s.before != nil && sameComposite(*s.before, s.now) {
			continue
		}
		c := s.now
		c.Version, c.Bank = ws.write.Seq, ws.write.Bank
		ws.out.Composites = append(ws.out.Composites, c)
		if was := ws.composites[s.was]; s.before == nil && was != nil && was.gone && was.before != nil {
			if ws.out.Renewed == nil {
				ws.out.Renewed = map[memory.CompositeID]memory.CompositeID{}
			}
			ws.out.Renewed[id] = s.was
		}
		ws.announce(memory.ChangeComposite, addedOrUpdated(s.before == nil), string(id), c.Children...)
	}
}
