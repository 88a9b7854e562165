package consolidate

import (
	"cmp"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// item is a node as clustering sees it.
type item struct {
	id      string
	vector  memory.Vector
	reading reading
}

// edge says that two nodes are near enough to belong together.
type edge struct {
	a, b   string
	cosine float64
}

// cluster joins groups of nodes along edges, the nearest first. Two groups
// become one when any two of their members are within the diameter of each
// other (and, where the model's cosine is lexical, share a content word), so
// that whichever member represents the group is near them all and no chain of
// neighbours holds unlike ends together. A group that passes the cap is split
// in two. What comes out depends on the sets alone, not on their order: groups
// are sorted inside and among each other, and every node is in one.
func cluster(items map[string]item, groups [][]string, edges []edge, n near) [][]string {
	c := clustering{items: items, near: n, of: map[string]int{}}
	groups = slices.Clone(groups)
	for i := range groups {
		groups[i] = slices.Sorted(slices.Values(groups[i]))
	}
	slices.SortFunc(groups, slices.Compare)
	for _, g := range groups {
		c.add(g)
	}
	sorted := slices.Clone(edges)
	for i, e := range sorted {
		if e.b < e.a {
			sorted[i].a, sorted[i].b = e.b, e.a
		}
	}
	slices.SortFunc(sorted, func(x, y edge) int {
		return cmp.Or(cmp.Compare(y.cosine, x.cosine), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	for _, e := range sorted {
		c.join(e)
	}
	var out [][]string
	for _, g := range c.groups {
		if len(g) > 0 {
			slices.Sort(g)
			out = append(out, g)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// clustering is a union-find whose sets keep their members.
type clustering struct {
	items  map[string]item
	near   near
	groups [][]string
	of     map[string]int
}

func (c *clustering) add(members []string) {
	for _, m := range members {
		c.of[m] = len(c.groups)
	}
	c.groups = append(c.groups, members)
}

func (c *clustering) join(e edge) {
	i, okA := c.of[e.a]
	j, okB := c.of[e.b]
	if !okA || !okB || i == j || e.cosine < c.near.cluster {
		return
	}
	a, b := c.groups[i], c.groups[j]
	// Two groups join whole; a full group takes one more and is split.
	if len(a)+len(b) > c.near.cap && len(a) > 1 && len(b) > 1 {
		return
	}
	for _, x := range a {
		for _, y := range b {
			if !c.fits(x, y) {
				return
			}
		}
	}
	both := slices.Concat(a, b)
	c.groups[i], c.groups[j] = nil, nil
	if len(both) <= c.near.cap {
		c.add(both)
		return
	}
	left, right := c.split(both)
	c.add(left)
	c.add(right)
}

// fits reports whether two nodes may stand in one composite.
func (c *clustering) fits(x, y string) bool {
	a, b := c.items[x], c.items[y]
	if memory.Cosine(a.vector, b.vector) < c.near.diameter {
		return false
	}
	return !c.near.sharedWord || a.reading.sharesWord(b.reading)
}

// split parts a group in two around the two members that are furthest apart;
// each half has at least two, and about a third, of them.
func (c *clustering) split(members []string) (left, right []string) {
	slices.Sort(members)
	lowest, l, r := 2.0, members[0], members[1]
	for i, x := range members {
		for _, y := range members[i+1:] {
			if s := memory.Cosine(c.items[x].vector, c.items[y].vector); s < lowest {
				lowest, l, r = s, x, y
			}
		}
	}
	lean := map[string]float64{}
	for _, m := range members {
		v := c.items[m].vector
		lean[m] = memory.Cosine(v, c.items[l].vector) - memory.Cosine(v, c.items[r].vector)
	}
	slices.SortFunc(members, func(x, y string) int { return cmp.Or(cmp.Compare(lean[y], lean[x]), cmp.Compare(x, y)) })
	least := max(2, len(members)/3)
	at := least
	for at < len(members)-least && lean[members[at]] > 0 {
		at++
	}
	return slices.Clone(members[:at]), slices.Clone(members[at:])
}
