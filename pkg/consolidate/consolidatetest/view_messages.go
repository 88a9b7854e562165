package consolidatetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Messages returns what is stored of message events.
func (m *Memory) Messages(seqs []uint64) ([]plan.StoredMessage, error) {
	m.Reads++
	return pick(m.Events, seqs), nil
}

// MessagesByID returns what is stored under message ids, and the duplicates behind it.
func (m *Memory) MessagesByID(ids []memory.MessageID) ([]plan.StoredMessage, error) {
	return m.events(func(e plan.StoredMessage) bool { return slices.Contains(ids, e.ID) }), nil
}

// MessagesOf returns the events of a session, of a speaker, or of the bank.
func (m *Memory) MessagesOf(session memory.SessionID, speaker string, upto uint64) ([]plan.StoredMessage, error) {
	return m.events(func(e plan.StoredMessage) bool {
		return e.Seq <= upto && (session == "" || e.Session == session) && (session != "" || speaker == "" || memory.NormalText(e.Speaker) == memory.NormalText(speaker))
	}), nil
}

func (m *Memory) events(match func(plan.StoredMessage) bool) []plan.StoredMessage {
	m.Reads++
	var out []plan.StoredMessage
	for _, seq := range slices.Sorted(maps.Keys(m.Events)) {
		if e := m.Events[seq]; match(e) {
			out = append(out, e)
		}
	}
	return out
}

// Replacements returns the replacements in effect.
func (m *Memory) Replacements(ids []memory.MessageID) ([]memory.Replacement, error) {
	m.Reads++
	return pick(m.Replaced, ids), nil
}

// Conflicts returns the conflicts one of the facts is party to, by id.
func (m *Memory) Conflicts(facts []memory.FactID) ([]memory.Conflict, error) {
	m.Reads++
	var out []memory.Conflict
	for _, id := range slices.Sorted(maps.Keys(m.Disputes)) {
		if c := m.Disputes[id]; slices.Contains(facts, c.A) || slices.Contains(facts, c.B) {
			out = append(out, c)
		}
	}
	return out, nil
}

// Conflict returns one conflict.
func (m *Memory) Conflict(id memory.ConflictID) (*memory.Conflict, error) {
	m.Reads++
	if c, ok := m.Disputes[id]; ok {
		return &c, nil
	}
	return nil, nil
}

// Observations returns observations by id.
func (m *Memory) Observations(ids []memory.ObservationID) ([]memory.Observation, error) {
	m.Reads++
	return pick(m.Observed, ids), nil
}

// ObservationsOf returns the observations that rest on one of the facts, by id.
func (m *Memory) ObservationsOf(facts []memory.FactID) ([]memory.Observation, error) {
	m.Reads++
	var out []memory.Observation
	for _, o := range m.Observed {
		if slices.ContainsFunc(o.Facts, func(id memory.FactID) bool { return slices.Contains(facts, id) }) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b memory.Observation) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Window returns how a window ended.
func (m *Memory) Window(id memory.WindowID) (*memory.WindowEnd, error) {
	m.Reads++
	if w, ok := m.Windows[id]; ok {
		return &w, nil
	}
	return nil, nil
}

// Outcome returns the outcome of an op.
func (m *Memory) Outcome(op string) (*memory.WriteOutcome, error) {
	m.Reads++
	if o, ok := m.Ops[op]; ok {
		return &o, nil
	}
	return nil, nil
}

// FactsSince counts live facts whose version is past a sequence.
func (m *Memory) FactsSince(write uint64) (int, error) {
	m.Reads++
	n := 0
	for _, f := range m.Live() {
		if f.Version > write {
			n++
		}
	}
	return n, nil
}

// LastConsolidated is the sequence of the last consolidate that ran.
func (m *Memory) LastConsolidated() (uint64, error) { m.Reads++; return m.Consolidated, nil }

// Tombstoned reports which of the events were forgotten.
func (m *Memory) Tombstoned(seqs []uint64) (map[uint64]bool, error) {
	m.Reads++
	out := map[uint64]bool{}
	for _, s := range seqs {
		if m.Events[s].State == memory.StateForgotten {
			out[s] = true
		}
	}
	return out, nil
}
