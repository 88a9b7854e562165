package consolidate

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// workspace is a view with the changes of one write laid over it, so that the
// facts of a write see each other. The first error of the view sticks: from
// then on reads give nothing, and Plan returns the error instead of the changes.
type workspace struct {
	view   View
	cfg    Config
	write  memory.Write
	bank   memory.Bank
	limits memory.SimilarityThresholds
	err    error

	facts      map[memory.FactID]*factState
	composites map[memory.CompositeID]*compositeState
	nodes      map[string]memory.Node        // of facts that the write did not look at whole
	parents    map[string]memory.CompositeID // of nodes looked at: the composite above, "" for none
	readings   map[string]reading
	asked      map[string]asked // neighbours of nodes, as the view gave them
	entities   map[memory.EntityID]*entityState
	resolved   map[memory.EntityID]memory.EntityID
	replaced   map[memory.MessageID]*memory.Replacement // read so far; nil = none
	stored     map[uint64]*StoredMessage                // read so far, by sequence; nil = none

	conflicts map[memory.ConflictID]*conflictState
	relations []memory.Relation
	present   []memory.EntityID // who spoke the messages of the write
	stock     int               // live facts of the bank before the write, -1 = not counted
	observed  map[memory.ObservationID]*observationState
	worded    map[int][]string // composites that got another text, by level
	out       memory.Changes
}

// factState is a fact as the store has it and as the write leaves it.
type factState struct {
	before *memory.Fact // nil = not stored
	now    memory.Fact
	gone   bool
	dirty  bool // the write set or removed it
}

// compositeState is the same for a composite.
type compositeState struct {
	before *memory.Composite
	now    memory.Composite
	was    memory.CompositeID // whose place it has, "" = nobody's
	gone   bool
	dirty  bool
}

func newWorkspace(view View, w memory.Write, cfg Config) (*workspace, error) {
	bank, err := view.Bank()
	if err != nil {
		return nil, err
	}
	ws := &workspace{
		view: view, cfg: cfg, write: w, bank: bank, limits: cfg.thresholds(bank),
		facts:      map[memory.FactID]*factState{},
		composites: map[memory.CompositeID]*compositeState{},
		nodes:      map[string]memory.Node{},
		parents:    map[string]memory.CompositeID{},
		readings:   map[string]reading{},
		asked:      map[string]asked{},
		entities:   map[memory.EntityID]*entityState{},
		resolved:   map[memory.EntityID]memory.EntityID{},
		conflicts:  map[memory.ConflictID]*conflictState{},
		observed:   map[memory.ObservationID]*observationState{},
		replaced:   map[memory.MessageID]*memory.Replacement{},
		stored:     map[uint64]*StoredMessage{},
		worded:     map[int][]string{},
	}
	ws.stock = -1
	ws.out.Outcome = memory.WriteOutcome{Op: w.Op, Write: w.Seq}
	return ws, nil
}

// fail keeps the first error and reports whether there is one.
func (ws *workspace) fail(err error) bool {
	if ws.err == nil {
		ws.err = err
	}
	return ws.err != nil
}

// load reads facts that were not looked at yet.
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

// adopt takes facts as the view gave them and gives them as the write has
// left them so far; those that are gone are left out.
func (ws *workspace) adopt(found []memory.Fact) []memory.Fact {
	out := found[:0:0]
	for _, f := range found {
		s, ok := ws.facts[f.ID]
		if !ok {
			before := f
			s = &factState{before: &before, now: cloneFact(f)}
			ws.facts[f.ID] = s
		}
		if !s.gone {
			out = append(out, s.now)
		}
	}
	return out
}

// fact gives a fact as the write has left it so far; nil if there is none.
func (ws *workspace) fact(id memory.FactID) *memory.Fact {
	ws.load([]memory.FactID{id})
	s, ok := ws.facts[id]
	if !ok || s.gone {
		return nil
	}
	f := cloneFact(s.now)
	return &f
}

// put sets a fact's new state.
func (ws *workspace) put(f memory.Fact) {
	ws.load([]memory.FactID{f.ID})
	s, ok := ws.facts[f.ID]
	if !ok {
		s = &factState{}
		ws.facts[f.ID] = s
	}
	if s.now.Text != f.Text || !slices.Equal(s.now.Entities, f.Entities) {
		delete(ws.readings, string(f.ID))
	}
	s.now, s.gone, s.dirty = cloneFact(f), false, true
}

// drop removes a fact for good.
func (ws *workspace) drop(id memory.FactID) {
	if s, ok := ws.facts[id]; ok {
		s.gone, s.dirty = true, true
	}
}

// reading gives the analysis of a node's text, read once a write.
func (ws *workspace) reading(id, text string, entities []memory.EntityID) reading {
	r, ok := ws.readings[id]
	if !ok {
		r = read(text, entities)
		ws.readings[id] = r
	}
	return r
}

func (ws *workspace) readFact(f memory.Fact) reading {
	return ws.reading(string(f.ID), f.Text, f.Entities)
}

func setOf[T comparable](list []T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, v := range list {
		m[v] = true
	}
	return m
}
