// Package plan decides what one write of the log changes in the store.
//
// Plan is pure: it reads a View, which is the store as the write's transaction found it, and returns the Changes that
// the store applies. A Planner is Plan with a cache, for planning one write after another. What Plan does with a fact:
//
//   - Same: a fact that is stored already takes the new sources in.
//   - Duplicate: the nearest live fact of the same type, at the dedup threshold or nearer, that says the same in other
//     words (see package statement) is merged. The wording said later stays; the other keeps a pointer to it.
//   - Correction: a neighbour that the fact plainly takes back is superseded.
//   - Conflict: a neighbour that says the opposite opens a conflict; both stay.
//   - State: a fact that gives an attribute of a subject a value makes an assertion, and the validity of all facts of that
//     attribute follows from their assertions (see package timeline).
//   - Tree: the fact joins its nearest neighbours, alone or in their composites, where any two members stay within the
//     diameter of each other (see package cluster). Composites are grouped in the same way, level by level.
//
// When a fact is said again, the confidence c of the stored one rises by that of the new one, d: c' = 1 - (1-c)(1-d/2).
package plan

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Func decides what a write changes, from the view alone.
type Func func(View, memory.Write) (memory.Changes, error)

// Plan decides what one write changes, from the view alone: equal views, writes and configurations give equal changes,
// down to their order. A write that is well formed and cannot be done (it names an unknown record, or a version that
// moved on) changes nothing and says so in Outcome.Code, Message and Field. The error wraps memory.ErrInvalid for a
// write that can never be applied, and is the view's own otherwise. Whether an op was applied before is for the store
// to know.
func Plan(view View, w memory.Write, cfg Config) (memory.Changes, error) {
	return (&Planner{cfg: cfg}).Plan(view, w)
}

// Planner plans writes one after another. It is the function Plan with a cache of analysed texts, which affects speed
// alone. It is safe for concurrent use.
type Planner struct {
	cfg    Config
	reader *statement.Reader // nil = no cache
}

// NewPlanner returns a Planner with an empty cache.
func NewPlanner(cfg Config) *Planner { return &Planner{cfg: cfg, reader: statement.NewReader()} }

// Purge empties the cache: forgotten text must not survive in memory.
func (p *Planner) Purge() { p.reader.Purge() }

// Plan is the function Plan under the Planner's configuration. Planning a forget purges the cache.
func (p *Planner) Plan(view View, w memory.Write) (memory.Changes, error) {
	if err := check(w); err != nil {
		return memory.Changes{}, err
	}
	w.Time = memory.At(w.Time)
	ws, err := newWorkspace(view, p.cfg.withoutForeignVectors(w), p.cfg, p.reader)
	if err != nil {
		return memory.Changes{}, fmt.Errorf("plan write %d: %w", w.Seq, err)
	}
	ws.readAhead()
	ws.apply()
	ws.addVectors()
	changes := ws.buildChanges()
	if ws.err != nil {
		return memory.Changes{}, fmt.Errorf("plan write %d: %w", w.Seq, ws.err)
	}
	if w.Kind == memory.WriteForget {
		p.Purge()
	}
	return changes, nil
}

// apply makes the changes that the write itself asks for.
func (ws *workspace) apply() {
	w := ws.write
	switch w.Kind {
	case memory.WriteWindow:
		ws.endWindow(*w.Window)
	case memory.WriteRetain:
		ws.addFacts()
	case memory.WriteEdit:
		ws.edit(*w.Edit)
	case memory.WriteConflict:
		ws.resolveConflict(*w.Conflict)
	case memory.WriteApply:
		ws.applyChanges(w.Apply)
	case memory.WriteUndo:
		ws.undo(w.Undo)
	case memory.WriteObserve:
		ws.observe(*w.Observe)
	case memory.WriteConsolidate:
		ws.consolidate(*w.Consolidate)
	case memory.WriteAlias:
		ws.alias(*w.Alias)
	case memory.WriteFeedback:
		ws.feedback(*w.Feedback)
	case memory.WriteBank:
		ws.updateProfile(*w.Profile)
	case memory.WriteForget:
		ws.forget(*w.Forget)
	case memory.WriteDecide:
		ws.applyDecisions(w.Decide)
	case memory.WriteSummary:
		ws.applySummaries(w.Summaries)
	case memory.WriteUsage, memory.WriteVectors: // the store counts usage, and addVectors adds vectors, of every write
	case memory.WriteErased: // a rebuild reads it before it begins
		if r := w.Refusal; r != nil {
			ws.refuse(r.Code, r.Field, "%s", r.Message)
		}
	}
}

