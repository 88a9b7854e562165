package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/cluster"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// levelChanges is what changed among the nodes of one level, for the level above to take in.
type levelChanges struct {
	gone    []string          // nodes that are no more
	renewed map[string]string // nodes whose place another has taken
	touched []string          // nodes with another text, confidence or time
	fresh   []string          // nodes that look for a place
}

func (c levelChanges) empty() bool {
	return len(c.gone)+len(c.renewed)+len(c.touched)+len(c.fresh) == 0
}

// family is the members of one composite while its level is being rebuilt.
type family struct {
	was     memory.CompositeID // the composite it was, "" for a new one
	members []string
}

// level is one level of composites while it is being rebuilt.
type level struct {
	ws       *workspace
	at       int // level of the composites; their members are one below
	limits   cluster.Limits
	families []*family
	of       map[string]*family // by member; nil = in none
}

// growTree takes the changes of the facts into the tree, level by level, until a level has nothing to report to the one
// above. Every ancestor of a changed node is rebuilt; none keeps a text that is gone.
func (ws *workspace) growTree(c levelChanges) {
	highest := 0
	for at := range ws.reworded {
		highest = max(highest, at)
	}
	for at := 1; (!c.empty() || at <= highest+1) && ws.err == nil; at++ {
		c.touched = append(c.touched, ws.reworded[at-1]...)
		if at > ws.cfg.MaxLevels {
			c.fresh = nil
		}
		c = ws.growLevel(at, c)
	}
}

func (ws *workspace) growLevel(at int, c levelChanges) levelChanges {
	l := &level{ws: ws, at: at, limits: ws.cfg.limitsAt(ws.limits, at), of: map[string]*family{}}
	l.load(slices.Concat(c.gone, slices.Collect(maps.Keys(c.renewed)), c.touched, c.fresh))
	for _, id := range c.gone {
		l.leave(id)
	}
	for _, old := range slices.Sorted(maps.Keys(c.renewed)) {
		if !l.renew(old, c.renewed[old]) {
			c.fresh = append(c.fresh, c.renewed[old])
		}
	}
	for _, id := range c.touched {
		if f := l.family(id); f != nil && !l.fitsAll(id, without(f.members, id)) {
			l.leave(id)
			c.fresh = append(c.fresh, id)
		}
	}
	c.fresh = append(c.fresh, l.dissolve()...)
	l.readNear(c.fresh)
	tried := map[string]bool{}
	for _, id := range c.fresh {
		if !tried[id] && l.family(id) == nil {
			tried[id] = true
			l.place(id)
		}
	}
	return l.flush()
}

// load reads the composites above nodes, at once.
func (l *level) load(ids []string) {
	l.ws.loadParents(l.at-1, ids)
	parents := make([]string, len(ids))
	for i, id := range ids {
		parents[i] = string(l.ws.parents[id])
	}
	l.ws.loadNodes(l.at, parents)
}

// family returns the family of a node, read from the store when it is first asked for; nil for a node in none.
func (l *level) family(id string) *family {
	if f, ok := l.of[id]; ok {
		return f
	}
	parent := l.ws.parent(l.at-1, id)
	s := l.ws.composite(parent)
	if s == nil || s.gone {
		l.of[id] = nil
		return nil
	}
	f := &family{was: parent, members: slices.Clone(s.now.Children)}
	l.families = append(l.families, f)
	for _, m := range f.members {
		l.of[m] = f
	}
	return f
}

func without(members []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == id })
}

// leave takes a node out of its family.
func (l *level) leave(id string) {
	if f := l.family(id); f != nil {
		f.members = without(f.members, id)
	}
	l.of[id] = nil
}

// renew puts a node in the place of another and reports whether it fits there.
func (l *level) renew(old, id string) bool {
	f := l.family(old)
	if f == nil {
		return false
	}
	l.leave(old)
	if len(f.members) == 0 || !l.fitsAll(id, f.members) {
		return false
	}
	f.members = append(f.members, id)
	slices.Sort(f.members)
	l.of[id] = f
	return true
}

func (l *level) fitsAll(id string, others []string) bool {
	items := l.items(append(slices.Clone(others), id))
	one, ok := items[id]
	return ok && !slices.ContainsFunc(others, func(o string) bool {
		other, ok := items[o]
		return !ok || !l.limits.Fit(one, other)
	})
}

