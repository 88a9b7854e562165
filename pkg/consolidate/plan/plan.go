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
	}
}

// check returns an error for a write without the part that its kind names.
func check(w memory.Write) error {
	parts := map[memory.WriteKind]bool{
		memory.WriteWindow: w.Window != nil, memory.WriteRetain: true, memory.WriteObserve: w.Observe != nil,
		memory.WriteConsolidate: w.Consolidate != nil, memory.WriteEdit: w.Edit != nil, memory.WriteConflict: w.Conflict != nil, memory.WriteAlias: w.Alias != nil,
		memory.WriteUsage: len(w.Usage) > 0, memory.WriteFeedback: w.Feedback != nil, memory.WriteBank: w.Profile != nil,
		memory.WriteForget: w.Forget != nil, memory.WriteDecide: true, memory.WriteSummary: true, memory.WriteVectors: len(w.Vectors) > 0,
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
