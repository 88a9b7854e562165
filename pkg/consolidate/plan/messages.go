package plan

import (
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

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
