package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entityKey names the live facts of a bank that name an entity.
type entityKey struct {
	bank   int64
	entity memory.EntityID
}

// busy is how many live facts name an entity, and the newest of them.
type busy struct {
	live  int
	facts []dated // the newest first
}

// dated is a fact's row and when it was said.
type dated struct{ no, said int64 }

func newest(a, b dated) int { return cmp.Or(cmp.Compare(b.said, a.said), cmp.Compare(b.no, a.no)) }

func (m *memo) entity(bank int64, e memory.EntityID) *busy {
	if m == nil {
		return nil
	}
	b, _ := m.entities.get(entityKey{bank, e})
	return b
}

// putEntity keeps what the tables say of an entity. Not of one whose id they
// keep in other words than it is given in.
func (m *memo) putEntity(bank int64, e memory.EntityID, b *busy) {
	if m != nil && strings.IndexByte(string(e), 0) < 0 {
		m.entities.put(entityKey{bank, e}, b)
	}
}

// addFact says that a fact that was not stored, and is live, names an entity.
func (m *memo) addFact(bank int64, e memory.EntityID, f dated) {
	b := m.entity(bank, e)
	if b == nil {
		return
	}
	b.live++
	i, _ := slices.BinarySearchFunc(b.facts, f, newest)
	b.facts = slices.Insert(b.facts, i, f)
	b.facts = b.facts[:min(len(b.facts), entityBudget)]
}

// dropEntities lets go of entities of which anything else changed.
func (m *memo) dropEntities(bank int64, list ...memory.EntityID) {
	if m == nil {
		return
	}
	for _, e := range list {
		m.entities.drop(entityKey{bank, e})
	}
}

// quietest puts the entities in the order in which they are looked at.
func quietest(entities []memory.EntityID, known map[memory.EntityID]*busy) []memory.EntityID {
	out := slices.Clone(entities)
	slices.SortFunc(out, func(a, b memory.EntityID) int {
		return cmp.Or(cmp.Compare(known[a].live, known[b].live), cmp.Compare(a, b))
	})
	return out[:min(len(out), nearestEntities)]
}
