package consolidate

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// edit makes a new version of a fact. Another text is a new fact that rests on
// the same messages, holds from the edit on and supersedes the old one; type,
// tags, pin and the same text otherwise written change the fact itself.
func (ws *workspace) edit(e memory.EditWrite) {
	f := ws.fact(e.ID)
	switch {
	case f == nil:
		ws.refuse(404, "id", "no fact %q", e.ID)
		return
	case e.Version != nil && *e.Version != f.Version:
		ws.refuse(409, "version", "the fact is at version %d", f.Version)
		return
	case !f.Live():
		ws.refuse(409, "id", "the fact no longer holds; edit %q instead", ws.heir(*f))
		return
	case e.Type != "" && !e.Type.Valid():
		ws.refuse(400, "type", "%.40q is no type", string(e.Type))
		return
	case e.Text != "" && memory.NormalText(e.Text) == "":
		ws.refuse(400, "text", "must not be empty")
		return
	}
	next := cloneFact(*f)
	if e.Type != "" {
		next.Type = e.Type
	}
	if e.Tags != nil {
		next.Tags = nil
		for _, t := range *e.Tags {
			if t = strings.ToLower(strings.TrimSpace(t)); t != "" {
				next.Tags = append(next.Tags, t)
			}
		}
		next.Tags = unite(next.Tags, nil)
	}
	if e.Pin != nil {
		next.Pinned = *e.Pin
	}
	ws.out.Outcome.Version = ws.write.Seq
	id := next.ID
	if e.Text != "" {
		id = memory.NewFactID(ws.write.Bank, e.Text, next.Kind)
	}
	if id == next.ID {
		if e.Text != "" {
			next.Text = e.Text
		}
		next.Ops = unite(next.Ops, []string{ws.write.Op}) // its tags stand in that write
		ws.put(next)
		ws.out.Outcome.Results = []memory.WriteResult{{ID: string(id), Outcome: memory.OutcomeUpdated}}
		return
	}
	ws.rewrite(*f, next, e)
}

// rewrite folds the new wording in as a fact of its own and ends the old one.
func (ws *workspace) rewrite(old, next memory.Fact, e memory.EditWrite) {
	next.Text, next.State, next.Vector, next.Model = e.Text, nil, e.Vector, e.Model
	next.Sources = slices.Clone(old.Sources)
	for i := range next.Sources {
		next.Sources[i].Said, next.Sources[i].Start = ws.write.Time, ws.write.Time
	}
	next.Said = ws.write.Time
	ops := old.Ops
	next = ws.tidy(next)
	next.Ops = unite(ops, []string{ws.write.Op}) // its words stand in that write
	result := ws.fold(next, old.ID)
	if after := ws.fact(old.ID); after != nil && after.Live() && result.ID != string(old.ID) {
		closeAt(after, ws.write.Time, memory.FactID(result.ID))
		ws.put(*after)
	}
	result.Outcome = memory.OutcomeSuperseded
	ws.out.Outcome.Results = []memory.WriteResult{result}
}

// heir gives the fact that a superseded or merged one leads to.
func (ws *workspace) heir(f memory.Fact) memory.FactID {
	for hops := 0; hops < 64; hops++ {
		to := f.Merged
		if to == "" {
			to = f.Superseded
		}
		next := ws.fact(to)
		if to == "" || next == nil {
			break
		}
		f = *next
	}
	return f.ID
}
