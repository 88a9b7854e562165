package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// factState is a fact as the store has it and as the write leaves it.
type factState struct {
	before *memory.Fact // nil = not stored
	now    memory.Fact
	gone   bool
	dirty  bool // the write set or removed it
}

func (s *factState) id() memory.FactID {
	if s.before != nil {
		return s.before.ID
	}
	return s.now.ID
}

// load reads facts that were not read yet, at once.
func (ws *workspace) load(ids []memory.FactID) {
	var missing []memory.FactID
	for _, id := range ids {
		if _, ok := ws.facts[id]; !ok && id != "" && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.Facts(missing)
	if ws.fail(err) {
		return
	}
	ws.adopt(found)
	for _, id := range missing {
		if _, ok := ws.facts[id]; !ok {
			ws.facts[id] = &factState{gone: true}
		}
	}
}

// adopt puts facts that the view returned into the workspace, which keeps the list, and returns them as the write left them,
// without those that are gone.
func (ws *workspace) adopt(found []memory.Fact) []*factState {
	out := make([]*factState, 0, len(found))
	for i := range found {
		f := &found[i]
		s, ok := ws.facts[f.ID]
		if !ok {
			s = &factState{before: f, now: cloneFact(*f)}
			ws.facts[f.ID] = s
		}
		if !s.gone {
			out = append(out, s)
		}
	}
	return out
}

// loaded returns a fact as the write left it, for changing it in place: who changes now sets dirty. It is nil if there
// is none.
func (ws *workspace) loaded(id memory.FactID) *factState {
	ws.load([]memory.FactID{id})
	if s, ok := ws.facts[id]; ok && !s.gone {
		return s
	}
	return nil
}

// cloneFact copies a fact so that changing its lists does not change the original's.
func cloneFact(f memory.Fact) memory.Fact {
	f.Entities = slices.Clone(f.Entities)
	f.Tags = slices.Clone(f.Tags)
	f.Valid = slices.Clone(f.Valid)
	f.Ops = slices.Clone(f.Ops)
	if f.State != nil {
		s := *f.State
		f.State = &s
	}
	if f.Bounds != nil {
		b := *f.Bounds
		f.Bounds = &b
	}
	return f
}

// mergedInto returns a fact and those that absorbed it, one after another; none if there is no such fact.
func (ws *workspace) mergedInto(id memory.FactID) []*factState {
	var chain []*factState
	for s := ws.loaded(id); s != nil && len(chain) <= maxHops; s = ws.loaded(s.now.Merged) {
		chain = append(chain, s)
	}
	return chain
}

// fact returns a copy of a fact as the write left it; nil if there is none.
func (ws *workspace) fact(id memory.FactID) *memory.Fact {
	s := ws.loaded(id)
	if s == nil {
		return nil
	}
	f := cloneFact(s.now)
	return &f
}

// put sets a fact's new state.
func (ws *workspace) put(f memory.Fact) *factState {
	ws.load([]memory.FactID{f.ID})
	s, ok := ws.facts[f.ID]
	if !ok {
		s = &factState{}
		ws.facts[f.ID] = s
	}
	s.now, s.gone, s.dirty = cloneFact(f), false, true
	return s
}

// drop removes a fact for good.
func (ws *workspace) drop(id memory.FactID) {
	if s, ok := ws.facts[id]; ok {
		s.gone, s.dirty = true, true
	}
}

// isGone reports whether the write removed a fact that was loaded, or found it not stored.
func (ws *workspace) isGone(id memory.FactID) bool {
	s, ok := ws.facts[id]
	return ok && s.gone
}

// overlay brings what a query of the view returned up to date: facts as the write left them, with those it made or
// changed that match and without those that no longer do, newest said first and then by id, at most limit (0 = all).
func (ws *workspace) overlay(found []memory.Fact, limit int, match func(*memory.Fact) bool) []*factState {
	out := slices.DeleteFunc(ws.adopt(found), func(s *factState) bool { return !match(&s.now) })
	have := make(map[*factState]bool, len(out))
	for _, s := range out {
		have[s] = true
	}
	for _, s := range ws.facts {
		if !s.gone && !have[s] && match(&s.now) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *factState) int {
		return cmp.Or(b.now.Said.Compare(a.now.Said), cmp.Compare(a.now.ID, b.now.ID))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// factsOf returns what the write left of facts.
func factsOf(states []*factState) []memory.Fact {
	out := make([]memory.Fact, len(states))
	for i, s := range states {
		out[i] = s.now
	}
	return out
}

func (ws *workspace) factsOfMessages(seqs []uint64) []memory.Fact {
	if len(seqs) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.FactsOfMessages(seqs)
	if ws.fail(err) {
		return nil
	}
	wanted := setOf(seqs)
	return factsOf(ws.overlay(found, 0, func(f *memory.Fact) bool {
		return slices.ContainsFunc(f.Sources, func(s memory.Source) bool { return wanted[s.Seq] })
	}))
}

func (ws *workspace) factsPointingTo(ids []memory.FactID) []memory.Fact {
	if len(ids) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.FactsPointingTo(ids)
	if ws.fail(err) {
		return nil
	}
	wanted := setOf(ids)
	return factsOf(ws.overlay(found, 0, func(f *memory.Fact) bool { return wanted[f.Superseded] || wanted[f.Merged] }))
}

// factByKey returns the live fact of a key; "" if there is none.
func (ws *workspace) factByKey(key string) memory.FactID {
	if key == "" || ws.err != nil {
		return ""
	}
	found, err := ws.view.FactByKey(key)
	if ws.fail(err) {
		return ""
	}
	var in []memory.Fact
	if found != nil {
		in = append(in, *found)
	}
	with := ws.overlay(in, 1, func(f *memory.Fact) bool { return f.Key == key && f.Live() })
	if len(with) == 0 {
		return ""
	}
	return with[0].now.ID
}

// endings returns what ends the assertions of facts of one state: which of the facts something else than another value
// closed, and which of their messages were replaced.
func (ws *workspace) endings(facts []memory.Fact) (closed map[memory.FactID]bool, replaced map[memory.MessageID]memory.Replacement) {
	known := make(map[memory.FactID]memory.Fact, len(facts))
	for _, f := range facts {
		known[f.ID] = f
	}
	closed = make(map[memory.FactID]bool, len(facts))
	var messages []memory.MessageID
	for _, f := range facts {
		closed[f.ID] = ws.closedByOther(f, known)
		messages = append(messages, f.MessageIDs()...)
	}
	return closed, ws.replacementsOf(messages)
}

// closedByOther reports whether a fact was superseded by something else than another value of its state, whatever that
// was merged into since. facts are known facts of the state.
func (ws *workspace) closedByOther(f memory.Fact, facts map[memory.FactID]memory.Fact) bool {
	if f.Superseded == "" {
		return false
	}
	by, ok := facts[f.Superseded]
	for id, hops := f.Superseded, 0; !ok && hops < maxHops; hops++ {
		next := ws.fact(id)
		switch {
		case next == nil:
			return true
		case next.Merged != "":
			id = next.Merged
			by, ok = facts[id]
			continue
		case f.State == nil || next.State == nil || next.State.Subject != f.State.Subject || next.State.Attribute != f.State.Attribute:
			return true
		}
		by, ok = *next, true
	}
	return !ok || by.State.Value == f.State.Value || f.Key != "" && by.Key == f.Key
}

// assertsState matches the facts that assert a value of the state's attribute for its subject.
func assertsState(s memory.State) func(*memory.Fact) bool {
	return func(f *memory.Fact) bool {
		return f.State != nil && f.Merged == "" && f.State.Subject == s.Subject && f.State.Attribute == s.Attribute
	}
}

func (ws *workspace) factsOfState(s memory.State) []memory.Fact {
	found, err := ws.view.FactsOfState(s.Subject, s.Attribute, ws.cfg.StateFacts)
	if ws.fail(err) {
		return nil
	}
	return factsOf(ws.overlay(found, ws.cfg.StateFacts, assertsState(s)))
}

// factsOfStateSince returns at least the facts of a state that View.FactsOfStateSince names; ok is false where the
// store has more of them than a timeline is computed over.
func (ws *workspace) factsOfStateSince(s memory.State, at, said time.Time) (_ []memory.Fact, ok bool) {
	found, err := ws.view.FactsOfStateSince(s.Subject, s.Attribute, at, said, ws.cfg.StateFacts+1)
	if ws.fail(err) || len(found) > ws.cfg.StateFacts {
		return nil, false
	}
	return factsOf(ws.overlay(found, 0, assertsState(s))), true
}
