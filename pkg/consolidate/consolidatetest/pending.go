package consolidatetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DecisionsOf returns the decisions that one of the facts was party to.
func (m *Memory) DecisionsOf(facts []memory.FactID) ([]memory.DecisionResult, error) {
	m.Reads++
	var out []memory.DecisionResult
	for _, d := range m.Decided {
		if slices.Contains(facts, d.Fact) || slices.Contains(facts, d.Target) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b memory.DecisionResult) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Write, b.Write))
	})
	return out, nil
}

// Pending returns the questions of a kind, the longest waiting first.
func (m *Memory) Pending(kind memory.PendingKind, limit int) ([]memory.PendingQuestion, error) {
	m.Reads++
	var out []memory.PendingQuestion
	for _, q := range m.Waits {
		if q.Kind == kind {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b memory.PendingQuestion) int {
		return cmp.Or(cmp.Compare(a.Write, b.Write), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(limit, len(out))], nil
}

// LastObserved is the sequence up to which a model has seen the facts.
func (m *Memory) LastObserved() (uint64, error) { m.Reads++; return m.Seen, nil }

func (m *Memory) applyModels(w memory.Write, c memory.Changes) {
	for _, k := range c.Resolved {
		delete(m.Waits, k)
	}
	for _, q := range c.Pending {
		q.Write, q.At = w.Seq, memory.At(w.Time)
		m.Waits[q.PendingKey] = q
	}
	m.Decided = append(m.Decided, c.Decisions...)
	m.Seen = max(m.Seen, c.Observed)
	gone := c.RemovedFacts
	m.Decided = slices.DeleteFunc(m.Decided, func(d memory.DecisionResult) bool {
		return slices.Contains(gone, d.Fact) || slices.Contains(gone, d.Target) || slices.Contains(gone, d.Made)
	})
	maps.DeleteFunc(m.Waits, func(k memory.PendingKey, _ memory.PendingQuestion) bool {
		return k.Kind == memory.PendingDecide && slices.Contains(gone, memory.FactID(k.ID))
	})
}
