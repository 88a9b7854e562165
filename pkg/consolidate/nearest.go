package consolidate

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func nodeOf(f memory.Fact) memory.Node {
	return memory.Node{ID: string(f.ID), Text: f.Text, Vector: f.Vector, Entities: f.Entities, Tags: f.Tags,
		Confidence: f.Confidence, Said: f.Said, Occurred: f.Occurred}
}

func nodeOfComposite(c memory.Composite) memory.Node {
	return memory.Node{ID: string(c.ID), Level: c.Level, Text: c.Text, Vector: c.Vector, Entities: c.Entities, Tags: c.Tags,
		Confidence: c.Confidence, Said: c.Said, Occurred: c.Occurred, Children: c.Children}
}

// asked is what the view answered when it was asked for a node's neighbours.
type asked struct {
	limit int
	found []Neighbour
}

// least is the cosine below which no rule looks at a neighbour.
func (ws *workspace) least() float64 {
	return min(ws.limits.Diameter, ws.limits.Cluster, ws.limits.Dedup)
}

// nearest gives the live nodes of a level nearest to n that any rule would look
// at, n itself left out, as the write has left them so far: by descending cosine,
// ties by id.
func (ws *workspace) nearest(level int, n memory.Node, r reading, limit int) []Neighbour {
	if n.Vector == nil || ws.err != nil {
		return nil
	}
	own, changed := ws.own(level, n)
	a, ok := ws.asked[n.ID]
	out := ws.untouched(level, n.ID, a.found)
	if !ok || len(out) < limit && len(a.found) >= a.limit {
		a.limit = max(limit, ws.cfg.widest()) + 4 + min(changed, 4*limit)
		var err error
		if a.found, err = ws.view.Nearest(level, n.Vector, r.terms(), n.Entities, ws.least(), a.limit); ws.fail(err) {
			return nil
		}
		ws.asked[n.ID] = a
		out = ws.untouched(level, n.ID, a.found)
	}
	out = append(out, own...)
	slices.SortFunc(out, func(a, b Neighbour) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))]
}

// untouched gives the neighbours of a node that the write did not change.
func (ws *workspace) untouched(level int, id string, found []Neighbour) []Neighbour {
	var out []Neighbour
	for _, f := range found {
		if ws.mine(level, f.ID) || f.ID == id {
			continue
		}
		if _, ok := ws.parents[f.ID]; !ok {
			ws.parents[f.ID] = f.Parent
		}
		out = append(out, f)
	}
	return out
}

// mine reports whether the write changed a node, so that its own state of it counts.
func (ws *workspace) mine(level int, id string) bool {
	if level == 0 {
		s, ok := ws.facts[memory.FactID(id)]
		return ok && s.dirty
	}
	s, ok := ws.composites[memory.CompositeID(id)]
	return ok && s.dirty
}

// own gives the live nodes of a level that the write changed and that are near
// to n, in no order, and how many nodes of any state it changed there.
func (ws *workspace) own(level int, n memory.Node) (near []Neighbour, changed int) {
	least := ws.least()
	if level == 0 {
		for _, s := range ws.facts {
			if !s.dirty {
				continue
			}
			changed++
			if s.gone || string(s.now.ID) == n.ID || !s.now.Live() {
				continue
			}
			if c := memory.Cosine(n.Vector, s.now.Vector); c >= least && c > 0 {
				near = append(near, Neighbour{Node: nodeOf(s.now), Cosine: c})
			}
		}
		return near, changed
	}
	for _, s := range ws.composites {
		if !s.dirty || s.now.Level != level {
			continue
		}
		changed++
		if s.gone || string(s.now.ID) == n.ID {
			continue
		}
		if c := memory.Cosine(n.Vector, s.now.Vector); c >= least && c > 0 {
			near = append(near, Neighbour{Node: nodeOfComposite(s.now), Cosine: c})
		}
	}
	return near, changed
}

// parent gives the composite above a node, as stored; "" for none.
func (ws *workspace) parent(level int, id string) memory.CompositeID {
	if p, ok := ws.parents[id]; ok {
		return p
	}
	if ws.err != nil {
		return ""
	}
	found, err := ws.view.Nodes(level, []string{id})
	if ws.fail(err) {
		return ""
	}
	p := memory.CompositeID("")
	for _, n := range found {
		p = n.Parent
	}
	ws.parents[id] = p
	return p
}

// composite gives a composite as the write left it; nil if there is none.
func (ws *workspace) composite(id memory.CompositeID) *compositeState {
	if id == "" || ws.err != nil {
		return nil
	}
	if s, ok := ws.composites[id]; ok {
		return s
	}
	found, err := ws.view.Composites([]memory.CompositeID{id})
	if ws.fail(err) || len(found) == 0 {
		return nil
	}
	s := &compositeState{before: &found[0], now: found[0]}
	ws.composites[id] = s
	return s
}

// loadNodes reads nodes that were not looked at yet, all at once.
func (ws *workspace) loadNodes(level int, ids []string) {
	if level == 0 {
		ws.loadFactNodes(ids)
		return
	}
	var missing []memory.CompositeID
	for _, id := range ids {
		if _, ok := ws.composites[memory.CompositeID(id)]; !ok && id != "" {
			missing = append(missing, memory.CompositeID(id))
		}
	}
	if len(missing) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.Composites(unite(missing, nil))
	if ws.fail(err) {
		return
	}
	for _, c := range found {
		ws.composites[c.ID] = &compositeState{before: &c, now: c}
	}
}

// loadFactNodes reads the nodes of facts that the write did not look at whole.
func (ws *workspace) loadFactNodes(ids []string) {
	var missing []string
	for _, id := range ids {
		_, whole := ws.facts[memory.FactID(id)]
		if _, ok := ws.nodes[id]; !ok && !whole && id != "" {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 || ws.err != nil {
		return
	}
	found, err := ws.view.Nodes(0, unite(missing, nil))
	if ws.fail(err) {
		return
	}
	for _, id := range missing {
		ws.nodes[id] = memory.Node{} // none, or the one found
	}
	for _, n := range found {
		ws.nodes[n.ID] = n
		if _, ok := ws.parents[n.ID]; !ok {
			ws.parents[n.ID] = n.Parent
		}
	}
}

// node gives a live node by id as the write left it; false if there is none.
func (ws *workspace) node(level int, id string) (memory.Node, bool) {
	if level == 0 {
		if s, ok := ws.facts[memory.FactID(id)]; ok {
			return nodeOf(s.now), !s.gone && s.now.Live()
		}
		ws.loadFactNodes([]string{id})
		n := ws.nodes[id]
		return n, n.ID != ""
	}
	s := ws.composite(memory.CompositeID(id))
	if s == nil || s.gone {
		return memory.Node{}, false
	}
	return nodeOfComposite(s.now), true
}
