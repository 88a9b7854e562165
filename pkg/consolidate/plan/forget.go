package plan

import (
	"maps"
	"math"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// forgetTarget is what a forget is about.
type forgetTarget struct {
	facts    []memory.FactID
	messages []StoredMessage // later ones that repeat the id of one included
}

// forget erases what matches the request at or before the write's Upto. Facts that rest on erased messages alone go
// with them, others lose those sources; what the erased facts had superseded or absorbed lives again. Messages that were
// published later stay, unless they repeat the id of an erased one: whether such a message is stored already depends on
// how far the store is, and one that comes after the forget is erased too.
func (ws *workspace) forget(r memory.ForgetRequest) {
	target, ok := ws.forgetTarget(r)
	if !ok || ws.err != nil {
		return
	}
	var seqs, late []uint64
	for _, m := range target.messages {
		switch {
		case m.State == memory.StateForgotten:
		case m.Seq > ws.write.Upto:
			late = append(late, m.Seq)
		default:
			seqs = append(seqs, m.Seq)
		}
	}
	seqs, late = unite(seqs, nil), unite(late, nil)
	resting := ws.factsOfMessages(seqs)
	gone := ws.goneWith(resting, seqs, target.facts)
	f := &memory.Forgotten{Facts: gone}
	ws.out.Forgotten = f
	if !r.KeepMessages {
		f.Messages, f.Late = seqs, late
		lost := setOf(seqs)
		for _, left := range resting {
			if !slices.Contains(gone, left.ID) {
				ws.loseSources(left, lost)
			}
		}
	}
	ws.erase(gone)
	f.Bank, f.Upto = r.Bank && ws.nothingAfter(), ws.write.Upto
	f.Receipt = &memory.Receipt{Op: ws.write.Op, Upto: ws.write.Upto, Messages: len(f.Messages), Facts: len(gone)}
}

// forgetTarget returns what the request names; ok is false when it was refused.
func (ws *workspace) forgetTarget(r memory.ForgetRequest) (t forgetTarget, ok bool) {
	if r.ID != "" {
		return ws.forgetRecord(r)
	}
	if r.Session == "" && r.Speaker == "" && !r.Bank {
		if ws.write.Receipt != nil {
			return t, true
		}
		ws.refuse(400, "", "a forget names an id, a session or a speaker")
		return t, false
	}
	speaker := r.Speaker
	if r.Session != "" {
		speaker = ""
	}
	found, err := ws.view.MessagesOf(r.Session, speaker, ws.write.Upto)
	if ws.fail(err) {
		return t, false
	}
	byHand, err := ws.view.FactsByHand(speaker, r.Session)
	if ws.fail(err) {
		return t, false
	}
	t.messages = ws.withDuplicates(found)
	for _, s := range ws.adopt(byHand) {
		t.facts = append(t.facts, s.now.ID)
	}
	return t, true
}

// forgetRecord returns the record with an id: a fact, a composite (its leaves) or a message. An observation goes at once.
// A fact that rests on later messages too is not named: it loses what it rests on until then.
func (ws *workspace) forgetRecord(r memory.ForgetRequest) (t forgetTarget, ok bool) {
	var facts []memory.FactID
	if f := ws.fact(memory.FactID(r.ID)); f != nil {
		facts = []memory.FactID{f.ID}
	} else if c := ws.composite(memory.CompositeID(r.ID)); c != nil {
		facts = ws.leaves(c.now)
	} else if o := ws.observation(memory.ObservationID(r.ID)); o != nil {
		o.gone = true
		return t, true
	} else {
		t.messages = ws.publishedUnder([]memory.MessageID{memory.MessageID(r.ID)})
		if len(t.messages) == 0 && ws.write.Receipt == nil {
			ws.refuse(404, "id", "no record %.60q", r.ID)
			return t, false
		}
		return t, true
	}
	var ids []memory.MessageID
	for _, id := range facts {
		f := ws.fact(id)
		if f == nil {
			continue
		}
		ids = append(ids, f.MessageIDs()...)
		if r.KeepMessages || !slices.ContainsFunc(f.Sources, func(s memory.Source) bool { return s.Seq > ws.write.Upto }) {
			t.facts = append(t.facts, id)
		}
	}
	if !r.KeepMessages {
		t.messages = ws.publishedUnder(ids)
	}
	return t, true
}

// publishedUnder returns the events under message ids whose message was published at or before the write's Upto, and the
// malformed ones that were.
func (ws *workspace) publishedUnder(ids []memory.MessageID) []StoredMessage {
	return slices.DeleteFunc(ws.messagesByID(ids), func(m StoredMessage) bool {
		first := m.Canonical
		if m.malformed() {
			first = m.Seq
		}
		return m.State == memory.StateForgotten || m.ID == "" || first == 0 || first > ws.write.Upto
	})
}

// withDuplicates adds the events that repeat one of the messages in other sessions, so that none takes its place.
func (ws *workspace) withDuplicates(found []StoredMessage) []StoredMessage {
	var ids []memory.MessageID
	have := map[uint64]bool{}
	for _, m := range found {
		have[m.Seq] = true
		if m.ID != "" && m.Seq == m.Canonical {
			ids = append(ids, m.ID)
		}
	}
	for _, m := range ws.messagesByID(ids) {
		if !have[m.Seq] {
			found = append(found, m)
		}
	}
	return found
}

// goneWith returns the facts that go, by id: those the request names, and those whose own sources are all among the
// erased messages, for an answer any of them, because it holds words of its question too. What a fact took over from
// facts it absorbed is not its own: its words come from its own sources.
func (ws *workspace) goneWith(resting []memory.Fact, seqs []uint64, named []memory.FactID) []memory.FactID {
	gone, lost := setOf(named), setOf(seqs)
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
		kept := slices.ContainsFunc(own, func(s memory.Source) bool { return !lost[s.Seq] })
		if !kept || slices.Contains(f.Tags, memory.TagAnswer) && slices.ContainsFunc(own, func(s memory.Source) bool { return lost[s.Seq] }) {
			gone[f.ID] = true
		}
	}
	ws.addMade(gone)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(gone)), func(id memory.FactID) bool { return ws.fact(id) == nil })
}

