package consolidate

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Plan decides what one write changes, from the view alone: equal views, writes
// and configurations give equal changes, down to their order. A write that is
// well formed and cannot be done (an unknown record, a version that moved on)
// changes nothing and says so in Outcome.Code, Message and Field. The error is
// memory.ErrInvalid for a write that can never be applied, and the view's own
// otherwise. That an op was applied before is not Plan's to know.
func Plan(view View, w memory.Write, cfg Config) (memory.Changes, error) {
	if err := check(w); err != nil {
		return memory.Changes{}, err
	}
	w.Time = memory.At(w.Time)
	w = cfg.fitting(w)
	ws, err := newWorkspace(view, w, cfg)
	if err != nil {
		return memory.Changes{}, fmt.Errorf("plan write %d: %w", w.Seq, err)
	}
	switch w.Kind {
	case memory.WriteWindow:
		ws.endWindow(*w.Window)
	case memory.WriteRetain:
		ws.retain()
	case memory.WriteEdit:
		ws.edit(*w.Edit)
	case memory.WriteConflict:
		ws.decide(*w.Conflict)
	case memory.WriteObserve:
		ws.observe(*w.Observe)
	case memory.WriteConsolidate:
		ws.consolidate(*w.Consolidate)
	case memory.WriteFeedback:
		ws.feedback(*w.Feedback)
	case memory.WriteBank:
		ws.profile(*w.Profile)
	case memory.WriteForget:
		ws.forget(*w.Forget)
		lately.clear()
		analysis.Forget()
	case memory.WriteUsage: // the store counts it, as it counts that of every write
	case memory.WriteDecide:
		ws.applyDecisions(w.Decide)
	case memory.WriteSummary:
		ws.applySummaries(w.Summaries)
	}
	ws.takeVectors()
	changes := ws.finish()
	if ws.err != nil {
		return memory.Changes{}, fmt.Errorf("plan write %d: %w", w.Seq, ws.err)
	}
	return changes, nil
}

// check refuses a write without the part that its kind names.
func check(w memory.Write) error {
	parts := map[memory.WriteKind]bool{
		memory.WriteWindow: w.Window != nil, memory.WriteRetain: true, memory.WriteObserve: w.Observe != nil,
		memory.WriteConsolidate: w.Consolidate != nil, memory.WriteEdit: w.Edit != nil, memory.WriteConflict: w.Conflict != nil,
		memory.WriteUsage:    len(w.Usage) > 0,
		memory.WriteFeedback: w.Feedback != nil, memory.WriteBank: w.Profile != nil, memory.WriteForget: w.Forget != nil,
		memory.WriteDecide: true, memory.WriteSummary: true,
		memory.WriteVectors: len(w.Vectors) > 0,
	}
	has, known := parts[w.Kind]
	switch {
	case !known:
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
