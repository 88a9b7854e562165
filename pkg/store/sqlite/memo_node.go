package sqlite

import (
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// nodeKey names a node of a bank.
type nodeKey struct {
	bank int64
	id   string
}

// nodeNamed gives the node of a level by id, where it is kept.
func (m *memo) nodeNamed(bank int64, lvl int, id string) (n memory.Node, known bool) {
	if m == nil {
		return n, false
	}
	no, ok := m.rows.get(nodeKey{bank, id})
	if !ok {
		return n, false
	}
	n, known = m.node(lvl, no)
	return n, known && n.ID == id && n.Level == lvl
}

// putNodeNamed keeps a node under its row and under its id.
func (m *memo) putNodeNamed(bank int64, lvl int, no int64, n memory.Node) memory.Node {
	if m != nil {
		m.rows.put(nodeKey{bank, n.ID}, no)
	}
	return m.putNode(lvl, no, n)
}

// keepFact keeps a fact's new state as a node, where all of it is known: of one
// that was stored, with its vector and its place, only what is kept already.
func (m *memo) keepFact(bank, no int64, f memory.Fact, stored bool) {
	if m == nil {
		return
	}
	n, known := m.node(0, no)
	if !f.Live() || stored && !known {
		m.dropNode(0, no)
		return
	}
	if f.Vector != nil || !stored {
		m.dropNode(0, no)
		n.Vector = asStored(f.Vector)
	}
	m.putNodeNamed(bank, 0, no, memory.Node{ID: string(f.ID), Text: f.Text, Vector: n.Vector, Entities: none(slices.Clone(f.Entities)), Tags: none(slices.Clone(f.Tags)),
		Confidence: f.Confidence, Said: fromMicros(micros(f.Said)), Occurred: spanStored(f.Occurred), Parent: n.Parent})
}

// setParent says that a node hangs below another composite now.
func (m *memo) setParent(lvl int, no int64, parent memory.CompositeID) {
	if n, known := m.node(lvl, no); known {
		n.Parent = parent
		m.nodes[min(lvl, 1)].put(no, n)
	}
}

func (m *memo) composite(bank int64, id memory.CompositeID) (c memory.Composite, known bool) {
	if m == nil {
		return c, false
	}
	return m.composites.get(nodeKey{bank, string(id)})
}

func (m *memo) putComposite(bank int64, c memory.Composite) {
	if m != nil {
		m.composites.put(nodeKey{bank, string(c.ID)}, c)
	}
}

// storedComposite keeps a composite that was not stored as a reader of its row
// would find it.
func (m *memo) storedComposite(bank, no int64, c memory.Composite) {
	if m == nil {
		return
	}
	for _, e := range c.Entities {
		m.addNaming(bank, e, c.Level, no)
	}
	if c.By != nil { // read back where it is asked for
		return
	}
	c.Vector = asStored(c.Vector)
	c.Said, c.Occurred = fromMicros(micros(c.Said)), spanStored(c.Occurred)
	c.Children, c.Entities, c.Tags = none(slices.Clone(c.Children)), none(slices.Clone(c.Entities)), none(slices.Clone(c.Tags))
	m.putComposite(bank, c)
	m.putNodeNamed(bank, c.Level, no, memory.Node{ID: string(c.ID), Level: c.Level, Text: c.Text, Vector: c.Vector, Entities: c.Entities, Tags: c.Tags,
		Confidence: c.Confidence, Said: c.Said, Occurred: c.Occurred, Children: c.Children})
}

// dropComposite lets go of a composite that goes or changes, and of what is
// known of the entities that it names.
func (m *memo) dropComposite(bank int64, lvl int, no int64, id memory.CompositeID, entities []memory.EntityID) {
	if m == nil {
		return
	}
	m.composites.drop(nodeKey{bank, string(id)})
	m.rows.drop(nodeKey{bank, string(id)})
	m.dropNode(lvl, no)
	for _, e := range entities {
		m.removeNaming(bank, e, lvl, no)
	}
}

// asStored is a vector as it is read from the store.
func asStored(v memory.Vector) memory.Vector {
	if v == nil {
		return nil
	}
	return sketch.Unpack(sketch.Pack(v))
}

// spanStored is a span as it is read from the store.
func spanStored(s memory.Span) memory.Span {
	if s.From != nil {
		t := fromMicros(micros(*s.From))
		s.From = &t
	}
	if s.To != nil {
		t := fromMicros(micros(*s.To))
		s.To = &t
	}
	return s
}
