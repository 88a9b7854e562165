package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// resolvePending marks a question for a language model as resolved.
func (ws *workspace) resolvePending(kind memory.PendingKind, id string) {
	ws.out.Resolved = append(ws.out.Resolved, memory.PendingKey{Kind: kind, ID: id})
}

// queueDecisions queues new facts that have older ones near them, and for which the rules found no outcome, for a
// decision by a language model. What no longer holds waits for none.
func (ws *workspace) queueDecisions(facts []*factState) {
	for _, s := range facts {
		if s.before != nil && (s.gone || s.before.Live() && !s.now.Live()) {
			ws.resolvePending(memory.PendingDecide, string(s.id()))
		}
	}
	brings := slices.Contains([]memory.WriteKind{memory.WriteWindow, memory.WriteRetain, memory.WriteVectors}, ws.write.Kind)
	if !ws.cfg.Decide || !brings {
		return
	}
	decided := ws.decidedByRules()
	for _, s := range facts {
		fresh := s.before == nil || s.before.Vector == nil && s.now.Vector != nil
		if s.gone || !fresh || !s.now.Live() || s.now.Vector == nil || decided[s.now.ID] {
			continue
		}
		if targets := ws.decisionTargets(s.now); len(targets) > 0 {
			ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{
				PendingKey: memory.PendingKey{Kind: memory.PendingDecide, ID: string(s.now.ID)}, Targets: targets})
		}
	}
}

// decidedByRules returns the facts that superseded another, absorbed one, or came into conflict, by this write.
func (ws *workspace) decidedByRules() map[memory.FactID]bool {
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

// decisionTargets returns, of the nearest live facts, those that are older and near enough for a decision, the most
// alike first.
func (ws *workspace) decisionTargets(f memory.Fact) []memory.FactID {
	var ids []memory.FactID
	for _, n := range ws.nearest(0, nodeOf(f), ws.readFact(f), ws.cfg.DecideNearest) {
		if ws.nearEnough(f, n) {
			ids = append(ids, memory.FactID(n.ID))
		}
	}
	ws.load(ids)
	var out []memory.FactID
	for _, id := range ids {
		if t := ws.fact(id); t != nil && t.Live() && compareAge(*t, f) < 0 && len(out) < ws.cfg.DecideTargets {
			out = append(out, id)
		}
	}
	return out
}

// nearEnough reports whether a neighbour is near enough to ask about: by its vector, or nearly so and about the same
// entity with enough words in common.
func (ws *workspace) nearEnough(f memory.Fact, n Neighbour) bool {
	if n.Cosine >= max(ws.cfg.DecideCosine, ws.limits.Cluster) {
		return true
	}
	sameEntity := slices.ContainsFunc(f.Entities, func(e memory.EntityID) bool { return slices.Contains(n.Entities, e) })
	if n.Cosine < ws.limits.Diameter || !sameEntity {
		return false
	}
	common, _, _ := statement.CountStems(ws.readFact(f).Words, ws.reading(n.ID, n.Text, n.Entities).Words, nil)
	return common >= ws.cfg.DecideWords
}

// queueSummary queues a new composite of enough facts for a wording by a language model. One that is gone waits for none.
func (ws *workspace) queueSummary(s *compositeState) {
	switch {
	case s.gone && s.before != nil:
		ws.resolvePending(memory.PendingSummarise, string(s.before.ID))
	case !s.gone && s.before == nil && ws.cfg.Summarise && s.now.By == nil && leastFacts(s.now) >= ws.cfg.SummariseMin:
		key := memory.PendingKey{Kind: memory.PendingSummarise, ID: string(s.now.ID)}
		ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{PendingKey: key})
	}
}

// leastFacts is a lower bound of the facts that a composite holds: one of composites holds two of each at least.
func leastFacts(c memory.Composite) int { return len(c.Children) << min(max(0, c.Level-1), 20) }

// askModel queues a request that a language model is to answer too.
func (ws *workspace) askModel(r memory.ObserveRequest, consolidate bool) {
	if !ws.cfg.Observe || ws.write.Op == "" {
		return
	}
	r.WriteControl, r.Observations = memory.WriteControl{}, nil
	key := memory.PendingKey{Kind: memory.PendingObserve, ID: ws.write.Op}
	ws.out.Pending = slices.DeleteFunc(ws.out.Pending, func(p memory.PendingQuestion) bool { return p.PendingKey == key })
	ws.out.Pending = append(ws.out.Pending, memory.PendingQuestion{PendingKey: key, Request: &r, Consolidate: consolidate})
}

