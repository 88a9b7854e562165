package cache

import "github.com/eunoe-memory/eunoe/pkg/memory"

// Fact returns a fact that was read by its id. Nobody may change its lists.
func (c *Cache) Fact(bank int64, id memory.FactID) (f memory.Fact, ok bool) {
	if c == nil {
		return f, false
	}
	return c.facts.Get(nodeKey{bank, string(id)})
}

// KeepFact stores a fact as it was read, unless it rests on many messages.
func (c *Cache) KeepFact(bank int64, f memory.Fact) {
	if c != nil && len(f.Sources) < ManySources {
		c.facts.Add(nodeKey{bank, string(f.ID)}, f)
	}
}

// DropFacts drops all facts as they were read: others may point to one that is removed.
func (c *Cache) DropFacts() {
	if c != nil {
		c.facts.Purge()
	}
}
