package plan

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// compositeState is a composite as the store has it and as the write leaves it.
type compositeState struct {
	before *memory.Composite // nil = not stored
	now    memory.Composite
	was    memory.CompositeID // the composite whose place it took, "" = none
	gone   bool
	dirty  bool
}

func nodeOf(f memory.Fact) memory.Node {
	return memory.Node{ID: string(f.ID), Text: f.Text, Vector: f.Vector, Entities: f.Entities, Tags: f.Tags,
		Confidence: f.Confidence, Said: f.Said, Occurred: f.Occurred}
}

func nodeOfComposite(c memory.Composite) memory.Node {
	return memory.Node{ID: string(c.ID), Level: c.Level, Text: c.Text, Vector: c.Vector, Entities: c.Entities, Tags: c.Tags,
		Confidence: c.Confidence, Said: c.Said, Occurred: c.Occurred, Children: c.Children}
}

// neighbours is what the view answered when it was asked for the neighbours of a node.
type neighbours struct {
	limit int
	found []Neighbour
}

// leastCosine is the cosine below which no rule looks at a neighbour.
func (ws *workspace) leastCosine() float64 {
	return min(ws.limits.Diameter, ws.limits.Cluster, ws.limits.Dedup)
}

// nearest returns up to limit live nodes of a level that are nearest to n, as the write left them, without n: those
// that any rule would look at, by descending cosine, ties by id.
func (ws *workspace) nearest(level int, n memory.Node, r statement.Reading, limit int) []Neighbour {
	if n.Vector == nil || ws.err != nil {
		return nil
	}
	own, changed := ws.changedNear(level, n)
	known, asked := ws.neighbours[n.ID]
	out := ws.unchanged(level, n.ID, known.found)
	if !asked || len(out) < limit && len(known.found) >= known.limit {
		known.limit = max(limit, ws.cfg.mostNeighbours()) + 4 + min(changed, 4*limit)
		var err error
		if known.found, err = ws.view.Nearest(level, n.Vector, r.Terms(), n.Entities, ws.leastCosine(), known.limit); ws.fail(err) {
			return nil
		}
		ws.neighbours[n.ID] = known
		out = ws.unchanged(level, n.ID, known.found)
	}
	out = append(out, own...)
	slices.SortFunc(out, func(a, b Neighbour) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))]
}

// nearFact is a fact near another one.
type nearFact struct {
	*factState
	cosine float64
}

// nearFacts returns the live facts nearest to f that are near enough for any rule, without f, nearest first.
func (ws *workspace) nearFacts(f memory.Fact) []nearFact {
	near := slices.DeleteFunc(ws.nearest(0, nodeOf(f), ws.readFact(f), ws.cfg.DedupNearest), func(n Neighbour) bool {
		return n.Cosine < min(ws.limits.Dedup, ws.limits.Diameter)
	})
	ids := make([]memory.FactID, len(near))
	for i, n := range near {
		ids[i] = memory.FactID(n.ID)
	}
	ws.load(ids)
	out := make([]nearFact, 0, len(near))
	for i, id := range ids {
		if s := ws.loaded(id); s != nil {
			out = append(out, nearFact{s, near[i].Cosine})
		}
	}
	return out
}

// aboutSame returns facts that hold and name an entity of f, said last first, as neighbours: those of its first entities,
// people before all else, so many of each.
func (ws *workspace) aboutSame(f memory.Fact) []nearFact {
	var out []nearFact
	seen := map[memory.FactID]bool{f.ID: true}
	about := slices.Clone(f.Entities)
	slices.SortStableFunc(about, func(a, b memory.EntityID) int { return cmp.Compare(rankOfType(a), rankOfType(b)) })
	for _, e := range about[:min(revisedEntities, len(about))] {
		found, err := ws.view.FactsOfEntity(e, revisedFacts)
		if ws.fail(err) {
			return nil
		}
		for _, s := range ws.overlay(found, revisedFacts, func(o *memory.Fact) bool { return o.Live() && slices.Contains(o.Entities, e) }) {
			if id := s.now.ID; !seen[id] {
				seen[id] = true
				out = append(out, nearFact{s, 1})
			}
		}
	}
	return out
}

// rankOfType is 0 for people, of whom most is said that changes, and 1 for all else.
func rankOfType(e memory.EntityID) int {
	if typ, _ := e.Split(); typ == memory.EntityPerson {
		return 0
	}
	return 1
}

// A fact that may take back another one is compared with so many facts of each of so many of its entities.
const (
	revisedEntities = 2
	revisedFacts    = 100
)

// unchanged returns the neighbours of a node that the write did not change.
func (ws *workspace) unchanged(level int, id string, found []Neighbour) []Neighbour {
	var out []Neighbour
	for _, n := range found {
		if n.ID == id || ws.isDirty(level, n.ID) {
			continue
		}
		if _, ok := ws.parents[n.ID]; !ok {
			ws.parents[n.ID] = n.Parent
		}
		out = append(out, n)
	}
	return out
}

// isDirty reports whether the write changed a node, so that its own state of it counts.
func (ws *workspace) isDirty(level int, id string) bool {
	if level == 0 {
		s, ok := ws.facts[memory.FactID(id)]
		return ok && s.dirty
	}
	s, ok := ws.composites[memory.CompositeID(id)]
	return ok && s.dirty
}

// changedNear returns the live nodes of a level that the write changed and that are near n, in no order, and how many
// nodes of any state it changed there.
func (ws *workspace) changedNear(level int, n memory.Node) (near []Neighbour, changed int) {
	least := ws.leastCosine()
	isNear := func(id string, v memory.Vector) (cosine float64, ok bool) {
		if id == n.ID {
			return 0, false
		}
		cosine = memory.Cosine(n.Vector, v)
		return cosine, cosine >= least && cosine > 0
	}
	if level == 0 {
		for _, s := range ws.facts {
			if !s.dirty {
				continue
			}
			changed++
			if s.gone || !s.now.Live() {
				continue
			}
			if c, ok := isNear(string(s.now.ID), s.now.Vector); ok {
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
		if s.gone {
			continue
		}
		if c, ok := isNear(string(s.now.ID), s.now.Vector); ok {
			near = append(near, Neighbour{Node: nodeOfComposite(s.now), Cosine: c})
		}
	}
	return near, changed
}

// composite returns a composite as the write left it; nil if there is none.
func (ws *workspace) composite(id memory.CompositeID) *compositeState {
	if id == "" || ws.err != nil {
		return nil
	}
	if _, ok := ws.composites[id]; !ok {
		ws.loadComposites([]string{string(id)})
	}
	return ws.composites[id]
}

// loadNodes reads the nodes of a level that were not read yet, at once.
func (ws *workspace) loadNodes(level int, ids []string) {
	if level == 0 {
		ws.loadFactNodes(ids)
	} else {
		ws.loadComposites(ids)
	}
}

func (ws *workspace) loadComposites(ids []string) {
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
		ws.nodes[id] = memory.Node{} // none, unless it was found
	}
	for _, n := range found {
		ws.nodes[n.ID] = n
		if _, ok := ws.parents[n.ID]; !ok {
			ws.parents[n.ID] = n.Parent
		}
	}
}

// node returns a live node as the write left it; ok is false if there is none.
func (ws *workspace) node(level int, id string) (_ memory.Node, ok bool) {
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
