package sqlite

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// How much the writer keeps in memory of what it read last, at most: twice
// these numbers, or some 150 MB with vectors of 384 dimensions.
const (
	memoNodes    = 4096
	memoVectors  = 32768
	memoTerms    = 65536
	memoEntities = 8192
)

// memo is what the writer read or wrote of nodes, terms and entities lately, as they are in its
// transaction. It answers the same as the tables, and holds for one position of
// MEM_WRITES: no other write changes what it keeps. A nil memo keeps nothing.
type memo struct {
	at    uint64 // sequence of the last write applied when it was put aside
	nodes [2]lately[int64, memory.Node]
	terms lately[termKey, *posting]
	// vectors are those of nodes, ready to be compared.
	vectors [2]lately[int64, sketch.Coarse]

	entities lately[entityKey, *busy]

	rows       lately[nodeKey, int64] // of nodes
	composites lately[nodeKey, memory.Composite]
	naming     lately[entityKey, naming]
}

// termKey names the nodes of one level of a bank that have a term.
type termKey struct {
	bank  int64
	level int
	term  uint32
}

// posting lists rows, rising; of a common term, which more nodes have than
// anybody asks for, it lists none.
type posting struct {
	nos    []int64
	common bool
}

func newMemo() *memo {
	return &memo{
		nodes:   [2]lately[int64, memory.Node]{{most: memoNodes}, {most: memoNodes}},
		terms:   lately[termKey, *posting]{most: memoTerms},
		vectors: [2]lately[int64, sketch.Coarse]{{most: memoVectors}, {most: memoVectors}},

		entities: lately[entityKey, *busy]{most: memoEntities},

		rows:       lately[nodeKey, int64]{most: 2 * memoNodes},
		composites: lately[nodeKey, memory.Composite]{most: memoNodes},
		naming:     lately[entityKey, naming]{most: memoEntities},
	}
}

// takeMemo gives what was put aside at this position of MEM_WRITES, to one
// caller; else an empty memo.
func (db *DB) takeMemo(after uint64) *memo {
	if m := db.memo.Swap(nil); m != nil && m.at == after {
		return m
	}
	return newMemo()
}

// putMemo puts aside what holds after a commit up to the position.
func (db *DB) putMemo(m *memo, last uint64) {
	m.at = last
	db.memo.Store(m)
}

// forget drops everything.
func (m *memo) forget() {
	if m != nil {
		*m = *newMemo()
	}
}

func (m *memo) node(lvl int, no int64) (n memory.Node, known bool) {
	if m == nil {
		return n, false
	}
	return m.nodes[min(lvl, 1)].get(no)
}

// putNode keeps a node. What it holds is shared with those that were given it:
// nobody changes it.
func (m *memo) putNode(lvl int, no int64, n memory.Node) memory.Node {
	if m != nil {
		m.nodes[min(lvl, 1)].put(no, n)
	}
	return n
}

func (m *memo) vector(lvl int, no int64) (c sketch.Coarse, known bool) {
	if m == nil {
		return c, false
	}
	return m.vectors[min(lvl, 1)].get(no)
}

// putVector keeps a vector as it is stored.
func (m *memo) putVector(lvl int, no int64, packed []byte) sketch.Coarse {
	c := sketch.Coarsen(packed)
	if m != nil {
		m.vectors[min(lvl, 1)].put(no, c)
	}
	return c
}

// dropNode lets go of a node whose row, entities or vector change.
func (m *memo) dropNode(lvl int, no int64) {
	if m != nil {
		m.nodes[min(lvl, 1)].drop(no)
		m.vectors[min(lvl, 1)].drop(no)
	}
}

func (m *memo) posting(k termKey) *posting {
	if m == nil {
		return nil
	}
	p, _ := m.terms.get(k)
	return p
}

func (m *memo) putPosting(k termKey, nos []int64) *posting {
	p := &posting{nos: nos}
	if len(nos) > termBudget {
		p = &posting{common: true}
	}
	if m != nil {
		m.terms.put(k, p)
	}
	return p
}

// addTerms says that a node has the terms from now on.
func (m *memo) addTerms(bank int64, lvl int, no int64, terms []uint32) {
	for _, t := range terms {
		p := m.posting(termKey{bank, lvl, t})
		if p == nil || p.common {
			continue
		}
		if i, found := slices.BinarySearch(p.nos, no); !found {
			p.nos = slices.Insert(p.nos, i, no)
		}
		if len(p.nos) > termBudget {
			p.nos, p.common = nil, true
		}
	}
}

// removeTerms says that a node has the terms no longer.
func (m *memo) removeTerms(bank int64, lvl int, no int64, terms []uint32) {
	for _, t := range terms {
		k := termKey{bank, lvl, t}
		p := m.posting(k)
		if p == nil {
			continue
		}
		if p.common { // perhaps no longer
			m.terms.drop(k)
			continue
		}
		if i, found := slices.BinarySearch(p.nos, no); found {
			p.nos = slices.Delete(p.nos, i, i+1)
		}
	}
}

// lately keeps what was put or asked for last: at least most entries, at most twice as many.
type lately[K comparable, V any] struct {
	most       int
	young, old map[K]V
}

func (l *lately[K, V]) get(k K) (V, bool) {
	if v, ok := l.young[k]; ok {
		return v, true
	}
	v, ok := l.old[k]
	if ok {
		l.put(k, v)
	}
	return v, ok
}

func (l *lately[K, V]) put(k K, v V) {
	if l.young == nil || len(l.young) >= l.most {
		l.old, l.young = l.young, make(map[K]V)
	}
	l.young[k] = v
}

func (l *lately[K, V]) drop(k K) {
	delete(l.young, k)
	delete(l.old, k)
}
