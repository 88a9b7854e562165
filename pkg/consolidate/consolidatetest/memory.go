// Package consolidatetest supports tests of what consolidation decides.
//
// Memory is one bank in memory: a plan.View over maps that applies what was planned, with exact nearest neighbours and a
// count of reads. Embedder stands for an embedding model. Fact and its like make facts.
package consolidatetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Memory is one bank. It is not safe for concurrent use. Its nearest neighbours are exact, over all nodes of the bank.
type Memory struct {
	ID           memory.BankID
	Profile      memory.Bank
	FactsByID    map[memory.FactID]memory.Fact
	Tree         map[memory.CompositeID]memory.Composite
	Named        map[memory.EntityID]memory.Entity
	Related      map[string]memory.Relation
	Disputes     map[memory.ConflictID]memory.Conflict
	Observed     map[memory.ObservationID]memory.Observation
	Events       map[uint64]plan.StoredMessage
	Replaced     map[memory.MessageID]memory.Replacement
	Windows      map[memory.WindowID]memory.WindowEnd
	Ops          map[string]memory.WriteOutcome
	Undos        map[string]*memory.Undo
	Uses         []memory.Use
	Vectors      map[uint64]memory.Vector // of messages, by sequence
	Consolidated uint64
	Waits        map[memory.PendingKey]memory.PendingQuestion
	Decided      []memory.DecisionResult
	Seen         uint64 // by a model, in writes
	Reads        int    // calls of the view, for tests of bounded work

	last uint64 // sequences given to writes that have none
}

// New makes an empty bank with the default profile.
func New(id memory.BankID) *Memory {
	return &Memory{
		ID:        id,
		Profile:   memory.Bank{ID: id, Disposition: memory.DefaultDisposition()},
		FactsByID: map[memory.FactID]memory.Fact{},
		Tree:      map[memory.CompositeID]memory.Composite{},
		Named:     map[memory.EntityID]memory.Entity{},
		Related:   map[string]memory.Relation{},
		Disputes:  map[memory.ConflictID]memory.Conflict{},
		Observed:  map[memory.ObservationID]memory.Observation{},
		Events:    map[uint64]plan.StoredMessage{},
		Replaced:  map[memory.MessageID]memory.Replacement{},
		Windows:   map[memory.WindowID]memory.WindowEnd{},
		Ops:       map[string]memory.WriteOutcome{},
		Undos:     map[string]*memory.Undo{},
		Vectors:   map[uint64]memory.Vector{},
		Waits:     map[memory.PendingKey]memory.PendingQuestion{},
	}
}

// Say stores a message event as the store would: the first event of an id is stored, a later one is a duplicate.
func (m *Memory) Say(seq uint64, id memory.MessageID, session memory.SessionID, speaker string, said time.Time, replaces memory.MessageID) {
	e := plan.StoredMessage{Seq: seq, ID: id, Canonical: seq, Session: session, Speaker: speaker, Said: memory.At(said),
		Replaces: replaces, State: memory.StatePending}
	for _, o := range m.Events {
		if o.ID == id && o.Canonical == o.Seq {
			e.Canonical, e.State = o.Seq, memory.StateDuplicate
		}
	}
	m.Events[seq] = e
}

// Write plans a write on the bank as it stands and applies the plan. A write without a sequence or a bank is given
// them; one whose op was applied changes nothing.
func (m *Memory) Write(w memory.Write, cfg plan.Config) (memory.Changes, error) {
	if w.Seq == 0 {
		w.Seq = m.last + 1
	}
	m.last = max(m.last, w.Seq)
	w.Bank = cmp.Or(w.Bank, m.ID)
	if o, ok := m.Ops[w.Op]; ok && w.Op != "" {
		return memory.Changes{Outcome: o}, nil
	}
	c, err := plan.Plan(m, w, cfg)
	if err == nil {
		err = m.checkAnnounced(c)
	}
	if err == nil {
		m.Apply(w, c)
	}
	return c, err
}

