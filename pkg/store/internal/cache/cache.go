// Package cache keeps in memory what the writer of a store reads again and again while it clusters: nodes of the tree
// with their vectors, the nodes of a term, the facts and composites of an entity.
//
// A Cache belongs to a transaction and then to the position in the log at which that committed; the next transaction
// takes it over only if it begins there. It answers exactly as the tables would in that transaction: whoever changes a
// row tells it, or drops what it holds. Each part is bounded and evicts what was used least recently. A nil Cache holds
// nothing and ignores changes, for readers outside a write. It is not safe for concurrent use.
package cache

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// Entries at most: some 150 MB with vectors of 384 dimensions.
const (
	maxNodes    = 8192 // of level 0, and of all levels above
	maxVectors  = 65536
	maxTerms    = 131072
	maxEntities = 16384
	maxSources  = 64 // facts that rest on many messages
	maxFacts    = 4096
)

// ManySources is the number of sources from which those of a fact are kept: a statement that is repeated without end
// would have all of them read with each repetition.
const ManySources = 64

const (
	// TermLimit is the number of nodes of a level from which a term is common: its nodes are not listed.
	TermLimit = 400
	// EntityLimit is the number of nodes that are looked up for an entity, the newest.
	EntityLimit = 100
)

// Cache holds rows as they are in one transaction.
type Cache struct {
	nodes   [2]*simplelru.LRU[int64, memory.Node]   // by row: facts, composites
	vectors [2]*simplelru.LRU[int64, sketch.Coarse] // likewise
	terms   *simplelru.LRU[termKey, *Posting]

	entities *simplelru.LRU[entityKey, *EntityFacts]
	naming   *simplelru.LRU[entityKey, naming]

	rows       *simplelru.LRU[nodeKey, int64] // row by id
	composites *simplelru.LRU[nodeKey, memory.Composite]
	sources    *simplelru.LRU[nodeKey, []memory.Source] // of facts, by id
	facts      *simplelru.LRU[nodeKey, memory.Fact]
}

type nodeKey struct {
	bank int64
	id   string
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{
		nodes:      [2]*simplelru.LRU[int64, memory.Node]{lru[int64, memory.Node](maxNodes), lru[int64, memory.Node](maxNodes)},
		vectors:    [2]*simplelru.LRU[int64, sketch.Coarse]{lru[int64, sketch.Coarse](maxVectors), lru[int64, sketch.Coarse](maxVectors)},
		terms:      lru[termKey, *Posting](maxTerms),
		entities:   lru[entityKey, *EntityFacts](maxEntities),
		naming:     lru[entityKey, naming](maxEntities),
		rows:       lru[nodeKey, int64](2 * maxNodes),
		composites: lru[nodeKey, memory.Composite](maxNodes),
		sources:    lru[nodeKey, []memory.Source](maxSources),
		facts:      lru[nodeKey, memory.Fact](maxFacts),
	}
}

func lru[K comparable, V any](size int) *simplelru.LRU[K, V] {
	l, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return l
}

// Clear drops everything. Forgotten text must not survive in the cache.
func (c *Cache) Clear() {
	if c != nil {
		*c = *New()
	}
}

// table is the index of a level: all levels of composites share one.
func table(level int) int { return min(level, 1) }

// Node returns the node of a row.
func (c *Cache) Node(level int, no int64) (n memory.Node, ok bool) {
	if c == nil {
		return n, false
	}
	return c.nodes[table(level)].Get(no)
}

// Row returns the row number of a node.
func (c *Cache) Row(bank int64, id string) (no int64, ok bool) {
	if c == nil {
		return 0, false
	}
	return c.rows.Get(nodeKey{bank, id})
}

// NodeByID returns a node of a level by its id.
func (c *Cache) NodeByID(bank int64, level int, id string) (n memory.Node, ok bool) {
	no, ok := c.Row(bank, id)
	if !ok {
		return n, false
	}
	n, ok = c.Node(level, no)
	return n, ok && n.ID == id && n.Level == level
}

// PutNode stores a node under its row and under its id, and returns it. Its lists are shared with whoever reads it:
// nobody may change them.
func (c *Cache) PutNode(bank int64, level int, no int64, n memory.Node) memory.Node {
	if c != nil {
		c.rows.Add(nodeKey{bank, n.ID}, no)
		c.nodes[table(level)].Add(no, n)
	}
	return n
}

// DropNode drops a node whose row, entities or vector change.
func (c *Cache) DropNode(level int, no int64) {
	if c != nil {
		c.nodes[table(level)].Remove(no)
		c.vectors[table(level)].Remove(no)
	}
}

// SetParent records the composite that a node belongs to from now on; "" for none.
func (c *Cache) SetParent(level int, no int64, parent memory.CompositeID) {
	if n, ok := c.Node(level, no); ok {
		n.Parent = parent
		c.nodes[table(level)].Add(no, n)
	}
}