// resolveRequest marks the request that this write answers as resolved.
func (ws *workspace) resolveRequest() {
	if op, ok := strings.CutSuffix(ws.write.Op, memory.ModelOp("")); ok {
		ws.resolvePending(memory.PendingObserve, op)
	}
	ws.out.Observed = ws.write.Seen
}

// sortPending sorts the questions by kind and id, and resolves each once.
func (ws *workspace) sortPending() {
	order := func(a, b memory.PendingKey) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }
	slices.SortStableFunc(ws.out.Pending, func(a, b memory.PendingQuestion) int { return order(a.PendingKey, b.PendingKey) })
	slices.SortFunc(ws.out.Resolved, order)
	ws.out.Resolved = slices.Compact(ws.out.Resolved)
}

// Compares reports whether a vector can be compared with the others of this memory: it is of the configured model and
// size. Where its model is not given, the size alone decides.
func (c Config) Compares(v memory.Vector, model string) bool {
	return v != nil && (c.Dimension == 0 || len(v) == c.Dimension) && (c.Model == "" || model == "" || model == c.Model) &&
		v.Check("vector") == nil
}

// withoutForeignVectors returns a write without the vectors of another model or size, which an extractor of an older
// configuration made, or which were appended before the model changed. What they belong to is stored without a vector,
// is found by its words, and gets a vector later.
func (c Config) withoutForeignVectors(w memory.Write) memory.Write {
	clean := func(v *memory.Vector, model *string) {
		if !c.Compares(*v, *model) {
			*v, *model = nil, ""
		}
	}
	w.Facts = slices.Clone(w.Facts)
	for i := range w.Facts {
		clean(&w.Facts[i].Vector, &w.Facts[i].Model)
	}
	if w.Edit != nil {
		e := *w.Edit
		clean(&e.Vector, &e.Model)
		w.Edit = &e
	}
	w.Decide = slices.Clone(w.Decide)
	for i := range w.Decide {
		w.Decide[i].Targets = slices.Clone(w.Decide[i].Targets)
		for j := range w.Decide[i].Targets {
			clean(&w.Decide[i].Targets[j].Vector, &w.Decide[i].Targets[j].Model)
		}
	}
	w.Summaries = slices.Clone(w.Summaries)
	for i := range w.Summaries {
		clean(&w.Summaries[i].Vector, &w.Summaries[i].Model)
	}
	return w
}

// addVectors adds the vectors that the write brings for records stored without one. A record that has a vector keeps
// it. One that is gone was forgotten while its vector was on the way: the event is stale.
func (ws *workspace) addVectors() {
	var ids []memory.FactID
	var seqs []uint64
	for _, v := range ws.write.Vectors {
		if v.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(v.ID))
		} else {
			seqs = append(seqs, v.Seq)
		}
	}
	ws.load(ids)
	stored := ws.messages(seqs)
	seen := map[uint64]bool{}
	for _, v := range ws.write.Vectors {
		if v.Record == memory.RecordFact {
			ws.addFactVector(v)
			continue
		}
		m, ok := stored[v.Seq]
		switch {
		case !ok || m.State == memory.StateForgotten:
			ws.out.Stale = true
		case m.Seq != m.Canonical || seen[v.Seq] || !ws.cfg.Compares(v.Vector, v.Model):
		default:
			seen[v.Seq] = true
			v.Vector = v.Vector.Unit()
			ws.out.MessageVectors = append(ws.out.MessageVectors, v)
		}
	}
}

// addFactVector sets the vector of a fact and compares it with its neighbours, as if it had come with the vector.
func (ws *workspace) addFactVector(v memory.LateVector) {
	s := ws.loaded(memory.FactID(v.ID))
	if s == nil {
		ws.out.Stale = true
		return
	}
	if s.now.Vector != nil || !ws.cfg.Compares(v.Vector, v.Model) {
		return
	}
	s.now.Vector, s.now.Model, s.dirty = v.Vector.Unit(), v.Model, true
	if s.now.Live() {
		ws.compareWithNeighbours(s)
	}
}

// onlyEmbedded reports whether the write changed nothing of a fact but gave it its vector: its version stays, because
// whoever read it has read the same.
func (s *factState) onlyEmbedded() bool {
	if s.gone || s.before == nil || s.before.Vector != nil || s.now.Vector == nil {
		return false
	}
	bare := s.now
	bare.Vector, bare.Model = nil, s.before.Model
	return sameFact(*s.before, bare)
}