// dissolve ends families that fell below two members and returns the members left over.
func (l *level) dissolve() []string {
	var orphans []string
	for _, f := range l.families {
		if len(f.members) == 1 {
			orphans = append(orphans, f.members[0])
			l.of[f.members[0]] = nil
			f.members = nil
		}
	}
	return orphans
}

// readNear asks a store of which common round trips save time for the neighbours of nodes that are to be placed, so that it
// has read them when each is. Those of facts were read with the write.
func (l *level) readNear(ids []string) {
	if _, ok := l.ws.view.(TogetherView); !ok || l.at == 1 || len(ids) < 2 {
		return
	}
	var fns []func(*workspace)
	for _, id := range ids {
		n, ok := l.ws.node(l.at-1, id)
		if !ok || n.Vector == nil {
			continue
		}
		terms := l.ws.reading(n.ID, n.Text, n.Entities).Terms()
		fns = append(fns, func(ws *workspace) {
			_, err := ws.view.Nearest(l.at-1, n.Vector, terms, n.Entities, ws.leastCosine(), ws.cfg.mostNeighbours())
			ws.fail(err)
		})
	}
	l.ws.together(fns...)
}

// place finds a node its place: with its nearest neighbours, alone or in the composites they stand in.
func (l *level) place(id string) {
	n, ok := l.ws.node(l.at-1, id)
	if !ok || n.Vector == nil {
		return
	}
	near := l.ws.nearest(l.at-1, n, l.ws.reading(n.ID, n.Text, n.Entities), l.ws.cfg.ClusterNearest)
	if far := slices.IndexFunc(near, func(o Neighbour) bool { return o.Cosine < l.limits.Cluster }); far >= 0 {
		near = near[:far]
	}
	if len(near) == 0 {
		return
	}
	beside := make([]string, len(near))
	for i, o := range near {
		beside[i] = o.ID
	}
	l.load(beside)
	var edges []cluster.Edge
	groups, seen := [][]string{{id}}, []string{id}
	for _, o := range near {
		edges = append(edges, cluster.Edge{A: id, B: o.ID, Cosine: o.Cosine})
		if slices.Contains(seen, o.ID) {
			continue
		}
		members := []string{o.ID}
		if f := l.family(o.ID); f != nil {
			members = slices.Clone(f.members)
		}
		seen = append(seen, members...)
		groups = append(groups, members)
	}
	l.regroup(groups, cluster.Group(l.items(seen), groups, edges, l.limits))
}

// regroup makes families of the groups that clustering changed. A new group carries on the family that most of its
// members come from.
func (l *level) regroup(before, after [][]string) {
	old := map[string]bool{}
	for _, g := range before {
		old[groupKey(g)] = true
	}
	changed := slices.DeleteFunc(after, func(g []string) bool { return len(g) < 2 || old[groupKey(g)] })
	slices.SortFunc(changed, func(a, b []string) int { return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b)) })
	taken := map[*family]bool{}
	for _, g := range changed {
		heir := l.mostShared(g, taken)
		if heir == nil {
			heir = &family{}
			l.families = append(l.families, heir)
		}
		taken[heir] = true
		for _, f := range l.families {
			f.members = slices.DeleteFunc(f.members, func(m string) bool { return slices.Contains(g, m) })
		}
		heir.members = append(heir.members, g...)
	}
	for _, f := range l.families {
		for _, m := range f.members {
			l.of[m] = f
		}
	}
}

// mostShared returns the family that most members of a group come from, of those not taken; nil for none.
func (l *level) mostShared(group []string, taken map[*family]bool) *family {
	var heir *family
	most := 0
	for _, f := range l.families {
		shared := 0
		for _, m := range group {
			if l.of[m] == f {
				shared++
			}
		}
		if shared > most && !taken[f] {
			heir, most = f, shared
		}
	}
	return heir
}

// items returns the nodes that clustering compares; those that are gone or without a vector are left out.
func (l *level) items(ids []string) map[string]cluster.Item {
	out := make(map[string]cluster.Item, len(ids))
	l.ws.loadNodes(l.at-1, ids)
	for _, id := range ids {
		if n, ok := l.ws.node(l.at-1, id); ok && n.Vector != nil {
			out[id] = cluster.Item{ID: id, Vector: n.Vector, Reading: l.ws.reading(n.ID, n.Text, n.Entities)}
		}
	}
	return out
}

func groupKey(g []string) string {
	out := ""
	for _, m := range slices.Sorted(slices.Values(g)) {
		out += m + " "
	}
	return out
}
