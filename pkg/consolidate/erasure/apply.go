package erasure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// changesLeft returns an apply without the changes that name, or made, a fact that is gone, that refer to such a change, or
// that join a name which no entity bears any longer; rest has the facts that are left. Versions have moved on when it is
// applied again, so it names none. keep is false where no change is left.
func (e *Eraser) changesLeft(ctx context.Context, w, rest memory.Write) (memory.Write, bool, error) {
	var named []memory.FactID
	for _, c := range w.Apply {
		named = append(named, factsNamed(c)...)
	}
	known, err := e.deps.Store.KnownFacts(ctx, named)
	if err != nil {
		return rest, false, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
	}
	names, err := e.deps.Store.KnownNames(ctx, w.Bank, namesGiven(w.Apply))
	if err != nil {
		return rest, false, fmt.Errorf("look up the names of write %d: %w", w.Seq, err)
	}
	moved := map[memory.FactID]int{} // where a fact of the write stands in the rest
	for i, f := range rest.Facts {
		moved[f.ID] = i
	}
	rest.Apply = nil
	lost := map[string]bool{} // names of what the changes that are left out made
	for _, c := range w.Apply {
		gone := slices.ContainsFunc(recordsNamed(c), func(id string) bool { return lost[id] }) || slices.ContainsFunc(factsNamed(c), func(id memory.FactID) bool { return !known[id] })
		gone = gone || slices.ContainsFunc(namesGiven([]memory.CurationWrite{c}), func(n string) bool { return !names[n] })
		facts := []int(nil)
		for _, i := range c.Facts {
			to, ok := -1, false
			if i >= 0 && i < len(w.Facts) {
				to, ok = moved[w.Facts[i].ID], slices.ContainsFunc(rest.Facts, func(f memory.Fact) bool { return f.ID == w.Facts[i].ID })
			}
			gone, facts = gone || !ok, append(facts, to)
		}
		if gone {
			if c.As != "" {
				lost[c.As] = true
			}
			continue
		}
		c.Facts, c.Version = facts, nil
		rest.Apply = append(rest.Apply, c)
	}
	return rest, len(rest.Apply) > 0, nil
}

// factsNamed returns the facts that a change names by their ids.
func factsNamed(c memory.CurationWrite) []memory.FactID {
	var out []memory.FactID
	for _, id := range recordsNamed(c) {
		if strings.HasPrefix(id, "f_") {
			out = append(out, memory.FactID(id))
		}
	}
	return out
}

// recordsNamed returns what a change names, by ids and by references to earlier changes.
func recordsNamed(c memory.CurationWrite) []string {
	return append([]string{c.ID, c.By, c.Into, c.Winner, c.From, c.To}, c.IDs...)
}

// namesGiven returns the names that changes join, or part names from.
func namesGiven(changes []memory.CurationWrite) []string {
	var out []string
	for _, c := range changes {
		r, ok := c.AliasRequest()
		switch {
		case !ok:
		case r.Remove && r.Entity != "":
			out = append(out, r.Entity)
		case r.Remove: // what the entity is called is not in it
		default:
			out = append(append(out, r.Entity), r.Aliases...)
		}
	}
	return out
}
