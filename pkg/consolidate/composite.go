package consolidate

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// settle writes the families of a level as composites and gives what the level
// above has to take in.
func (l *level) settle() step {
	out := step{renewed: map[string]string{}}
	composites := make([]*memory.Composite, len(l.families))
	for i, f := range l.families {
		if len(f.members) >= 2 {
			composites[i] = l.compose(f.members)
		}
		if f.was != "" && (composites[i] == nil || composites[i].ID != f.was) {
			l.ws.dropComposite(f.was)
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

// compose makes the composite of these members. Its text, vector and
// confidence are its representative's: of the members the one of highest
// confidence, then the most recently said, then the smallest id. It is
// nil when a member is not live.
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
		c.Text, c.By = s.now.Text, s.now.By // its members are the same
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

func (ws *workspace) putComposite(c memory.Composite) {
	s := ws.composite(c.ID)
	if s == nil {
		s = &compositeState{}
		ws.composites[c.ID] = s
	}
	s.now, s.gone, s.dirty = c, false, true
	delete(ws.readings, string(c.ID))
}

func (ws *workspace) dropComposite(id memory.CompositeID) {
	if s := ws.composite(id); s != nil {
		s.gone, s.dirty = true, true
	}
}

// sameComposite reports whether two states of a composite are equal but for the version.
func sameComposite(a, b memory.Composite) bool {
	if a.Text != b.Text || !slices.Equal(a.Children, b.Children) || !slices.Equal(a.Vector, b.Vector) {
		return false // what differs mostly, and what reflection is slow at
	}
	norm := func(c memory.Composite) memory.Composite {
		c.Version, c.Bank, c.Said, c.Vector, c.Children = 0, "", c.Said.UTC(), nil, nil
		c.Occurred.From, c.Occurred.To = utc(c.Occurred.From), utc(c.Occurred.To)
		c.Entities, c.Tags = orNil(c.Entities), orNil(c.Tags)
		return c
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }
