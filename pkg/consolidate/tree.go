package consolidate

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// step is what changed among the nodes of one level, for the level above to
// take in.
type step struct {
	gone    []string          // nodes that are no more
	renewed map[string]string // nodes that another has taken the place of
	touched []string          // nodes with another text, confidence or time
	fresh   []string          // nodes that look for a place
}

func (s step) empty() bool {
	return len(s.gone)+len(s.renewed)+len(s.touched)+len(s.fresh) == 0
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
	near     near
	families []*family
	of       map[string]*family
}

// growTree takes the changes of the facts into the tree, level by level, until
// a level has nothing to tell the one above. Every ancestor of a changed node
// is rebuilt; none keeps a text that is gone.
func (ws *workspace) growTree(s step) {
	reworded := 0
	for at := range ws.worded {
		reworded = max(reworded, at)
	}
	for at := 1; (!s.empty() || at <= reworded+1) && ws.err == nil; at++ {
		s.touched = append(s.touched, ws.worded[at-1]...)
		if at > ws.cfg.MaxLevels {
			s.fresh = nil
		}
		s = ws.growLevel(at, s)
	}
}

func (ws *workspace) growLevel(at int, s step) step {
	l := &level{ws: ws, at: at, near: ws.cfg.nearAt(ws.limits, at), of: map[string]*family{}}
	for _, id := range s.gone {
		l.leave(id)
	}
	for _, old := range slices.Sorted(mapKeys(s.renewed)) {
		if !l.renew(old, s.renewed[old]) {
			s.fresh = append(s.fresh, s.renewed[old])
		}
	}
	for _, id := range s.touched {
		if l.family(id) != nil && !l.stillFits(id) {
			l.leave(id)
			s.fresh = append(s.fresh, id)
		}
	}
	s.fresh = append(s.fresh, l.dissolve()...)
	placed := map[string]bool{}
	for _, id := range s.fresh {
		if !placed[id] && l.family(id) == nil {
			placed[id] = true
			l.place(id)
		}
	}
	return l.settle()
}

// family gives the family a node stands in, read from the store when it is
// first asked for; nil for a node without one.
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

func (l *level) leave(id string) {
	if f := l.family(id); f != nil {
		f.members = slices.DeleteFunc(f.members, func(m string) bool { return m == id })
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

func (l *level) stillFits(id string) bool {
	var others []string
	for _, m := range l.of[id].members {
		if m != id {
			others = append(others, m)
		}
	}
	return l.fitsAll(id, others)
}

func (l *level) fitsAll(id string, others []string) bool {
	c := clustering{items: l.items(append(slices.Clone(others), id)), near: l.near}
	if _, ok := c.items[id]; !ok {
		return false
	}
	for _, o := range others {
		if _, ok := c.items[o]; !ok || !c.fits(id, o) {
			return false
		}
	}
	return true
}

// dissolve ends families that fell below two members and gives those left over.
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

// place finds a node its place: with its nearest neighbours, alone or in the
// composites they stand in.
func (l *level) place(id string) {
	n, ok := l.ws.node(l.at-1, id)
	if !ok || n.Vector == nil {
		return
	}
	var edges []edge
	groups := [][]string{{id}}
	known := []string{id}
	near := l.ws.nearest(l.at-1, n, l.ws.reading(n.ID, n.Text, n.Entities), l.ws.cfg.ClusterNearest)
	var parents []string
	for _, o := range near {
		if o.Cosine >= l.near.cluster {
			parents = append(parents, string(l.ws.parent(l.at-1, o.ID)))
		}
	}
	l.ws.loadNodes(l.at, parents)
	for _, o := range near {
		if o.Cosine < l.near.cluster {
			break
		}
		edges = append(edges, edge{a: id, b: o.ID, cosine: o.Cosine})
		if slices.Contains(known, o.ID) {
			continue
		}
		members := []string{o.ID}
		if f := l.family(o.ID); f != nil {
			members = slices.Clone(f.members)
		}
		known = append(known, members...)
		groups = append(groups, members)
	}
	if len(edges) == 0 {
		return
	}
	l.regroup(groups, cluster(l.items(known), groups, edges, l.near))
}

// regroup makes families of the groups that clustering changed. A new group
// carries on the family that most of its members come from.
func (l *level) regroup(before, after [][]string) {
	old := map[string]bool{}
	for _, g := range before {
		old[key(g)] = true
	}
	var changed [][]string
	for _, g := range after {
		if len(g) > 1 && !old[key(g)] {
			changed = append(changed, g)
		}
	}
	slices.SortFunc(changed, func(a, b []string) int { return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b)) })
	taken := map[*family]bool{}
	for _, g := range changed {
		var heir *family
		most := 0
		for _, f := range l.families {
			shared := 0
			for _, m := range g {
				if l.of[m] == f {
					shared++
				}
			}
			if shared > most && !taken[f] {
				heir, most = f, shared
			}
		}
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

// items reads the nodes that clustering compares; those that are gone or
// without a vector are left out.
func (l *level) items(ids []string) map[string]item {
	out := make(map[string]item, len(ids))
	l.ws.loadNodes(l.at-1, ids)
	for _, id := range ids {
		if n, ok := l.ws.node(l.at-1, id); ok && n.Vector != nil {
			out[id] = item{id: id, vector: n.Vector, reading: l.ws.reading(n.ID, n.Text, n.Entities)}
		}
	}
	return out
}

func key(g []string) string {
	s := slices.Sorted(slices.Values(g))
	out := ""
	for _, m := range s {
		out += m + " "
	}
	return out
}
