package consolidate

import (
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// aim is what a forget is about.
type aim struct {
	facts    []memory.FactID
	messages []StoredMessage
}

// forget erases what matches the request at or before the write's Upto. Facts
// that rest on erased messages alone go with them, others lose those sources;
// what the erased facts had superseded or absorbed lives again.
func (ws *workspace) forget(r memory.ForgetRequest) {
	a, ok := ws.aim(r)
	if !ok || ws.err != nil {
		return
	}
	f := &memory.Forgotten{}
	ws.out.Forgotten = f
	seqs := make([]uint64, 0, len(a.messages))
	for _, m := range a.messages {
		if m.State != memory.StateForgotten {
			seqs = append(seqs, m.Seq)
		}
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	keep := r.KeepMessages
	resting := ws.factsOfMessages(seqs)
	gone := ws.goneWith(resting, seqs, a.facts)
	if !keep {
		f.Messages = seqs
		lost := setOf(seqs)
		for _, rest := range resting {
			if slices.Contains(gone, rest.ID) {
				continue
			}
			rest = cloneFact(rest)
			rest.Sources = slices.DeleteFunc(rest.Sources, func(s memory.Source) bool { return lost[s.Seq] })
			ws.put(rest)
			ws.recount(rest)
		}
	}
	f.Facts = gone
	ws.erase(gone)
	f.Bank = r.Bank && ws.nothingAfter()
	f.Receipt = &memory.Receipt{Op: ws.write.Op, Upto: ws.write.Upto, Messages: len(f.Messages), Facts: len(gone)}
}

// aim finds what the request names; false when it was refused.
func (ws *workspace) aim(r memory.ForgetRequest) (aim, bool) {
	upto := ws.write.Upto
	switch {
	case r.ID != "":
		return ws.aimAt(r)
	case r.Session != "" || r.Speaker != "" || r.Bank:
		speaker := r.Speaker
		if r.Session != "" {
			speaker = ""
		}
		found, err := ws.view.MessagesOf(r.Session, speaker, upto)
		if ws.fail(err) {
			return aim{}, false
		}
		byHand, err := ws.view.FactsByHand(speaker, r.Session)
		if ws.fail(err) {
			return aim{}, false
		}
		a := aim{messages: ws.withDuplicates(found)}
		for _, f := range ws.adopt(byHand) {
			a.facts = append(a.facts, f.ID)
		}
		return a, true
	}
	ws.refuse(400, "", "a forget names an id, a session or a speaker")
	return aim{}, false
}

// aimAt finds the record with an id: a fact, a composite (its leaves), an
// observation or a message.
func (ws *workspace) aimAt(r memory.ForgetRequest) (aim, bool) {
	var a aim
	if f := ws.fact(memory.FactID(r.ID)); f != nil {
		a.facts = []memory.FactID{f.ID}
	} else if c := ws.composite(memory.CompositeID(r.ID)); c != nil {
		a.facts = ws.leaves(c.now, 0)
	} else if o := ws.observation(memory.ObservationID(r.ID)); o != nil {
		o.gone = true
		return a, true
	} else {
		found, err := ws.view.MessagesByID([]memory.MessageID{memory.MessageID(r.ID)})
		if ws.fail(err) {
			return a, false
		}
		a.messages = slices.DeleteFunc(found, func(m StoredMessage) bool { return m.State == memory.StateForgotten || m.ID == "" })
		if len(a.messages) == 0 {
			ws.refuse(404, "id", "no record %.60q", r.ID)
			return a, false
		}
		return a, true
	}
	if !r.KeepMessages {
		var ids []memory.MessageID
		for _, id := range a.facts {
			if f := ws.fact(id); f != nil {
				ids = append(ids, f.MessageIDs()...)
			}
		}
		if len(ids) > 0 {
			found, err := ws.view.MessagesByID(unite(ids, nil))
			ws.fail(err)
			a.messages = found
		}
	}
	return a, true
}

// leaves gives the facts below a composite.
func (ws *workspace) leaves(c memory.Composite, depth int) []memory.FactID {
	var out []memory.FactID
	for _, child := range c.Children {
		if c.Level <= 1 {
			out = append(out, memory.FactID(child))
		} else if below := ws.composite(memory.CompositeID(child)); below != nil && depth < 64 {
			out = append(out, ws.leaves(below.now, depth+1)...)
		}
	}
	return unite(out, nil)
}

// withDuplicates adds the events that repeat one of the messages in other
// sessions, so that none of them takes its place.
func (ws *workspace) withDuplicates(found []StoredMessage) []StoredMessage {
	var ids []memory.MessageID
	for _, m := range found {
		if m.ID != "" && m.Seq == m.Canonical {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 || ws.err != nil {
		return found
	}
	more, err := ws.view.MessagesByID(unite(ids, nil))
	ws.fail(err)
	have := map[uint64]bool{}
	for _, m := range found {
		have[m.Seq] = true
	}
	for _, m := range more {
		if !have[m.Seq] {
			found = append(found, m)
		}
	}
	return found
}

// goneWith gives the facts that go: those the request names, and those whose
// own sources are all among the erased messages. What a fact took over from
// facts it absorbed is not its own: its words come from its own sources.
func (ws *workspace) goneWith(resting []memory.Fact, seqs []uint64, named []memory.FactID) []memory.FactID {
	gone := setOf(named)
	lost := setOf(seqs)
	ids := make([]memory.FactID, len(resting))
	for i, f := range resting {
		ids[i] = f.ID
	}
	absorbed := map[memory.FactID]map[uint64]bool{}
	for _, p := range ws.factsPointingTo(ids) {
		if p.Merged == "" {
			continue
		}
		if absorbed[p.Merged] == nil {
			absorbed[p.Merged] = map[uint64]bool{}
		}
		for _, s := range p.Sources {
			absorbed[p.Merged][s.Seq] = true
		}
	}
	for _, f := range resting {
		own := slices.DeleteFunc(slices.Clone(f.Sources), func(s memory.Source) bool { return absorbed[f.ID][s.Seq] })
		if len(own) == 0 {
			own = f.Sources
		}
		left := slices.ContainsFunc(own, func(s memory.Source) bool { return !lost[s.Seq] })
		if !left {
			gone[f.ID] = true
		}
	}
	ws.withMade(gone)
	var out []memory.FactID
	for id := range gone {
		if ws.fact(id) != nil {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// nothingAfter reports whether the bank has no message behind the write's Upto,
// so that all of it can go.
func (ws *workspace) nothingAfter() bool {
	all, err := ws.view.MessagesOf("", "", math.MaxInt64)
	if ws.fail(err) {
		return false
	}
	return !slices.ContainsFunc(all, func(m StoredMessage) bool { return m.Seq > ws.write.Upto && m.State != memory.StateForgotten })
}
