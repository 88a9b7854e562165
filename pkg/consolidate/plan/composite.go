package plan

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// flush writes the families of a level as composites and returns what the level above has to take in.
func (l *level) flush() levelChanges {
	out := levelChanges{renewed: map[string]string{}}
	composites := make([]*memory.Composite, len(l.families))
	for i, f := range l.families {
		if len(f.members) >= 2 {
			composites[i] = l.compose(f.members)
		}
		if f.was != "" && (composites[i] == nil || composites[i].ID != f.was) {
			if s := l.ws.composite(f.was); s != nil {
				s.gone, s.dirty = true, true
			}
		}
	}
	for i, f := range l.families {
		c := composites[i]
		switch {
		case c == nil && f.was != "":
			out.gone = append(out.gone, string(f.was))
		case c == nil:
		case f.was == "":
			l.ws.putComposite(*c)
			out.fresh = append(out.fresh, string(c.ID))
		case c.ID != f.was:
			l.ws.putComposite(*c)
			l.ws.composites[c.ID].was = f.was
			out.renewed[string(f.was)] = string(c.ID)
		case !sameComposite(l.ws.composite(f.was).now, *c):
			l.ws.putComposite(*c)
			out.touched = append(out.touched, string(c.ID))
		}
	}
	slices.Sort(out.gone)
	slices.Sort(out.fresh)
	return out
}

// compose returns the composite of these members. Its text, vector and confidence are its representative's: of the
// members the one of highest confidence, then the most recently said, then the smallest id. It is nil when a member is
// not live.
func (l *level) compose(members []string) *memory.Composite {
	var nodes []memory.Node
	l.ws.loadNodes(l.at-1, members)
	for _, id := range members {
		n, ok := l.ws.node(l.at-1, id)
		if !ok {
			return nil
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b memory.Node) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), b.Said.Compare(a.Said), cmp.Compare(a.ID, b.ID))
	})
	rep := nodes[0]
	c := memory.Composite{
		ID: memory.NewCompositeID(l.ws.write.Bank, l.at, members), Bank: l.ws.write.Bank, Level: l.at,
		Text: rep.Text, Representative: rep.ID, Children: slices.Sorted(slices.Values(members)),
		Confidence: rep.Confidence, Vector: rep.Vector,
	}
	if s := l.ws.composites[c.ID]; s != nil && s.now.By != nil {
		c.Text, c.By = s.now.Text, s.now.By // a model worded it, and its members are the same
	}
	for _, n := range nodes {
		c.Entities = unite(c.Entities, n.Entities)
		c.Tags = unite(c.Tags, n.Tags)
		if n.Said.After(c.Said) {
			c.Said = n.Said
		}
		if n.Occurred.From != nil && (c.Occurred.From == nil || n.Occurred.From.Before(*c.Occurred.From)) {
			c.Occurred.From = n.Occurred.From
		}
		if n.Occurred.To != nil && (c.Occurred.To == nil || n.Occurred.To.After(*c.Occurred.To)) {
			c.Occurred.To = n.Occurred.To
		}
	}
	return &c
}

// putComposite sets a composite's new state. One that is stored was read before: it is the parent of its members, and
// whoever groups members reads what stands above them.
func (ws *workspace) putComposite(c memory.Composite) {
	s := ws.composites[c.ID]
	if s == nil {
		s = &compositeState{}
		ws.composites[c.ID] = s
	}
	s.now, s.gone, s.dirty = c, false, true
}

// sameComposite reports whether two states of a composite are equal but for the version.
func sameComposite(a, b memory.Composite) bool {
	if a.Text != b.Text || !slices.Equal(a.Children, b.Children) || !slices.Equal(a.Vector, b.Vector) {
		return false // what mostly differs, before the slow reflection
	}
	norm := func(c memory.Composite) memory.Composite {
		c.Version, c.Bank, c.Said, c.Vector, c.Children = 0, "", c.Said.UTC(), nil, nil
		c.Occurred.From, c.Occurred.To = utc(c.Occurred.From), utc(c.Occurred.To)
		c.Entities, c.Tags = orNil(c.Entities), orNil(c.Tags)
		return c
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

// leaves returns the facts below a composite.
func (ws *workspace) leaves(c memory.Composite) []memory.FactID {
	var out []memory.FactID
	for _, child := range c.Children {
		if c.Level <= 1 {
			out = append(out, memory.FactID(child))
		} else if below := ws.composite(memory.CompositeID(child)); below != nil && below.now.Level < c.Level {
			out = append(out, ws.leaves(below.now)...)
		}
	}
	return unite(out, nil)
}

// applySummaries gives composites the wordings that a language model found for them. An empty one means that the
// representative's text is to stand. Either way the composite waits for no wording any more.
func (ws *workspace) applySummaries(list []memory.Summary) {
	for _, s := range list {
		ws.resolvePending(memory.PendingSummarise, string(s.Composite))
		ws.load(s.Facts)
		complete := true
		for _, id := range s.Facts {
			if ws.fact(id) == nil {
				complete = false
				continue
			}
			ws.out.Derived = append(ws.out.Derived, id)
		}
		reason := ws.applySummary(s, complete)
		result := memory.WriteResult{ID: string(s.Composite), Outcome: memory.OutcomeUpdated}
		if reason != "" {
			result.Outcome, result.Reason = memory.OutcomeRefused, reason
		}
		ws.addResult(result)
	}
	ws.out.Derived = unite(ws.out.Derived, nil)
}

// applySummary gives a composite a wording, or returns why it does not. complete says that all facts it was written
// from are there.
func (ws *workspace) applySummary(s memory.Summary, complete bool) (reason string) {
	text := strings.TrimSpace(s.Text)
	c := ws.composite(s.Composite)
	switch {
	case !complete && text != "":
		ws.out.Stale = true
		return "a fact it was written from is not there"
	case c == nil || c.gone:
		return "the composite is not there"
	case memory.NormalText(text) == "":
		return "the representative's text stands"
	case len(text) > memory.MaxFactText:
		return "it is too long"
	}
	next := c.now
	next.Text, next.By = text, ws.write.By
	if next.By == nil {
		next.By = &memory.Stamp{}
	}
	ws.putComposite(next)
	ws.reworded[next.Level] = append(ws.reworded[next.Level], string(next.ID))
	ws.out.Derived = append(ws.out.Derived, ws.leaves(next)...)
	return ""
}
