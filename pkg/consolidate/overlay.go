package consolidate

import (
	"cmp"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// overlay brings what a query of the view gave up to date: facts as the write
// left them, with those it made or changed that match, without those that no
// longer do, in the order of less, cut at limit (0 = uncut).
func (ws *workspace) overlay(found []memory.Fact, match func(memory.Fact) bool, order func(a, b memory.Fact) int, limit int) []memory.Fact {
	out := slices.DeleteFunc(ws.adopt(found), func(f memory.Fact) bool { return !match(f) })
	have := map[memory.FactID]bool{}
	for _, f := range out {
		have[f.ID] = true
	}
	for id, s := range ws.facts {
		if !s.gone && !have[id] && match(s.now) {
			out = append(out, s.now)
		}
	}
	slices.SortFunc(out, order)
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// newest orders facts newest said first, ties by id.
func newest(a, b memory.Fact) int {
	return cmp.Or(b.Said.Compare(a.Said), cmp.Compare(a.ID, b.ID))
}

func (ws *workspace) factsOfState(s memory.State) []memory.Fact {
	found, err := ws.view.FactsOfState(s.Subject, s.Attribute, ws.cfg.StateFacts)
	if ws.fail(err) {
		return nil
	}
	return ws.overlay(found, func(f memory.Fact) bool {
		return f.State != nil && f.Merged == "" && f.State.Subject == s.Subject && f.State.Attribute == s.Attribute
	}, newest, ws.cfg.StateFacts)
}

// factsOfStateSince gives, of the facts of a state, at least those that
// FactsOfStateSince names; false where the store has more of them than a
// timeline is computed over.
func (ws *workspace) factsOfStateSince(s memory.State, at, said time.Time) ([]memory.Fact, bool) {
	found, err := ws.view.FactsOfStateSince(s.Subject, s.Attribute, at, said, ws.cfg.StateFacts+1)
	if ws.fail(err) || len(found) > ws.cfg.StateFacts {
		return nil, false
	}
	return ws.overlay(found, func(f memory.Fact) bool {
		return f.State != nil && f.Merged == "" && f.State.Subject == s.Subject && f.State.Attribute == s.Attribute
	}, newest, 0), true
}

func (ws *workspace) factsOfMessages(seqs []uint64) []memory.Fact {
	if len(seqs) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.FactsOfMessages(seqs)
	if ws.fail(err) {
		return nil
	}
	wanted := setOf(seqs)
	return ws.overlay(found, func(f memory.Fact) bool {
		return slices.ContainsFunc(f.Sources, func(s memory.Source) bool { return wanted[s.Seq] })
	}, newest, 0)
}

func (ws *workspace) factsPointingTo(ids []memory.FactID) []memory.Fact {
	if len(ids) == 0 || ws.err != nil {
		return nil
	}
	found, err := ws.view.FactsPointingTo(ids)
	if ws.fail(err) {
		return nil
	}
	wanted := setOf(ids)
	return ws.overlay(found, func(f memory.Fact) bool { return wanted[f.Superseded] || wanted[f.Merged] }, newest, 0)
}

func (ws *workspace) factByKey(key string) *memory.Fact {
	found, err := ws.view.FactByKey(key)
	if ws.fail(err) {
		return nil
	}
	var in []memory.Fact
	if found != nil {
		in = append(in, *found)
	}
	in = ws.overlay(in, func(f memory.Fact) bool { return f.Key == key && f.Live() }, newest, 1)
	if len(in) == 0 {
		return nil
	}
	f := cloneFact(in[0])
	return &f
}
