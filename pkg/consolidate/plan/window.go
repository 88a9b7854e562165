package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/timeline"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// endWindow records how a window ended and takes in its facts. The first end stands, but facts or an empty end replace
// a dead one. The facts of a higher generation replace those of lower ones; behind a higher generation that is not
// dead, a lower one changes nothing but that it ended.
func (ws *workspace) endWindow(end memory.WindowEnd) {
	w := end.Window
	w.Bank, w.Session = ws.write.Bank, cmp.Or(w.Session, end.SessionID)
	end.Window = w
	before := ws.window(w.ID)
	if ws.err != nil || before != nil && (before.Outcome != memory.WindowDead || end.Outcome == memory.WindowDead) {
		return
	}
	var seqs []uint64
	for _, m := range w.New {
		seqs = append(seqs, m.Seq)
	}
	read := slices.Concat(seqs, w.Context)
	stored := ws.messages(read)
	if !slices.ContainsFunc(seqs, func(seq uint64) bool { _, ok := stored[seq]; return ok }) {
		ws.out.Stale = ws.out.Stale || ws.holdsText() // it is of a bank that was erased, and not of the one that has its name now
		return
	}
	end.New = ws.withoutLost(w.New, stored)
	ws.out.Window = &end // always: a forget finds the write by it
	ws.out.Stale = ws.out.Stale || ws.holdsText() && len(ws.forgotten(slices.Concat(read, ws.sourceSeqs()))) > 0
	if ws.hasHigherGeneration(w) {
		return
	}
	var added []StoredMessage
	for _, m := range w.New {
		if s, ok := stored[m.Seq]; ok {
			added = append(added, s)
			ws.endMessage(m, s, end.Outcome)
		}
	}
	for _, m := range stored {
		ws.addParticipant(m.Speaker)
	}
	if end.Outcome != memory.WindowDead && ws.hasLowerFacts(w) {
		ws.dropLowerFacts(seqs)
	}
	ws.replaceMessages(added)
	if end.Outcome == memory.WindowFacts {
		ws.addFacts()
	} else {
		ws.out.Outcome.Results = append(ws.out.Outcome.Results, ws.write.Refused...)
	}
}

// hasHigherGeneration reports whether a higher generation of a window ended, and not dead.
func (ws *workspace) hasHigherGeneration(w memory.Window) bool {
	for g := w.Generation + 1; ; g++ {
		end := ws.generation(w, g)
		if end == nil || end.Outcome != memory.WindowDead {
			return end != nil
		}
	}
}

// hasLowerFacts reports whether a lower generation of a window ended with facts.
func (ws *workspace) hasLowerFacts(w memory.Window) bool {
	for g := w.Generation - 1; g >= 0; g-- {
		if end := ws.generation(w, g); end != nil && end.Outcome == memory.WindowFacts {
			return true
		}
	}
	return false
}

// generation returns how a generation of a window ended; nil if it did not.
func (ws *workspace) generation(w memory.Window, generation int) *memory.WindowEnd {
	return ws.window(memory.NewWindowID(w.Bank, w.Session, w.First(), w.Last(), generation))
}

// endMessage sets the state of a new message of the window: carried ones are skipped or throttled, the others share the
// window's outcome.
func (ws *workspace) endMessage(m memory.WindowMessage, stored StoredMessage, outcome memory.WindowOutcome) {
	if stored.State == memory.StateForgotten || stored.State == memory.StateDuplicate || stored.Seq != stored.Canonical {
		return
	}
	state := memory.StateCommitted
	switch {
	case m.Carry == memory.CarryThrottled:
		state = memory.StateThrottled
	case m.Carry != "":
		state = memory.StateSkipped
	case outcome == memory.WindowEmpty:
		state = memory.StateEmpty
	case outcome == memory.WindowDead:
		state = memory.StateDead
	}
	if stored.State == state || state == memory.StateDead && stored.State != memory.StatePending {
		return // a later generation that ends dead takes nothing back
	}
	ws.out.Ended = append(ws.out.Ended, memory.MessageEnd{Seq: m.Seq, State: state})
	ws.announce(memory.ChangeMessage, memory.OutcomeUpdated, string(stored.ID))
	ws.out.Changes[len(ws.out.Changes)-1].Message = m.Seq
}

// dropLowerFacts takes back the facts that a lower generation of the window drew from these messages: they lose them as
// sources, and go if they rest on nothing else. Facts that were retained by hand or pinned stay.
func (ws *workspace) dropLowerFacts(seqs []uint64) {
	lost := setOf(seqs)
	var gone []memory.FactID
	for _, f := range ws.factsOfMessages(seqs) {
		switch {
		case len(f.Ops) > 0 || f.Pinned:
		case slices.Contains(f.Tags, memory.TagAnswer) && !lost[f.Sources[len(f.Sources)-1].Seq]: // drawn from the window of the answer
		case slices.Contains(f.Tags, memory.TagAnswer):
			gone = append(gone, f.ID)
		case slices.ContainsFunc(f.Sources, func(s memory.Source) bool { return !lost[s.Seq] }):
			ws.loseSources(f, lost)
		default:
			gone = append(gone, f.ID)
		}
	}
	ws.erase(gone)
}

