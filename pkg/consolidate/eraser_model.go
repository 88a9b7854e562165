package consolidate

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// modelRemainder is a write of a language model without what rests on facts
// that the store no longer has. The facts that a decision named wait for none
// any more, and the request that was answered is answered, with what is left.
func (c *Consolidator) modelRemainder(ctx context.Context, w memory.Write) (rest memory.Write, keep bool, err error) {
	known, err := c.deps.Store.KnownFacts(ctx, restsOn(w))
	if err != nil {
		return w, false, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
	}
	here := func(ids []memory.FactID) bool {
		return !slices.ContainsFunc(ids, func(id memory.FactID) bool { return !known[id] })
	}
	rest = w
	rest.Relations = slices.DeleteFunc(slices.Clone(w.Relations), func(r memory.Relation) bool { return !here(r.Facts) })
	switch w.Kind {
	case memory.WriteDecide:
		rest.Decide, err = c.decisionsLeft(ctx, w, known)
		return rest, len(rest.Decide) > 0, err
	case memory.WriteSummary:
		rest.Summaries = slices.DeleteFunc(slices.Clone(w.Summaries), func(s memory.Summary) bool { return !here(s.Facts) })
		return rest, len(rest.Summaries) > 0, nil
	case memory.WriteObserve:
		asked := *w.Observe
		asked.Observations = slices.DeleteFunc(slices.Clone(asked.Observations), func(in memory.ObservationInput) bool { return !here(in.Facts) })
		rest.Observe = &asked
	}
	return rest, true, nil
}

// decisionsLeft gives the decisions of a write that were applied and whose facts
// are all there. What they speak of has other versions when they are applied
// anew, so they name none.
func (c *Consolidator) decisionsLeft(ctx context.Context, w memory.Write, known map[memory.FactID]bool) ([]memory.Decided, error) {
	var facts []memory.FactID
	for _, d := range w.Decide {
		facts = append(facts, d.Fact)
	}
	applied, err := c.deps.Store.AppliedDecisions(ctx, w.Bank, facts)
	if err != nil {
		return nil, fmt.Errorf("look up the decisions of write %d: %w", w.Seq, err)
	}
	var out []memory.Decided
	for _, d := range w.Decide {
		if !known[d.Fact] {
			continue
		}
		left := memory.Decided{Fact: d.Fact}
		for _, t := range d.Targets {
			did := slices.ContainsFunc(applied, func(r memory.DecisionResult) bool {
				return r.Fact == d.Fact && r.Target == t.Target && r.Action == t.Action
			})
			worded := t.Text == "" || slices.ContainsFunc(wordings(w.Bank, t), func(id memory.FactID) bool { return known[id] })
			if known[t.Target] && did && worded {
				t.Version = 0
				left.Targets = append(left.Targets, t)
			}
		}
		out = append(out, left)
	}
	return out, nil
}

// restsOn gives the facts that a write of a language model names or made.
func restsOn(w memory.Write) []memory.FactID {
	var ids []memory.FactID
	for _, d := range w.Decide {
		ids = append(ids, d.Fact)
		for _, t := range d.Targets {
			ids = append(append(ids, t.Target), wordings(w.Bank, t)...)
		}
	}
	for _, s := range w.Summaries {
		ids = append(ids, s.Facts...)
	}
	for _, r := range w.Relations {
		ids = append(ids, r.Facts...)
	}
	if w.Observe != nil {
		for _, in := range w.Observe.Observations {
			ids = append(ids, in.Facts...)
		}
	}
	return unite(ids, nil)
}

// wordings gives the ids that a fact of an update's wording can have, by its kind.
func wordings(bank memory.BankID, d memory.Decision) []memory.FactID {
	if d.Text == "" {
		return nil
	}
	var ids []memory.FactID
	for _, k := range []memory.Kind{memory.KindWorld, memory.KindExperience, memory.KindOpinion} {
		ids = append(ids, memory.NewFactID(bank, d.Text, k))
	}
	return ids
}
