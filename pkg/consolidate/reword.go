package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// reword makes one fact of a newer and an older one. It rests on the sources of
// both and holds from the newer one's start on; the newer is merged into it, the
// older superseded by it. A wording that is one of the two makes no third fact.
// It gives the fact that was made, "" where another that ended has the wording.
func (ws *workspace) reword(f, t memory.Fact, d memory.Decision) memory.FactID {
	text := strings.TrimSpace(d.Text)
	switch id := memory.NewFactID(ws.write.Bank, text, f.Kind); id {
	case f.ID:
		ws.absorb(f, t)
		return f.ID
	case t.ID:
		ws.absorb(t, f)
		return t.ID
	default:
		if held := ws.fact(id); held != nil {
			return ws.rewordAs(*held, f, t)
		}
	}
	u := ws.wording(text, f, t, d)
	ws.put(u)
	f.Merged, f.Superseded, f.Valid = u.ID, "", nil
	ws.put(f)
	ws.moveConflicts(f.ID, u.ID)
	ws.supersede(t, u)
	ws.retimeBoth(u, f, t)
	return u.ID
}

// rewordAs lets a fact that has the wording already absorb both.
func (ws *workspace) rewordAs(held, f, t memory.Fact) memory.FactID {
	if !held.Live() {
		return ""
	}
	ws.absorb(held, t)
	ws.absorb(*ws.fact(held.ID), f)
	return held.ID
}

// wording gives the fact of a new wording.
func (ws *workspace) wording(text string, f, t memory.Fact, d memory.Decision) memory.Fact {
	from := start(f)
	u := cloneFact(f)
	u.Text, u.Vector, u.Model, u.State = text, d.Vector, d.Model, nil
	older := slices.Clone(t.Sources)
	for i, s := range older {
		if s.Start.Before(from) {
			older[i].Start = from
		}
	}
	addSources(&u, older)
	u.Entities, u.Tags = unite(f.Entities, t.Entities), unite(f.Tags, t.Tags)
	u.Topic = cmp.Or(f.Topic, t.Topic)
	u.Confidence = max(f.Confidence, t.Confidence)
	if by := ws.write.By; by != nil {
		u.Extractor = strings.TrimSpace(by.Prompt + " " + by.Model)
	}
	u = ws.tidy(u)
	u.Ops = unite(f.Ops, t.Ops)
	if f.Said.After(u.Said) {
		u.Said = f.Said
	}
	if u.State == nil && f.State != nil && strings.Contains(memory.NormalText(text), f.State.Value) {
		state := *f.State
		u.State = &state
	}
	u.Valid = []memory.Interval{{From: from}}
	if until := ws.takenBack(u); until != nil {
		closeAt(&u, *until, "")
	}
	return u
}

// withMade adds the facts that a model made of gone ones, for their words come
// from those too.
func (ws *workspace) withMade(gone map[memory.FactID]bool) {
	for front := slices.Sorted(mapKeys(gone)); len(front) > 0 && ws.err == nil; {
		found, err := ws.view.DecisionsOf(front)
		if ws.fail(err) {
			return
		}
		front = nil
		for _, d := range found {
			if d.Made != "" && d.Made != d.Fact && d.Made != d.Target && !gone[d.Made] {
				gone[d.Made] = true
				front = append(front, d.Made)
			}
		}
	}
}
