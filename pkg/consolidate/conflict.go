package consolidate

import (
	"cmp"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// conflictState is a conflict as the store has it and as the write leaves it.
type conflictState struct {
	before *memory.Conflict
	now    memory.Conflict
	gone   bool
}

// denied is the reason of a conflict that the rules find; it holds no text.
const denied = "one denies what the other states"

// nearFacts gives the live facts nearest to f, itself left out. Those that are
// near enough for any rule are loaded.
func (ws *workspace) nearFacts(f memory.Fact) []Neighbour {
	near := ws.nearest(0, nodeOf(f), ws.readFact(f), ws.cfg.DedupNearest)
	var ids []memory.FactID
	for _, n := range near {
		if n.Cosine >= min(ws.limits.Dedup, ws.limits.Diameter) {
			ids = append(ids, memory.FactID(n.ID))
		}
	}
	ws.load(ids)
	return near
}

// oppose compares a fact with its neighbours: what one plainly takes back is
// superseded, and where one denies the other a conflict is opened, unless the
// pair had one before.
func (ws *workspace) oppose(id memory.FactID, near []Neighbour) {
	for _, n := range near {
		if n.Cosine < ws.limits.Diameter || n.ID == string(id) {
			continue
		}
		f, other := ws.fact(id), ws.fact(memory.FactID(n.ID))
		if f == nil || other == nil || !f.Live() || !other.Live() {
			continue
		}
		newer, older := *f, *other
		if rank(newer, older) < 0 {
			newer, older = older, newer
		}
		rn, ro := ws.readFact(newer), ws.readFact(older)
		switch {
		case older.Pinned || f.State != nil && other.State != nil && f.State.Attribute == other.State.Attribute:
		case corrects(rn, ro):
			ws.supersede(older, newer)
		case contradicts(rn, ro):
			ws.openConflict(newer.ID, older.ID)
		}
	}
}

func (ws *workspace) openConflict(a, b memory.FactID) { ws.dispute(a, b, denied) }

// dispute opens a conflict for a reason, unless the pair had one before.
func (ws *workspace) dispute(a, b memory.FactID, reason string) {
	if b < a {
		a, b = b, a
	}
	id := memory.NewConflictID(ws.write.Bank, a, b)
	if s := ws.conflict(id); s != nil {
		return
	}
	ws.conflicts[id] = &conflictState{now: memory.Conflict{ID: id, A: a, B: b, Reason: reason, State: memory.ConflictOpen}}
	ws.relate(memory.Relation{From: string(a), To: string(b), Type: memory.RelContradicts, Strength: 1, Facts: []memory.FactID{a, b}})
}

// conflict gives a conflict as the write left it; nil if there is none.
func (ws *workspace) conflict(id memory.ConflictID) *conflictState {
	if s, ok := ws.conflicts[id]; ok {
		return s
	}
	c, err := ws.view.Conflict(id)
	if ws.fail(err) || c == nil {
		return nil
	}
	s := &conflictState{before: c, now: *c}
	ws.conflicts[id] = s
	return s
}

// conflictsOf gives the conflicts that one of the facts is party to, by id.
func (ws *workspace) conflictsOf(facts []memory.FactID) []*conflictState {
	if len(facts) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.Conflicts(facts)
	if ws.fail(err) {
		return nil
	}
	for _, c := range found {
		ws.conflict(c.ID)
	}
	var out []*conflictState
	for _, s := range ws.conflicts {
		if slices.Contains(facts, s.now.A) || slices.Contains(facts, s.now.B) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *conflictState) int { return cmp.Compare(a.now.ID, b.now.ID) })
	return out
}

// lost reports whether a conflict was resolved against the fact.
func (ws *workspace) lost(id memory.FactID) bool {
	for _, s := range ws.conflictsOf([]memory.FactID{id}) {
		if s.now.State == memory.ConflictResolved && s.now.Winner != id {
			return true
		}
	}
	return false
}

// moveConflicts passes the conflicts of a merged fact on to the one that absorbed it.
func (ws *workspace) moveConflicts(from, to memory.FactID) {
	for _, s := range ws.conflictsOf([]memory.FactID{from}) {
		other := s.now.A
		if other == from {
			other = s.now.B
		}
		if other == to || s.gone {
			continue
		}
		moved := memory.Conflict{ID: memory.NewConflictID(ws.write.Bank, to, other), A: min(to, other), B: max(to, other),
			Reason: s.now.Reason, State: s.now.State, Winner: s.now.Winner}
		if moved.Winner == from {
			moved.Winner = to
		}
		if ws.conflict(moved.ID) == nil {
			ws.conflicts[moved.ID] = &conflictState{now: moved}
		}
		if s.now.State == memory.ConflictOpen {
			s.now.State = memory.ConflictDismissed
		}
	}
}

// settleConflicts resolves open conflicts that one party no longer holds in,
// for the other; conflicts of forgotten facts go with them.
func (ws *workspace) settleConflicts(ended, forgotten []memory.FactID) {
	for _, s := range ws.conflictsOf(forgotten) {
		s.gone = true
	}
	for _, s := range ws.conflictsOf(ended) {
		if s.gone || s.now.State != memory.ConflictOpen {
			continue
		}
		winner := s.now.A
		if f := ws.fact(winner); f == nil || !f.Live() {
			winner = s.now.B
		}
		if f := ws.fact(winner); f != nil && f.Live() {
			s.now.State, s.now.Winner = memory.ConflictResolved, winner
		}
	}
}

// decide resolves or dismisses one open conflict.
func (ws *workspace) decide(r memory.ConflictRequest) {
	s := ws.conflict(r.ID)
	switch {
	case s == nil:
		ws.refuse(404, "id", "no conflict %q", r.ID)
		return
	case r.Version != nil && *r.Version != s.now.Version:
		ws.refuse(409, "version", "the conflict is at version %d", s.now.Version)
		return
	case s.now.State != memory.ConflictOpen:
		ws.refuse(409, "id", "the conflict is %s and does not open again", s.now.State)
		return
	case r.Dismiss:
		s.now.State = memory.ConflictDismissed
		ws.out.Outcome.Version = ws.write.Seq
		return
	case r.Winner != s.now.A && r.Winner != s.now.B:
		ws.refuse(400, "winner", "must be %s or %s", s.now.A, s.now.B)
		return
	}
	loserID := s.now.A
	if loserID == r.Winner {
		loserID = s.now.B
	}
	s.now.State, s.now.Winner = memory.ConflictResolved, r.Winner
	ws.out.Outcome.Version = ws.write.Seq
	loser, winner := ws.fact(loserID), ws.fact(r.Winner)
	if loser == nil || winner == nil || loser.Merged != "" {
		return
	}
	at := ws.write.Time
	if n := len(loser.Valid); n > 0 && !at.After(loser.Valid[n-1].From) {
		at = loser.Valid[n-1].From.Add(time.Microsecond)
	}
	closeAt(loser, at, winner.ID)
	ws.put(*loser)
	ws.out.Outcome.Results = append(ws.out.Outcome.Results,
		memory.WriteResult{ID: string(loser.ID), Outcome: memory.OutcomeSuperseded, Reason: "superseded by " + string(winner.ID)})
}
