package plan

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// workspace is a view with the changes of one write laid over it, so that the facts of a write see each other. Reads
// load records from the view once; put, drop and their like change the overlay; buildChanges turns it into the plan.
// The first error of the view sticks: from then on reads return nothing, and Plan returns the error.
type workspace struct {
	view   View
	cfg    Config
	reader *statement.Reader
	write  memory.Write
	bank   memory.Bank
	limits memory.SimilarityThresholds
	err    error
	out    memory.Changes

	// Records as the write left them.
	facts        map[memory.FactID]*factState
	composites   map[memory.CompositeID]*compositeState
	entities     map[memory.EntityID]*entityState // nil = not stored
	conflicts    map[memory.ConflictID]*conflictState
	observations map[memory.ObservationID]*observationState
	relations    []memory.Relation

	// Caches of what the view answered.
	nodes        map[string]memory.Node                   // of facts that were not loaded whole
	parents      map[string]memory.CompositeID            // composite above a node, "" for none
	neighbours   map[string]neighbours                    // by node
	readings     map[string]nodeReading                   // by node
	replacements map[memory.MessageID]*memory.Replacement // nil = none
	events       map[uint64]*StoredMessage                // by sequence; nil = not stored

	resolved     map[memory.EntityID]memory.EntityID // ids the write names, and the entities they stand for
	participants []memory.EntityID                   // who spoke the messages of the write
	liveBefore   int                                 // live facts of the bank before the write; -1 = not counted yet
	reworded     map[int][]string                    // composites that got another text, by level
}

func newWorkspace(view View, w memory.Write, cfg Config, reader *statement.Reader) (*workspace, error) {
	bank, err := view.Bank()
	if err != nil {
		return nil, err
	}
	return &workspace{
		view: view, cfg: cfg, reader: reader, write: w, bank: bank, limits: cfg.thresholds(bank), liveBefore: -1,
		out:          memory.Changes{Outcome: memory.WriteOutcome{Op: w.Op, Write: w.Seq}},
		facts:        map[memory.FactID]*factState{},
		composites:   map[memory.CompositeID]*compositeState{},
		entities:     map[memory.EntityID]*entityState{},
		conflicts:    map[memory.ConflictID]*conflictState{},
		observations: map[memory.ObservationID]*observationState{},
		nodes:        map[string]memory.Node{},
		parents:      map[string]memory.CompositeID{},
		neighbours:   map[string]neighbours{},
		readings:     map[string]nodeReading{},
		replacements: map[memory.MessageID]*memory.Replacement{},
		events:       map[uint64]*StoredMessage{},
		resolved:     map[memory.EntityID]memory.EntityID{},
		reworded:     map[int][]string{},
	}, nil
}

// fail keeps the first error and reports whether there is one.
func (ws *workspace) fail(err error) bool {
	if ws.err == nil {
		ws.err = err
	}
	return ws.err != nil
}

// nodeReading is the analysis of a node's text.
type nodeReading struct {
	text     string
	entities []memory.EntityID
	statement.Reading
}

// reading returns the analysis of a node's text.
func (ws *workspace) reading(id, text string, entities []memory.EntityID) statement.Reading {
	n, ok := ws.readings[id]
	if !ok || n.text != text || !slices.Equal(n.entities, entities) {
		n = nodeReading{text, entities, ws.reader.Read(text, entities)}
		ws.readings[id] = n
	}
	return n.Reading
}

func (ws *workspace) readFact(f memory.Fact) statement.Reading {
	return ws.reading(string(f.ID), f.Text, f.Entities)
}

// addResult adds what became of one item of the write to its outcome.
func (ws *workspace) addResult(r memory.WriteResult) {
	ws.out.Outcome.Results = append(ws.out.Outcome.Results, r)
}

func setOf[T comparable](list []T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, v := range list {
		m[v] = true
	}
	return m
}
