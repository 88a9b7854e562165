package consolidatetest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var _ plan.View = (*Memory)(nil)

// Bank returns the profile.
func (m *Memory) Bank() (memory.Bank, error) { m.Reads++; return m.Profile, nil }

// Made reports whether the bank was made: by a profile, or by a message event up to a sequence.
func (m *Memory) Made(upto uint64) (bool, error) {
	m.Reads++
	for seq := range m.Events {
		if seq <= upto {
			return true, nil
		}
	}
	return !m.Profile.Created.IsZero() || len(m.FactsByID)+len(m.Observed) > 0, nil
}

// Facts returns facts by id, in the order asked.
func (m *Memory) Facts(ids []memory.FactID) ([]memory.Fact, error) {
	m.Reads++
	return pick(m.FactsByID, ids), nil
}

// FactByKey returns the live fact of a key.
func (m *Memory) FactByKey(key string) (*memory.Fact, error) {
	found := m.facts(func(f memory.Fact) bool { return f.Key == key && f.Live() }, 1)
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// FactsOfState returns the facts of an attribute of a subject, newest said first.
func (m *Memory) FactsOfState(subject memory.EntityID, attribute string, limit int) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool {
		return f.Merged == "" && f.State != nil && f.State.Subject == subject && f.State.Attribute == attribute
	}, limit), nil
}

// FactsOfStateSince returns those of them that hold at a time or later, or never, or that were said then or later.
func (m *Memory) FactsOfStateSince(subject memory.EntityID, attribute string, at, said time.Time, limit int) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool {
		n := len(f.Valid)
		return f.Merged == "" && f.State != nil && f.State.Subject == subject && f.State.Attribute == attribute &&
			(n == 0 || f.Valid[n-1].To == nil || !f.Valid[n-1].To.Before(at) || !f.Said.Before(said))
	}, limit), nil
}

// FactsOfEntity returns live facts that name the entity, newest said first.
func (m *Memory) FactsOfEntity(entity memory.EntityID, limit int) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool { return f.Live() && slices.Contains(f.Entities, entity) }, limit), nil
}

// FactsNaming returns the facts that name the entity.
func (m *Memory) FactsNaming(entity memory.EntityID) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool { return slices.Contains(f.Entities, entity) }, 0), nil
}

// FactsOfMessages returns the facts that rest on one of the events.
func (m *Memory) FactsOfMessages(seqs []uint64) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool {
		return slices.ContainsFunc(f.Sources, func(s memory.Source) bool { return slices.Contains(seqs, s.Seq) })
	}, 0), nil
}

// FactsByHand returns the facts that rest on no message.
func (m *Memory) FactsByHand(speaker string, session memory.SessionID) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool {
		return len(f.Sources) == 0 && (speaker == "" || memory.NormalText(f.Speaker) == memory.NormalText(speaker)) && (session == "" || f.Session == session)
	}, 0), nil
}

// FactsPointingTo returns the facts superseded by or merged into one of the ids.
func (m *Memory) FactsPointingTo(ids []memory.FactID) ([]memory.Fact, error) {
	return m.facts(func(f memory.Fact) bool { return slices.Contains(ids, f.Superseded) || slices.Contains(ids, f.Merged) }, 0), nil
}

func (m *Memory) facts(match func(memory.Fact) bool, limit int) []memory.Fact {
	m.Reads++
	var out []memory.Fact
	for _, f := range m.FactsByID {
		if match(f) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b memory.Fact) int { return cmp.Or(b.Said.Compare(a.Said), cmp.Compare(a.ID, b.ID)) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// Nearest returns the live nodes of a level by descending cosine, ties by id.
func (m *Memory) Nearest(level int, v memory.Vector, _ []string, _ []memory.EntityID, least float64, limit int) ([]plan.Neighbour, error) {
	m.Reads++
	var out []plan.Neighbour
	for _, n := range m.nodes(level) {
		if c := memory.Cosine(v, n.Vector); c > 0 && c >= least {
			out = append(out, plan.Neighbour{Node: n, Cosine: c})
		}
	}
	slices.SortFunc(out, func(a, b plan.Neighbour) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(limit, len(out))], nil
}

// Nodes returns live facts or composites as nodes.
func (m *Memory) Nodes(level int, ids []string) ([]memory.Node, error) {
	m.Reads++
	var out []memory.Node
	for _, n := range m.nodes(level) {
		if slices.Contains(ids, n.ID) {
			out = append(out, n)
		}
	}
	return out, nil
}

func (m *Memory) nodes(level int) []memory.Node {
	parents := map[string]memory.CompositeID{}
	for _, c := range m.Tree {
		if c.Level == level+1 {
			for _, child := range c.Children {
				parents[child] = c.ID
			}
		}
	}
	var out []memory.Node
	if level == 0 {
		for _, f := range m.FactsByID {
			if f.Live() {
				out = append(out, memory.Node{ID: string(f.ID), Text: f.Text, Vector: f.Vector, Entities: f.Entities, Tags: f.Tags,
					Confidence: f.Confidence, Said: f.Said, Occurred: f.Occurred, Parent: parents[string(f.ID)]})
			}
		}
	}
	for _, c := range m.Tree {
		if c.Level == level && level > 0 {
			out = append(out, memory.Node{ID: string(c.ID), Level: level, Text: c.Text, Vector: c.Vector, Entities: c.Entities, Tags: c.Tags,
				Confidence: c.Confidence, Said: c.Said, Occurred: c.Occurred, Parent: parents[string(c.ID)], Children: c.Children})
		}
	}
	return out
}

// Composites returns composites by id.
func (m *Memory) Composites(ids []memory.CompositeID) ([]memory.Composite, error) {
	m.Reads++
	return pick(m.Tree, ids), nil
}

// Entities returns entities by id.
func (m *Memory) Entities(ids []memory.EntityID) ([]memory.Entity, error) {
	m.Reads++
	return pick(m.Named, ids), nil
}

// EntitiesNamed returns the entities with this name or alias, by id.
func (m *Memory) EntitiesNamed(name string) ([]memory.Entity, error) {
	m.Reads++
	var out []memory.Entity
	norm := memory.NormalText(name)
	for _, id := range slices.Sorted(maps.Keys(m.Named)) {
		e := m.Named[id]
		if slices.ContainsFunc(append([]string{e.Name}, e.Aliases...), func(s string) bool { return memory.NormalText(s) == norm }) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Relation returns the relation that leads from one record to another.
func (m *Memory) Relation(from, to string, typ memory.RelationType) (*memory.Relation, error) {
	m.Reads++
	r, ok := m.Related[from+"|"+to+"|"+string(typ)]
	if !ok {
		return nil, nil
	}
	return &r, nil
}

// Undo returns what takes an apply back.
func (m *Memory) Undo(op string) (*memory.Undo, error) {
	m.Reads++
	return m.Undos[op], nil
}

// BusiestEntities returns entities by the number of live facts that name them.
func (m *Memory) BusiestEntities(limit int) ([]memory.Entity, error) {
	m.Reads++
	count := map[memory.EntityID]int{}
	for _, f := range m.Live() {
		for _, e := range f.Entities {
			count[e]++
		}
	}
	var out []memory.Entity
	for id, n := range count {
		e := m.Named[id]
		e.Facts = n
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b memory.Entity) int { return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))], nil
}

func pick[K comparable, V any](from map[K]V, ids []K) []V {
	var out []V
	for _, id := range ids {
		if v, ok := from[id]; ok {
			out = append(out, v)
		}
	}
	return out
}