// check returns an error for a write without the part that its kind names.
func check(w memory.Write) error {
	parts := map[memory.WriteKind]bool{
		memory.WriteWindow: w.Window != nil, memory.WriteRetain: true, memory.WriteObserve: w.Observe != nil,
		memory.WriteConsolidate: w.Consolidate != nil, memory.WriteEdit: w.Edit != nil, memory.WriteConflict: w.Conflict != nil, memory.WriteAlias: w.Alias != nil,
		memory.WriteUsage: len(w.Usage) > 0, memory.WriteFeedback: w.Feedback != nil, memory.WriteBank: w.Profile != nil,
		memory.WriteForget: w.Forget != nil, memory.WriteDecide: true, memory.WriteApply: true, memory.WriteUndo: w.Undo != "", memory.WriteSummary: true, memory.WriteVectors: len(w.Vectors) > 0,
		memory.WriteErased: w.Erased != nil,
	}
	has, exists := parts[w.Kind]
	switch {
	case !exists:
		return memory.Invalid("kind", "%.40q is no kind of write", string(w.Kind))
	case !has:
		return memory.Invalid(string(w.Kind), "the write does not hold what its kind names")
	case w.Bank == "":
		return memory.Invalid("bank", "must not be empty")
	case w.Window != nil && len(w.Window.New) == 0:
		return memory.Invalid("window.new", "a window names at least one message")
	}
	return nil
}

// refuse records that the write cannot be done; it changes nothing then.
func (ws *workspace) refuse(code int, field, format string, args ...any) {
	ws.out.Outcome.Code, ws.out.Outcome.Field, ws.out.Outcome.Message = code, field, fmt.Sprintf(format, args...)
}

// UsageChanges returns the change events of the usage that a write reports: one for each stage and model, in the order
// of the write. Record is the stage, IDs is the model. The store announces them when it counts the write.
func UsageChanges(w memory.Write) []memory.Change {
	out := make([]memory.Change, 0, len(w.Usage))
	for _, u := range w.Usage {
		out = append(out, memory.Change{What: memory.ChangeUsage, Op: memory.OutcomeUpdated, Record: u.Stage, IDs: []string{u.Model}})
	}
	return out
}

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
	storedEntities map[memory.EntityID]*memory.Entity       // nil = not stored
	storedNamed    map[string][]memory.Entity               // by name, read ahead; never nil where it was
	windows        map[memory.WindowID]*memory.WindowEnd    // nil = did not end
	tombstones     map[uint64]bool                          // of events that were looked up: whether they were forgotten
	nodes          map[string]memory.Node                   // of facts that were not loaded whole
	parents        map[string]memory.CompositeID            // composite above a node, "" for none
	neighbours     map[string]neighbours                    // by node
	readings       map[string]nodeReading                   // by node
	replacements   map[memory.MessageID]*memory.Replacement // nil = none
	events         map[uint64]*StoredMessage                // by sequence; nil = not stored

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
		out:            memory.Changes{Outcome: memory.WriteOutcome{Op: w.Op, Write: w.Seq}},
		facts:          map[memory.FactID]*factState{},
		composites:     map[memory.CompositeID]*compositeState{},
		entities:       map[memory.EntityID]*entityState{},
		conflicts:      map[memory.ConflictID]*conflictState{},
		observations:   map[memory.ObservationID]*observationState{},
		storedEntities: map[memory.EntityID]*memory.Entity{},
		storedNamed:    map[string][]memory.Entity{},
		windows:        map[memory.WindowID]*memory.WindowEnd{},
		tombstones:     map[uint64]bool{},
		nodes:          map[string]memory.Node{},
		parents:        map[string]memory.CompositeID{},
		neighbours:     map[string]neighbours{},
		readings:       map[string]nodeReading{},
		replacements:   map[memory.MessageID]*memory.Replacement{},
		events:         map[uint64]*StoredMessage{},
		resolved:       map[memory.EntityID]memory.EntityID{},
		reworded:       map[int][]string{},
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
