package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// queueDecisions puts new facts that the rules found no outcome for, and that
// have older ones near them, down for a decision by a language model. What no
// longer holds waits for none.
func (ws *workspace) queueDecisions(facts []*factState) {
	for _, s := range facts {
		if s.before != nil && (s.gone || s.before.Live() && !s.now.Live()) {
			ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: memory.PendingDecide, ID: string(s.id())})
		}
	}
	switch ws.write.Kind {
	case memory.WriteWindow, memory.WriteRetain, memory.WriteVectors:
	default:
		return
	}
	if !ws.cfg.Decide {
		return
	}
	settled := ws.settledByRules()
	for _, s := range facts {
		fresh := s.before == nil || s.before.Vector == nil && s.now.Vector != nil
		if s.gone || !fresh || !s.now.Live() || s.now.Vector == nil || settled[s.now.ID] {
			continue
		}
		if targets := ws.worthAsking(s.now); len(targets) > 0 {
			ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{
				PendingKey: memory.PendingKey{Kind: memory.PendingDecide, ID: string(s.now.ID)}, Targets: targets})
		}
	}
}

// settledByRules gives the facts that took the place of another, absorbed one,
// or came into conflict, by this write.
func (ws *workspace) settledByRules() map[memory.FactID]bool {
	out := map[memory.FactID]bool{}
	for _, s := range ws.facts {
		if s.dirty && !s.gone {
			if s.before == nil || s.before.Superseded != s.now.Superseded {
				out[s.now.Superseded] = true
			}
			if s.before == nil || s.before.Merged != s.now.Merged {
				out[s.now.Merged] = true
			}
		}
	}
	for _, s := range ws.conflicts {
		if s.before == nil {
			out[s.now.A], out[s.now.B] = true, true
		}
	}
	return out
}

// worthAsking gives, of the nearest live facts, those that are not newer and
// near enough for a decision, the most alike first.
func (ws *workspace) worthAsking(f memory.Fact) []memory.FactID {
	near := ws.nearest(0, nodeOf(f), ws.readFact(f), ws.cfg.DecideNearest)
	near = slices.DeleteFunc(near, func(n Neighbour) bool {
		return !ws.askable(f, n)
	})
	var ids []memory.FactID
	for _, n := range near {
		ids = append(ids, memory.FactID(n.ID))
	}
	ws.load(ids)
	var out []memory.FactID
	for _, id := range ids {
		t := ws.fact(id)
		if t != nil && t.Live() && rank(*t, f) < 0 && len(out) < ws.cfg.DecideTargets {
			out = append(out, id)
		}
	}
	return out
}

// askable reports whether a neighbour is near enough to ask about: by its
// vector, or nearly so and about the same thing with enough words in common.
func (ws *workspace) askable(f memory.Fact, n Neighbour) bool {
	if n.Cosine >= max(ws.cfg.DecideCosine, ws.limits.Cluster) {
		return true
	}
	if n.Cosine < ws.limits.Diameter || !slices.ContainsFunc(f.Entities, func(e memory.EntityID) bool { return slices.Contains(n.Entities, e) }) {
		return false
	}
	common, _, _ := compare(ws.readFact(f).words, ws.reading(n.ID, n.Text, n.Entities).words, nil)
	return common >= ws.cfg.DecideWords
}

// ask puts a request down that a language model is to answer too.
func (ws *workspace) ask(r memory.ObserveRequest, consolidate bool) {
	if !ws.cfg.Observe || ws.write.Op == "" {
		return
	}
	r.WriteControl, r.Observations = memory.WriteControl{}, nil
	key := memory.PendingKey{Kind: memory.PendingObserve, ID: ws.write.Op}
	ws.out.Pending = slices.DeleteFunc(ws.out.Pending, func(p memory.PendingQuestion) bool { return p.PendingKey == key })
	ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{PendingKey: key, Request: &r, Consolidate: consolidate})
}

// answered takes back the request that this write answers.
func (ws *workspace) answered() {
	if op, ok := strings.CutSuffix(ws.write.Op, memory.ModelOp("")); ok {
		ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: memory.PendingObserve, ID: op})
	}
	ws.out.Observed = ws.write.Seen
}

// orderPending leaves every question once, by kind and id.
func (ws *workspace) orderPending() {
	order := func(a, b memory.PendingKey) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }
	slices.SortStableFunc(ws.out.Pending, func(a, b memory.PendingQuestion) int { return order(a.PendingKey, b.PendingKey) })
	slices.SortFunc(ws.out.Resolved, order)
	ws.out.Resolved = slices.Compact(ws.out.Resolved)
}
