package consolidate

import (
	"cmp"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// endWindow takes in how a window ended. The first end stands, but facts or
// empty take the place of a dead end. A higher generation takes the place of
// the facts of the lower ones; behind a higher generation that is not dead a
// lower one is void.
func (ws *workspace) endWindow(end memory.WindowEnd) {
	w := end.Window
	w.Bank = ws.write.Bank
	if w.Session == "" {
		w.Session = end.SessionID
	}
	end.Window = w
	before, err := ws.view.Window(w.ID)
	if ws.fail(err) {
		return
	}
	if before != nil && !(before.Outcome == memory.WindowDead && end.Outcome != memory.WindowDead) {
		return
	}
	for g := w.Generation + 1; ; g++ {
		above := ws.windowOf(w, g)
		if above == nil {
			break
		}
		if above.Outcome != memory.WindowDead {
			ws.out.Window = &end // nothing but that it ended: a forget finds its write by it
			return
		}
	}
	ws.out.Window = &end
	var seqs []uint64
	for _, m := range w.New {
		seqs = append(seqs, m.Seq)
	}
	known := ws.messages(append(seqs, w.Context...))
	var news []StoredMessage
	for _, m := range w.New {
		if k, ok := known[m.Seq]; ok {
			news = append(news, k)
			ws.endMessage(m, k, end.Outcome)
		}
	}
	for _, m := range known {
		ws.attend(m.Speaker)
	}
	for g := w.Generation - 1; g >= 0; g-- {
		if old := ws.windowOf(w, g); old != nil && old.Outcome == memory.WindowFacts && end.Outcome != memory.WindowDead {
			ws.dropGeneration(seqs)
			break
		}
	}
	ws.replace(news)
	ws.out.Outcome.Results = append(ws.out.Outcome.Results, ws.write.Refused...)
	if end.Outcome == memory.WindowFacts {
		ws.foldAll(ws.write.Facts)
		ws.takeRelations(ws.write.Relations)
	}
}

// windowOf gives how another generation of a window ended; nil if it did not.
func (ws *workspace) windowOf(w memory.Window, generation int) *memory.WindowEnd {
	if ws.err != nil {
		return nil
	}
	end, err := ws.view.Window(memory.NewWindowID(w.Bank, w.Session, w.First(), w.Last(), generation))
	ws.fail(err)
	return end
}

// endMessage sets the state of a new message of the window: carried ones are
// skipped or throttled, the others share the window's end.
func (ws *workspace) endMessage(m memory.WindowMessage, known StoredMessage, outcome memory.WindowOutcome) {
	malformed := known.ID == "" && known.State == memory.StateDead
	if known.State == memory.StateForgotten || known.State == memory.StateDuplicate || known.Seq != known.Canonical || malformed {
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
	if known.State == state || state == memory.StateDead && known.State != memory.StatePending {
		return // a later generation that ends dead takes nothing back
	}
	ws.out.Ended = append(ws.out.Ended, memory.MessageEnd{Seq: m.Seq, State: state})
	ws.tell(memory.ChangeMessage, memory.OutcomeUpdated, string(known.ID))
	ws.out.Changes[len(ws.out.Changes)-1].Message = m.Seq
}

// dropGeneration takes back the facts that an older generation of a window
// drew from these messages: they lose them as sources, and go if they rest on
// nothing else. Facts that were retained by hand or pinned stay.
func (ws *workspace) dropGeneration(seqs []uint64) {
	ours := setOf(seqs)
	gone := []memory.FactID{}
	for _, f := range ws.factsOfMessages(seqs) {
		if len(f.Ops) > 0 || f.Pinned {
			continue
		}
		lost := cloneFact(f)
		lost.Sources = nil
		for _, s := range f.Sources {
			if !ours[s.Seq] {
				lost.Sources = append(lost.Sources, s)
			}
		}
		if len(lost.Sources) == 0 {
			gone = append(gone, f.ID)
			continue
		}
		ws.put(lost)
		ws.recount(lost)
	}
	ws.erase(gone)
}

// foldAll takes facts in, in order, and reports on each. Those that name a key
// take the place of the live fact of that key.
func (ws *workspace) foldAll(facts []memory.Fact) {
	ids := make([]memory.FactID, len(facts))
	for i, f := range facts {
		ids[i] = memory.NewFactID(ws.write.Bank, f.Text, cmp.Or(f.Kind, memory.KindWorld))
	}
	ws.load(ids) // all at once: each is asked for below
	for _, s := range ws.checkSources(facts) {
		if s.reason == "" {
			s.reason = unfit(s.fact)
		}
		if s.reason == "" && len(s.fact.Sources) == 0 && ws.write.Kind == memory.WriteWindow {
			s.reason = "it rests on no message"
		}
		if s.reason == "" && ws.write.Kind == memory.WriteRetain { // what was said is never dropped
			s.reason = ws.overQuota()
		}
		if s.reason != "" {
			ws.out.Outcome.Results = append(ws.out.Outcome.Results,
				memory.WriteResult{Key: s.fact.Key, Outcome: memory.OutcomeRefused, Reason: s.reason})
			continue
		}
		ws.attend(s.fact.Speaker)
		f := ws.tidy(s.fact)
		if ws.write.Kind == memory.WriteRetain {
			f.Ops = []string{ws.write.Op}
		}
		displaces := memory.FactID("")
		if f.Key != "" {
			if old := ws.factByKey(f.Key); old != nil {
				displaces = old.ID
			}
		}
		ws.out.Outcome.Results = append(ws.out.Outcome.Results, ws.fold(f, displaces))
	}
}

// unfit says why a fact is none, whatever the bank holds; "" if it is one.
func unfit(f memory.Fact) string {
	switch {
	case memory.NormalText(f.Text) == "":
		return "it has no text"
	case f.Kind != "" && !f.Kind.Valid():
		return fmt.Sprintf("%.40q is no kind of fact", string(f.Kind))
	case f.Type != "" && !f.Type.Valid():
		return fmt.Sprintf("%.40q is no type of fact", string(f.Type))
	}
	return ""
}

// overQuota says that the bank may hold no more facts; "" if it may.
func (ws *workspace) overQuota() string {
	if ws.bank.Quotas == nil || ws.bank.Quotas.Facts <= 0 || ws.err != nil {
		return ""
	}
	if ws.stock < 0 {
		n, err := ws.view.FactsSince(0)
		ws.fail(err)
		ws.stock = n
	}
	made := 0
	for _, s := range ws.facts {
		if s.before == nil && !s.gone && s.now.Live() {
			made++
		}
	}
	if int64(ws.stock+made) >= ws.bank.Quotas.Facts {
		return fmt.Sprintf("the bank's quota of %d facts is used up", ws.bank.Quotas.Facts)
	}
	return ""
}

// retain takes in facts given by hand.
func (ws *workspace) retain() {
	ws.out.Outcome.Results = append(ws.out.Outcome.Results, ws.write.Refused...)
	ws.foldAll(ws.write.Facts)
	ws.takeRelations(ws.write.Relations)
}
