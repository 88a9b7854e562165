package consolidate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// sourced is a fact of an event with its sources checked, or why it is refused.
type sourced struct {
	fact   memory.Fact
	reason string // "" = accepted
}

// checkSources holds each fact's sources against what the store has: a source
// must be the event stored under its message id, else it is a duplicate,
// forgotten or unknown and dropped, and with it a fact that rests on it alone.
// A source without a sequence names a message by id and takes its sequence and
// time from there.
func (ws *workspace) checkSources(facts []memory.Fact) []sourced {
	var seqs []uint64
	var ids []memory.MessageID
	for _, f := range facts {
		for _, s := range f.Sources {
			if s.Seq == 0 {
				ids = append(ids, s.Message)
			} else {
				seqs = append(seqs, s.Seq)
			}
		}
	}
	bySeq := ws.messages(unite(seqs, nil))
	byID := map[memory.MessageID]StoredMessage{}
	if len(ids) > 0 && ws.err == nil {
		found, err := ws.view.MessagesByID(unite(ids, nil))
		ws.fail(err)
		for _, m := range found {
			if m.Seq == m.Canonical {
				byID[m.ID] = m
			}
		}
	}
	forgotten := map[uint64]bool{}
	if len(bySeq)+len(byID) > 0 && ws.err == nil {
		all := slices.Clone(seqs)
		for _, m := range byID {
			all = append(all, m.Seq)
		}
		got, err := ws.view.Tombstoned(unite(all, nil))
		ws.fail(err)
		forgotten = got
	}
	out := make([]sourced, 0, len(facts))
	for _, f := range facts {
		out = append(out, checkFact(cloneFact(f), bySeq, byID, forgotten))
	}
	return out
}

func checkFact(f memory.Fact, bySeq map[uint64]StoredMessage, byID map[memory.MessageID]StoredMessage, forgotten map[uint64]bool) sourced {
	given := f.Sources
	f.Sources = nil
	reason := ""
	for _, s := range given {
		m, ok := bySeq[s.Seq]
		if s.Seq == 0 {
			m, ok = byID[s.Message]
		}
		switch {
		case !ok || s.Seq == 0 && m.ID != s.Message:
			reason = fmt.Sprintf("source %q is no message of this bank", s.Message)
			continue
		case forgotten[m.Seq] || m.State == memory.StateForgotten:
			reason = fmt.Sprintf("source %q is forgotten", s.Message)
			continue
		case m.ID != s.Message:
			reason = fmt.Sprintf("source %q is not the message at its sequence", s.Message)
			continue
		case m.Canonical != m.Seq:
			reason = fmt.Sprintf("source %q is a duplicate", s.Message)
			continue
		}
		s.Seq = m.Seq
		if s.Said.IsZero() {
			s.Said = m.Said
		}
		if !slices.ContainsFunc(f.Sources, func(h memory.Source) bool { return h.Seq == s.Seq }) {
			f.Sources = append(f.Sources, s)
		}
	}
	if len(given) > 0 && len(f.Sources) == 0 {
		return sourced{fact: f, reason: reason}
	}
	slices.SortFunc(f.Sources, func(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) })
	return sourced{fact: f}
}

// messages gives what the store has of message events, by sequence.
func (ws *workspace) messages(seqs []uint64) map[uint64]StoredMessage {
	out := make(map[uint64]StoredMessage, len(seqs))
	var unread []uint64
	for _, seq := range seqs {
		m, ok := ws.stored[seq]
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
		ws.stored[seq] = nil
	}
	for _, m := range found {
		ws.stored[m.Seq], out[m.Seq] = &m, m
	}
	return out
}