// replaceMessages puts the replacements that messages of a window ask for in effect, and ends the facts that rest on
// replaced messages alone. A message that was stored later, is unknown, or replaces itself is not replaced; of two
// messages that replace one, the one said first counts.
func (ws *workspace) replaceMessages(messages []StoredMessage) {
	var targets []memory.MessageID
	for _, m := range messages {
		if m.replacesAnother() {
			targets = append(targets, m.Replaces)
		}
	}
	if len(targets) == 0 {
		return
	}
	stored := ws.messagesByID(targets)
	inEffect := ws.replacementsOf(targets)
	var replaced []uint64
	for _, m := range messages {
		// Whether a later one is stored yet depends on how far the store is, which must change nothing.
		at := slices.IndexFunc(stored, func(s StoredMessage) bool { return s.ID == m.Replaces && s.Seq == s.Canonical && s.Seq < m.Seq })
		if at < 0 || !m.replacesAnother() {
			continue
		}
		r := memory.Replacement{ID: m.Replaces, By: m.Seq, Time: m.Said}
		if first, ok := inEffect[r.ID]; ok && cmp.Or(first.Time.Compare(r.Time), cmp.Compare(first.By, r.By)) <= 0 {
			continue
		}
		inEffect[r.ID] = r
		ws.out.Replacements = slices.DeleteFunc(ws.out.Replacements, func(o memory.Replacement) bool { return o.ID == r.ID })
		ws.out.Replacements = append(ws.out.Replacements, r)
		replaced = append(replaced, stored[at].Seq)
	}
	for _, f := range ws.factsOfMessages(replaced) {
		ws.endReplaced(f.ID)
	}
}

func (m StoredMessage) replacesAnother() bool {
	return m.Replaces != "" && m.Replaces != m.ID && m.Seq == m.Canonical
}

// endReplaced ends a fact that rests on replaced messages alone. Of a state it withdraws what a replaced message
// asserted.
func (ws *workspace) endReplaced(id memory.FactID) {
	f := ws.fact(id)
	if f == nil || f.Merged != "" {
		return
	}
	if f.State != nil {
		ws.retime(*f.State)
		return
	}
	if until := ws.replacedAt(f.Sources); until != nil {
		timeline.Close(f, until, f.Superseded)
		ws.put(*f)
	}
}

// messages returns what the store has of message events, by sequence.
func (ws *workspace) messages(seqs []uint64) map[uint64]StoredMessage {
	out := make(map[uint64]StoredMessage, len(seqs))
	var unread []uint64
	for _, seq := range seqs {
		m, ok := ws.events[seq]
		switch {
		case !ok:
			unread = append(unread, seq)
		case m != nil:
			out[seq] = *m
		}
	}
	if len(unread) == 0 || ws.err != nil {
		return out
	}
	found, err := ws.view.Messages(unread)
	if ws.fail(err) {
		return out
	}
	for _, seq := range unread {
		ws.events[seq] = nil
	}
	for _, m := range found {
		ws.events[m.Seq], out[m.Seq] = &m, m
	}
	return out
}

// messagesByID returns what the store has under message ids, and the duplicates behind it.
func (ws *workspace) messagesByID(ids []memory.MessageID) []StoredMessage {
	if len(ids) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.MessagesByID(unite(ids, nil))
	ws.fail(err)
	return found
}

// replacementsOf returns the replacements in effect for message ids, those of this write included.
func (ws *workspace) replacementsOf(ids []memory.MessageID) map[memory.MessageID]memory.Replacement {
	out := map[memory.MessageID]memory.Replacement{}
	var unread []memory.MessageID
	for _, id := range ids {
		r, ok := ws.replacements[id]
		switch {
		case !ok:
			unread = append(unread, id)
		case r != nil:
			out[id] = *r
		}
	}
	if len(unread) > 0 && ws.err == nil {
		found, err := ws.view.Replacements(unite(unread, nil))
		if ws.fail(err) {
			return out
		}
		for _, id := range unread {
			ws.replacements[id] = nil
		}
		for _, r := range found {
			ws.replacements[r.ID] = &r
			out[r.ID] = r
		}
	}
	for _, r := range ws.out.Replacements {
		if slices.Contains(ids, r.ID) {
			out[r.ID] = r
		}
	}
	return out
}

// replacedAt returns when the last of a fact's messages was replaced; nil while one stands, or without sources.
func (ws *workspace) replacedAt(sources []memory.Source) *time.Time {
	if len(sources) == 0 {
		return nil
	}
	newest := sources[len(sources)-1].Message // the one that is replaced the least often decides for most
	if _, ok := ws.replacementsOf([]memory.MessageID{newest})[newest]; !ok {
		return nil
	}
	ids := make([]memory.MessageID, len(sources))
	for i, s := range sources {
		ids[i] = s.Message
	}
	inEffect := ws.replacementsOf(ids)
	var last time.Time
	for _, s := range sources {
		r, ok := inEffect[s.Message]
		if !ok {
			return nil
		}
		if r.Time.After(last) {
			last = r.Time
		}
	}
	return &last
}
