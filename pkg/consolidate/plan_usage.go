package consolidate

import (
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// UsageChanges tells that a write added to what models took: one change for
// each stage and model, in the order of the write. Record is the stage, IDs is
// the model. A store announces them when it counts the write.
func UsageChanges(w memory.Write) []memory.Change {
	out := make([]memory.Change, 0, len(w.Usage))
	for _, u := range w.Usage {
		out = append(out, memory.Change{What: memory.ChangeUsage, Op: memory.OutcomeUpdated, Record: u.Stage, IDs: []string{u.Model}})
	}
	return out
}

// usageLeft is what stays of a write of which nothing else does: what its model
// calls took. It keeps the op and the time, by which it is known to be counted.
// kept is false for a write without usage.
func usageLeft(w memory.Write) (rest memory.Write, kept bool) {
	return memory.Write{Bank: w.Bank, Kind: memory.WriteUsage, Op: w.Op, Time: w.Time, Usage: w.Usage}, len(w.Usage) > 0
}
