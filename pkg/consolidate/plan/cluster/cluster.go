// Package cluster groups the nodes of one level of the tree into composites.
//
// Group joins groups along edges, nearest first, under a complete-linkage rule: two groups join when any two of their
// members are similar enough. Whichever member represents a group is then near all others, and no chain of neighbours
// holds unlike ends together. The result depends on the sets alone, not on their order.
package cluster

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Item is a node to group.
type Item struct {
	ID      string
	Vector  memory.Vector
	Reading statement.Reading
}

// Edge joins two nodes that are near each other.
type Edge struct {
	A, B   string
	Cosine float64
}

// Limits say what may stand in one group.
type Limits struct {
	Cluster    float64 // least cosine of an edge that joins
	Diameter   float64 // least cosine of any two members
	SharedWord bool    // any two members share a content word that is neither name nor number
	Cap        int     // most members; a group that grows past it is split in two
}

// Fit reports whether two nodes may stand in one group.
func (l Limits) Fit(a, b Item) bool {
	return memory.Cosine(a.Vector, b.Vector) >= l.Diameter && (!l.SharedWord || a.Reading.SharesWord(b.Reading))
}

// Group joins groups of nodes along edges. Every node of the given groups is in exactly one group of the result, whose
// groups are sorted inside and among each other. items holds every node of groups.
func Group(items map[string]Item, groups [][]string, edges []Edge, l Limits) [][]string {
	s := sets{items: items, limits: l, of: map[string]int{}}
	groups = slices.Clone(groups)
	for i := range groups {
		groups[i] = slices.Sorted(slices.Values(groups[i]))
	}
	slices.SortFunc(groups, slices.Compare)
	for _, g := range groups {
		s.add(g)
	}
	for _, e := range nearestFirst(edges) {
		s.join(e)
	}
	var out [][]string
	for _, g := range s.groups {
		if len(g) > 0 {
			slices.Sort(g)
			out = append(out, g)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// nearestFirst returns the edges, each from its smaller id, by descending cosine, ties by ids.
func nearestFirst(edges []Edge) []Edge {
	out := slices.Clone(edges)
	for i, e := range out {
		out[i].A, out[i].B = min(e.A, e.B), max(e.A, e.B)
	}
	slices.SortFunc(out, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(y.Cosine, x.Cosine), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return out
}

// sets are disjoint sets that keep their members.
type sets struct {
	items  map[string]Item
	limits Limits
	groups [][]string
	of     map[string]int
}

func (s *sets) add(members []string) {
	for _, m := range members {
		s.of[m] = len(s.groups)
	}
	s.groups = append(s.groups, members)
}

func (s *sets) join(e Edge) {
	i, okA := s.of[e.A]
	j, okB := s.of[e.B]
	if !okA || !okB || i == j || e.Cosine < s.limits.Cluster {
		return
	}
	a, b := s.groups[i], s.groups[j]
	// Two groups join whole; a full group takes one more and is split.
	if len(a)+len(b) > s.limits.Cap && len(a) > 1 && len(b) > 1 {
		return
	}
	for _, x := range a {
		for _, y := range b {
			if !s.limits.Fit(s.items[x], s.items[y]) {
				return
			}
		}
	}
	both := slices.Concat(a, b)
	s.groups[i], s.groups[j] = nil, nil
	if len(both) <= s.limits.Cap {
		s.add(both)
		return
	}
	left, right := s.split(both)
	s.add(left)
	s.add(right)
}

// split divides a group around the two members that are furthest apart. Each part has at least two members, and about a
// third of them.
func (s *sets) split(members []string) (left, right []string) {
	slices.Sort(members)
	lowest, l, r := 2.0, members[0], members[1]
	for i, x := range members {
		for _, y := range members[i+1:] {
			if c := memory.Cosine(s.items[x].Vector, s.items[y].Vector); c < lowest {
				lowest, l, r = c, x, y
			}
		}
	}
	lean := map[string]float64{} // how much nearer to the left end than to the right one
	for _, m := range members {
		v := s.items[m].Vector
		lean[m] = memory.Cosine(v, s.items[l].Vector) - memory.Cosine(v, s.items[r].Vector)
	}
	slices.SortFunc(members, func(x, y string) int { return cmp.Or(cmp.Compare(lean[y], lean[x]), cmp.Compare(x, y)) })
	least := max(2, len(members)/3)
	at := least
	for at < len(members)-least && lean[members[at]] > 0 {
		at++
	}
	return slices.Clone(members[:at]), slices.Clone(members[at:])
}