// checkAnnounced checks that the changes call a composite added exactly if it was not there: a plan that did not read
// one that is stored would make it anew.
func (m *Memory) checkAnnounced(c memory.Changes) error {
	for _, e := range c.Changes {
		_, stored := m.Tree[memory.CompositeID(e.Record)]
		if e.What == memory.ChangeComposite && stored != (e.Op != memory.OutcomeAdded) {
			return fmt.Errorf("composite %s is %s; stored before: %v", e.Record, e.Op, stored)
		}
	}
	return nil
}

// Apply applies what a plan changes.
func (m *Memory) Apply(w memory.Write, c memory.Changes) {
	if c.Bank != nil {
		m.Profile = *c.Bank
	}
	for _, id := range c.RemovedComposites {
		delete(m.Tree, id)
	}
	for _, f := range c.Facts {
		if f.Vector == nil {
			f.Vector = m.FactsByID[f.ID].Vector
		}
		m.FactsByID[f.ID] = f
	}
	for _, id := range c.RemovedFacts {
		delete(m.FactsByID, id)
	}
	for _, x := range c.Composites {
		m.Tree[x.ID] = x
	}
	for _, e := range c.Entities {
		m.Named[e.ID] = e
	}
	for _, r := range c.RemovedRelations {
		delete(m.Related, r.From+"|"+r.To+"|"+string(r.Type))
	}
	for _, r := range c.Relations {
		m.Related[r.From+"|"+r.To+"|"+string(r.Type)] = r
	}
	for _, x := range c.Conflicts {
		m.Disputes[x.ID] = x
	}
	for _, o := range c.Observations {
		m.Observed[o.ID] = o
	}
	for _, id := range c.RemovedObservations {
		delete(m.Observed, id)
	}
	for _, id := range c.RemovedConflicts {
		delete(m.Disputes, id)
	}
	m.applyRest(w, c)
}

func (m *Memory) applyRest(w memory.Write, c memory.Changes) {
	for _, id := range c.RemovedEntities {
		named := false
		for _, f := range m.FactsByID {
			named = named || slices.Contains(f.Entities, id)
		}
		if !named {
			delete(m.Named, id)
			maps.DeleteFunc(m.Named, func(_ memory.EntityID, e memory.Entity) bool { return e.Redirect == id })
		}
	}
	for _, r := range c.Replacements {
		m.Replaced[r.ID] = r
	}
	for _, e := range c.Ended {
		s := m.Events[e.Seq]
		s.State = e.State
		m.Events[e.Seq] = s
	}
	for _, v := range c.MessageVectors {
		if m.Vectors[v.Seq] == nil {
			m.Vectors[v.Seq] = v.Vector
		}
	}
	if c.Window != nil {
		m.Windows[c.Window.ID] = *c.Window
	}
	m.Uses = append(m.Uses, c.Uses...)
	if c.Forgotten != nil {
		for _, seq := range slices.Concat(c.Forgotten.Messages, c.Forgotten.Late) {
			m.Events[seq] = plan.StoredMessage{Seq: seq, State: memory.StateForgotten}
			delete(m.Vectors, seq)
		}
	}
	if c.Outcome.Ran != nil && *c.Outcome.Ran {
		m.Consolidated = w.Seq
	}
	if c.Undo != nil && w.Op != "" {
		m.Undos[w.Op] = c.Undo
	}
	delete(m.Undos, c.Undone)
	if c.Forgotten != nil {
		clear(m.Undos)
	}
	m.applyModels(w, c)
	if w.Op != "" {
		m.Ops[w.Op] = c.Outcome
	}
}

// Live returns the live facts, by id.
func (m *Memory) Live() []memory.Fact {
	var out []memory.Fact
	for _, id := range slices.Sorted(maps.Keys(m.FactsByID)) {
		if f := m.FactsByID[id]; f.Live() {
			out = append(out, f)
		}
	}
	return out
}

// Fact returns the fact with this text; false if there is none.
func (m *Memory) Fact(text string) (memory.Fact, bool) {
	for _, f := range m.FactsByID {
		if memory.NormalText(f.Text) == memory.NormalText(text) {
			return f, true
		}
	}
	return memory.Fact{}, false
}
