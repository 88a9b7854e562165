package consolidate

import (
	"cmp"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// replace puts the replacements that messages of a window ask for in effect
// and ends the facts that rest on replaced messages alone. A message that was
// stored later, is not known, or replaces itself, is left alone; of two that
// replace one message the one said first counts.
func (ws *workspace) replace(messages []StoredMessage) {
	var asked []memory.MessageID
	for _, m := range messages {
		if m.Replaces != "" && m.Seq == m.Canonical && m.Replaces != m.ID {
			asked = append(asked, m.Replaces)
		}
	}
	if len(asked) == 0 {
		return
	}
	known, err := ws.view.MessagesByID(unite(asked, nil))
	if ws.fail(err) {
		return
	}
	inEffect := ws.replacements(asked)
	var ended []uint64
	for _, m := range messages {
		// Whether a later one is stored yet depends on how far the store is, which must change nothing.
		at := slices.IndexFunc(known, func(k StoredMessage) bool { return k.ID == m.Replaces && k.Seq == k.Canonical && k.Seq < m.Seq })
		if at < 0 || m.Seq != m.Canonical || m.Replaces == m.ID || m.Replaces == "" {
			continue
		}
		r := memory.Replacement{ID: m.Replaces, By: m.Seq, Time: m.Said}
		if old, ok := inEffect[r.ID]; ok && cmp.Or(old.Time.Compare(r.Time), cmp.Compare(old.By, r.By)) <= 0 {
			continue
		}
		inEffect[r.ID] = r
		ws.out.Replacements = slices.DeleteFunc(ws.out.Replacements, func(o memory.Replacement) bool { return o.ID == r.ID })
		ws.out.Replacements = append(ws.out.Replacements, r)
		ended = append(ended, known[at].Seq)
	}
	for _, f := range ws.factsOfMessages(ended) {
		ws.endReplaced(f.ID)
	}
}

// endReplaced ends a fact that rests on replaced messages alone; of the value
// of a state it takes back what a replaced message said of it.
func (ws *workspace) endReplaced(id memory.FactID) {
	f := ws.fact(id)
	if f == nil || f.Merged != "" {
		return
	}
	if f.State != nil {
		ws.retime(*f.State)
		return
	}
	until := ws.takenBack(*f)
	if until == nil {
		return
	}
	closeAt(f, *until, f.Superseded)
	ws.put(*f)
}

// takenBack is when the last of a fact's messages was replaced; nil while one
// stands, and for a fact without messages.
func (ws *workspace) takenBack(f memory.Fact) *time.Time {
	if len(f.Sources) == 0 {
		return nil
	}
	inEffect := ws.replacements(f.MessageIDs())
	var last time.Time
	for _, s := range f.Sources {
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

// replacements gives the replacements in effect for message ids, those of this write included.
func (ws *workspace) replacements(ids []memory.MessageID) map[memory.MessageID]memory.Replacement {
	out := map[memory.MessageID]memory.Replacement{}
	var unread []memory.MessageID
	for _, id := range ids {
		r, ok := ws.replaced[id]
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
			ws.replaced[id] = nil
		}
		for _, r := range found {
			ws.replaced[r.ID] = &r
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
