package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// naming is which composites name an entity, by level: of each level the newest
// rows, falling. The first is level 1; nil is a level that was not looked at.
type naming []*namedBy

// namedBy is at most namedKept rows; more says that there may be others behind.
type namedBy struct {
	nos  []int64
	more bool
}

// namedKept is more than what is asked for, so that a few may go.
const namedKept = 2 * entityBudget

// compositesNaming gives the newest composites of a level that name an entity.
func (m *memo) compositesNaming(bank int64, e memory.EntityID, lvl int) (nos []int64, known bool) {
	if m == nil {
		return nil, false
	}
	b := m.named(bank, e, lvl)
	if b == nil || b.more && len(b.nos) < entityBudget {
		return nil, false
	}
	return b.nos[:min(len(b.nos), entityBudget)], true
}

func (m *memo) named(bank int64, e memory.EntityID, lvl int) *namedBy {
	if m == nil {
		return nil
	}
	if n, _ := m.naming.get(entityKey{bank, e}); len(n) >= lvl {
		return n[lvl-1]
	}
	return nil
}

// putNaming keeps the newest namedKept composites of a level that name an entity.
func (m *memo) putNaming(bank int64, e memory.EntityID, lvl int, nos []int64) {
	if m == nil || strings.IndexByte(string(e), 0) >= 0 {
		return
	}
	n, _ := m.naming.get(entityKey{bank, e})
	for len(n) < lvl {
		n = append(n, nil)
	}
	n[lvl-1] = &namedBy{nos: nos, more: len(nos) == namedKept}
	m.naming.put(entityKey{bank, e}, n)
}

// addNaming says that a composite that was not stored names an entity.
func (m *memo) addNaming(bank int64, e memory.EntityID, lvl int, no int64) {
	b := m.named(bank, e, lvl)
	if b == nil {
		return
	}
	i, found := slices.BinarySearchFunc(b.nos, no, falling)
	if found || b.more && i == len(b.nos) { // where others may stand before it
		return
	}
	if b.nos = slices.Insert(b.nos, i, no); len(b.nos) > namedKept {
		b.nos, b.more = b.nos[:namedKept], true
	}
}

// removeNaming says that a composite does not name an entity any longer.
func (m *memo) removeNaming(bank int64, e memory.EntityID, lvl int, no int64) {
	b := m.named(bank, e, lvl)
	if b == nil {
		return
	}
	if i, found := slices.BinarySearchFunc(b.nos, no, falling); found {
		b.nos = slices.Delete(b.nos, i, i+1)
	}
}

// dropNamings lets go of which composites name the entities.
func (m *memo) dropNamings(bank int64, entities []memory.EntityID) {
	if m == nil {
		return
	}
	for _, e := range entities {
		m.naming.drop(entityKey{bank, e})
	}
}

func falling(a, b int64) int { return cmp.Compare(b, a) }