// Vector returns the vector of a node, ready to be compared.
func (c *Cache) Vector(level int, no int64) (v sketch.Coarse, ok bool) {
	if c == nil {
		return v, false
	}
	return c.vectors[table(level)].Get(no)
}

// PutVector stores a packed vector and returns it ready to be compared.
func (c *Cache) PutVector(level int, no int64, packed []byte) sketch.Coarse {
	v := sketch.Coarsen(packed)
	if c != nil {
		c.vectors[table(level)].Add(no, v)
	}
	return v
}

// PutFact stores the new state of a fact as a node. stored says that the fact was stored before: then its vector and
// its parent are known only if the node is cached.
func (c *Cache) PutFact(bank, no int64, f memory.Fact, stored bool) {
	if c == nil {
		return
	}
	c.facts.Remove(nodeKey{bank, string(f.ID)})
	n, ok := c.Node(0, no)
	if !f.Live() || stored && !ok {
		c.DropNode(0, no)
		return
	}
	if f.Vector != nil || !stored {
		c.DropNode(0, no)
		n.Vector = c.putVector(0, no, f.Vector)
	}
	c.PutNode(bank, 0, no, memory.Node{ID: string(f.ID), Text: f.Text, Vector: n.Vector, Entities: copied(f.Entities), Tags: copied(f.Tags),
		Confidence: f.Confidence, Said: engine.AsStored(f.Said), Occurred: engine.SpanAsStored(f.Occurred), Parent: n.Parent})
}

// Sources returns the sources of a fact by sequence, where it has many. Nobody may change the list.
func (c *Cache) Sources(bank int64, id memory.FactID) (list []memory.Source, ok bool) {
	if c == nil {
		return nil, false
	}
	return c.sources.Get(nodeKey{bank, string(id)})
}

// Sourced returns the facts of a bank whose sources are kept.
func (c *Cache) Sourced(bank int64) []string {
	if c == nil {
		return nil
	}
	var ids []string
	for _, k := range c.sources.Keys() {
		if k.bank == bank {
			ids = append(ids, k.id)
		}
	}
	return ids
}

// PutSources notes the sources of a fact in the form in which they are read. The list is not changed afterwards.
func (c *Cache) PutSources(bank int64, id memory.FactID, list []memory.Source) {
	switch {
	case c == nil:
	case len(list) < ManySources:
		c.sources.Remove(nodeKey{bank, string(id)})
	default:
		c.sources.Add(nodeKey{bank, string(id)}, list)
	}
}

// Composite returns a composite by id.
func (c *Cache) Composite(bank int64, id memory.CompositeID) (v memory.Composite, ok bool) {
	if c == nil {
		return v, false
	}
	return c.composites.Get(nodeKey{bank, string(id)})
}

// PutComposite stores a composite as it was read.
func (c *Cache) PutComposite(bank int64, v memory.Composite) {
	if c != nil {
		c.composites.Add(nodeKey{bank, string(v.ID)}, v)
	}
}

// AddComposite stores a composite that was not stored before, in the form in which it would be read.
func (c *Cache) AddComposite(bank, no int64, v memory.Composite) {
	if c == nil {
		return
	}
	for _, e := range v.Entities {
		c.addNaming(bank, e, v.Level, no)
	}
	if v.By != nil { // read from its row when it is asked for
		return
	}
	v.Vector = c.putVector(v.Level, no, v.Vector)
	v.Said, v.Occurred = engine.AsStored(v.Said), engine.SpanAsStored(v.Occurred)
	v.Children, v.Entities, v.Tags = copied(v.Children), copied(v.Entities), copied(v.Tags)
	c.PutComposite(bank, v)
	c.PutNode(bank, v.Level, no, memory.Node{ID: string(v.ID), Level: v.Level, Text: v.Text, Vector: v.Vector, Entities: v.Entities, Tags: v.Tags,
		Confidence: v.Confidence, Said: v.Said, Occurred: v.Occurred, Children: v.Children})
}

// DropComposite drops a composite that is removed or changes, and takes it from the lists of its entities.
func (c *Cache) DropComposite(bank int64, level int, no int64, id memory.CompositeID, entities []memory.EntityID) {
	if c == nil {
		return
	}
	c.composites.Remove(nodeKey{bank, string(id)})
	c.rows.Remove(nodeKey{bank, string(id)})
	c.DropNode(level, no)
	for _, e := range entities {
		c.removeNaming(bank, e, level, no)
	}
}

func copied[T any](list []T) []T { return engine.NilIfEmpty(slices.Clone(list)) }

// putVector stores the vector of a node, ready to be compared, and returns it as it is read from the store; nil for none.
func (c *Cache) putVector(level int, no int64, v memory.Vector) memory.Vector {
	if v == nil {
		return nil
	}
	packed := sketch.Pack(v)
	c.PutVector(level, no, packed)
	return sketch.Unpack(packed)
}
