package cache

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// termKey names the nodes of one level of a bank that have a term.
type termKey struct {
	bank  int64
	level int
	term  uint32
}

// Posting lists the rows of the nodes that have a term, ascending. The rows of a common term are not listed.
type Posting struct {
	Nos    []int64
	common bool
}

// Posting returns the nodes of a term; nil when they are not known.
func (c *Cache) Posting(bank int64, level int, term uint32) *Posting {
	if c == nil {
		return nil
	}
	p, _ := c.terms.Get(termKey{bank, level, term})
	return p
}

// PutPosting stores the nodes of a term, of which the caller looked up TermLimit + 1 at most.
func (c *Cache) PutPosting(bank int64, level int, term uint32, nos []int64) *Posting {
	p := &Posting{Nos: nos}
	if len(nos) > TermLimit {
		p = &Posting{common: true}
	}
	if c != nil {
		c.terms.Add(termKey{bank, level, term}, p)
	}
	return p
}

// AddTerms records that a node has the terms from now on.
func (c *Cache) AddTerms(bank int64, level int, no int64, terms []uint32) {
	for _, t := range terms {
		p := c.Posting(bank, level, t)
		if p == nil || p.common {
			continue
		}
		if i, found := slices.BinarySearch(p.Nos, no); !found {
			p.Nos = slices.Insert(p.Nos, i, no)
		}
		if len(p.Nos) > TermLimit {
			p.Nos, p.common = nil, true
		}
	}
}

// RemoveTerms records that a node no longer has the terms.
func (c *Cache) RemoveTerms(bank int64, level int, no int64, terms []uint32) {
	for _, t := range terms {
		p := c.Posting(bank, level, t)
		switch {
		case p == nil:
		case p.common: // perhaps no longer
			c.terms.Remove(termKey{bank, level, t})
		default:
			if i, found := slices.BinarySearch(p.Nos, no); found {
				p.Nos = slices.Delete(p.Nos, i, i+1)
			}
		}
	}
}

type entityKey struct {
	bank   int64
	entity memory.EntityID
}

// keyable reports whether the tables store the id of an entity as it is given: a NUL in it is replaced.
func keyable(e memory.EntityID) bool { return strings.IndexByte(string(e), 0) < 0 }

// EntityFacts is how many live facts name an entity, and the newest EntityLimit of them, the latest said first.
type EntityFacts struct {
	Live  int
	Facts []DatedFact
}

// DatedFact is the row of a fact and when it was said, in microseconds.
type DatedFact struct{ No, Said int64 }

func newest(a, b DatedFact) int { return cmp.Or(cmp.Compare(b.Said, a.Said), cmp.Compare(b.No, a.No)) }

// EntityFacts returns the facts of an entity; nil when they are not known.
func (c *Cache) EntityFacts(bank int64, e memory.EntityID) *EntityFacts {
	if c == nil {
		return nil
	}
	f, _ := c.entities.Get(entityKey{bank, e})
	return f
}

// PutEntityFacts stores the facts of an entity.
func (c *Cache) PutEntityFacts(bank int64, e memory.EntityID, f *EntityFacts) {
	if c != nil && keyable(e) {
		c.entities.Add(entityKey{bank, e}, f)
	}
}

// AddFact records that a live fact that was not stored before names an entity.
func (c *Cache) AddFact(bank int64, e memory.EntityID, f DatedFact) {
	facts := c.EntityFacts(bank, e)
	if facts == nil {
		return
	}
	facts.Live++
	i, _ := slices.BinarySearchFunc(facts.Facts, f, newest)
	facts.Facts = slices.Insert(facts.Facts, i, f)
	facts.Facts = facts.Facts[:min(len(facts.Facts), EntityLimit)]
}

// DropEntityFacts drops the facts of entities of which anything else changes.
func (c *Cache) DropEntityFacts(bank int64, list ...memory.EntityID) {
	if c == nil {
		return
	}
	for _, e := range list {
		c.entities.Remove(entityKey{bank, e})
	}
}

// naming is the composites that name an entity, by level from 1 on; nil is a level that was not looked up.
type naming []*namedBy

// namedBy is at most NamingLimit rows, the newest, descending. more says that there may be others after them.
type namedBy struct {
	nos  []int64
	more bool
}

// NamingLimit is the number of composites that are looked up for an entity: more than EntityLimit, so that some may be
// removed without another look.
const NamingLimit = 2 * EntityLimit

// CompositesNaming returns the newest EntityLimit composites of a level that name an entity; false when they are not
// known.
func (c *Cache) CompositesNaming(bank int64, e memory.EntityID, level int) (nos []int64, ok bool) {
	b := c.named(bank, e, level)
	if b == nil || b.more && len(b.nos) < EntityLimit {
		return nil, false
	}
	return b.nos[:min(len(b.nos), EntityLimit)], true
}

func (c *Cache) named(bank int64, e memory.EntityID, level int) *namedBy {
	if c == nil {
		return nil
	}
	if n, _ := c.naming.Get(entityKey{bank, e}); len(n) >= level {
		return n[level-1]
	}
	return nil
}

// PutNaming stores the newest NamingLimit composites of a level that name an entity.
func (c *Cache) PutNaming(bank int64, e memory.EntityID, level int, nos []int64) {
	if c == nil || !keyable(e) {
		return
	}
	n, _ := c.naming.Get(entityKey{bank, e})
	for len(n) < level {
		n = append(n, nil)
	}
	n[level-1] = &namedBy{nos: nos, more: len(nos) == NamingLimit}
	c.naming.Add(entityKey{bank, e}, n)
}

func (c *Cache) addNaming(bank int64, e memory.EntityID, level int, no int64) {
	b := c.named(bank, e, level)
	if b == nil {
		return
	}
	i, found := slices.BinarySearchFunc(b.nos, no, descending)
	if found || b.more && i == len(b.nos) { // others may stand before it
		return
	}
	if b.nos = slices.Insert(b.nos, i, no); len(b.nos) > NamingLimit {
		b.nos, b.more = b.nos[:NamingLimit], true
	}
}

func (c *Cache) removeNaming(bank int64, e memory.EntityID, level int, no int64) {
	b := c.named(bank, e, level)
	if b == nil {
		return
	}
	if i, found := slices.BinarySearchFunc(b.nos, no, descending); found {
		b.nos = slices.Delete(b.nos, i, i+1)
	}
}

// DropNaming drops which composites name the entities.
func (c *Cache) DropNaming(bank int64, entities ...memory.EntityID) {
	if c == nil {
		return
	}
	for _, e := range entities {
		c.naming.Remove(entityKey{bank, e})
	}
}

func descending(a, b int64) int { return cmp.Compare(b, a) }