// nothingAfter reports whether no fact rests on a message behind the write's Upto, so that all of the bank can go but
// those messages. A fact only rests on messages that its write waited for, so this does not depend on how far the store is.
func (ws *workspace) nothingAfter() bool {
	all, err := ws.view.MessagesOf("", "", math.MaxInt64)
	if ws.fail(err) {
		return false
	}
	var later []uint64
	for _, m := range all {
		if m.Seq > ws.write.Upto {
			later = append(later, m.Seq)
		}
	}
	return len(ws.factsOfMessages(later)) == 0
}

// erase removes facts for good. What they had superseded or absorbed lives again and is compared with its neighbours
// anew, so that two wordings of one statement become one.
func (ws *workspace) erase(ids []memory.FactID) {
	if len(ids) == 0 {
		return
	}
	ws.load(ids)
	gone := setOf(ids)
	pointing := ws.factsPointingTo(ids)
	var states []memory.State
	for _, id := range ids {
		if f := ws.fact(id); f != nil {
			if f.State != nil {
				states = append(states, *f.State)
			}
			ws.drop(id)
		}
	}
	var revived []memory.Fact
	for _, p := range pointing {
		if gone[p.ID] {
			continue
		}
		f := cloneFact(p)
		if gone[f.Merged] {
			f.Merged = ""
			timeline.Open(&f, nil)
			revived = append(revived, f)
		} else {
			reopen(&f)
		}
		ws.put(f)
		ws.updateTimes(f)
		if f.State != nil {
			states = append(states, *f.State)
		}
	}
	for _, s := range states {
		ws.retime(s)
	}
	slices.SortFunc(revived, compareAge)
	for _, r := range revived {
		if s := ws.loaded(r.ID); s != nil && s.now.Live() && s.now.Vector != nil {
			ws.mergeDuplicate(s, ws.nearFacts(s.now))
		}
	}
}

// reopen lets a superseded fact hold again.
func reopen(f *memory.Fact) {
	if f.Bounds != nil {
		timeline.Open(f, nil)
		return
	}
	f.Superseded = ""
	if n := len(f.Valid); n > 0 {
		f.Valid[n-1].To = nil
	} else {
		f.Valid = []memory.Interval{{From: timeline.Start(*f)}}
	}
}

// loseSources removes the sources of a fact that rest on one of the message events, and updates its times.
func (ws *workspace) loseSources(f memory.Fact, seqs map[uint64]bool) {
	f = cloneFact(f)
	f.Sources = slices.DeleteFunc(slices.Clone(f.Sources), func(s memory.Source) bool { return seqs[s.Seq] })
	ws.put(f)
	ws.updateTimes(f)
}

// updateTimes brings a fact's times in line with the sources it has left.
func (ws *workspace) updateTimes(f memory.Fact) {
	f = cloneFact(f)
	if len(f.Sources) > 0 {
		f.Said = lastSaid(f.Sources)
		if from := timeline.Start(f); len(f.Valid) > 0 && f.Valid[0].From.Before(from) && (f.Valid[0].To == nil || from.Before(*f.Valid[0].To)) {
			f.Valid[0].From = from
		}
		if f.Merged == "" && f.State == nil {
			timeline.Close(&f, ws.replacedAt(f.Sources), f.Superseded)
		}
	}
	ws.put(f)
	if f.State != nil && f.Merged == "" {
		ws.retime(*f.State)
	}
}
