package erasure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// remainder returns a write without what was forgotten: facts that the store no longer has, and sources whose messages
// are gone from the log. It keeps the write's op, its time and the sequence it waits for. keep is false where nothing
// is left to append.
func (e *Eraser) remainder(ctx context.Context, w memory.Write) (rest memory.Write, keep bool, err error) {
	if w.Kind == memory.WriteApply || w.Kind == memory.WriteUndo {
		out, err := e.deps.Store.Outcome(ctx, w.Bank, w.Op)
		if err != nil {
			return rest, false, fmt.Errorf("read the outcome of %s: %w", w.Op, err)
		}
		if out != nil && out.Code != 0 {
			rest.Refusal = &memory.Refusal{Code: out.Code, Field: out.Field, Message: out.Message}
			return rest, false, nil // a rebuild must not make what it then could, and answers a repeat as it was answered
		}
	}
	switch {
	case w.Kind == memory.WriteDecide, w.Kind == memory.WriteSummary, w.Kind == memory.WriteObserve && w.By != nil:
		return e.modelRemainder(ctx, w)
	case w.Kind == memory.WriteObserve:
		return e.observationsLeft(ctx, w)
	}
	rest = w
	rest.Refused = nil
	if rest.Vectors, err = e.vectorsLeft(ctx, w); err != nil {
		return rest, false, err
	}
	if rest.Facts, err = e.factsLeft(ctx, w); err != nil {
		return rest, false, err
	}
	rest.Relations = relationsLeft(w.Relations, rest.Facts)
	switch w.Kind {
	case memory.WriteWindow:
		return rest, true, nil // it still ends its window
	case memory.WriteErased:
		return w, true, nil
	case memory.WriteApply:
		return e.changesLeft(ctx, w, rest)
	case memory.WriteRetain:
		return rest, len(rest.Facts) > 0, nil
	case memory.WriteVectors:
		return rest, len(rest.Vectors) > 0, nil
	case memory.WriteEdit, memory.WriteAlias: // an alias is erased with the last fact about its entity
		return rest, false, nil
	}
	return w, true, nil
}

// factsLeft returns the facts of a write that the store has from it, with the sources that they have there. One that lost
// all its sources is left out, and so is one that was forgotten and came again by another write.
func (e *Eraser) factsLeft(ctx context.Context, w memory.Write) ([]memory.Fact, error) {
	if len(w.Facts) == 0 {
		return nil, nil
	}
	ids := make([]memory.FactID, len(w.Facts))
	for i, f := range w.Facts {
		ids[i] = f.ID
	}
	sources, err1 := e.deps.Store.SourcesOf(ctx, ids)
	byHand, err2 := e.deps.Store.RetainedFacts(ctx, w.Op, ids)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
	}
	var left []memory.Fact
	for _, f := range w.Facts {
		kept := slices.DeleteFunc(slices.Clone(f.Sources), func(s memory.Source) bool { return !slices.Contains(sources[f.ID], s.Seq) })
		if len(kept) > 0 || len(f.Sources) == 0 && byHand[f.ID] {
			f.Sources = kept
			left = append(left, f)
		}
	}
	return left, nil
}

// vectorsLeft returns the vectors of a write whose records remain: facts that the store has, messages that the log has.
func (e *Eraser) vectorsLeft(ctx context.Context, w memory.Write) ([]memory.LateVector, error) {
	var ids []memory.FactID
	var seqs []uint64
	for _, v := range w.Vectors {
		if v.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(v.ID))
		} else {
			seqs = append(seqs, v.Seq)
		}
	}
	known, said, err := e.lookUp(ctx, w, ids, seqs)
	if err != nil {
		return nil, err
	}
	var left []memory.LateVector
	for _, v := range w.Vectors {
		if v.Record == memory.RecordFact && known[memory.FactID(v.ID)] || v.Record != memory.RecordFact && said[v.Seq] {
			left = append(left, v)
		}
	}
	return left, nil
}

// lookUp reports which facts the store has, and which messages the log has and the store has not forgotten.
func (e *Eraser) lookUp(ctx context.Context, w memory.Write, ids []memory.FactID, seqs []uint64) (known map[memory.FactID]bool, said map[uint64]bool, err error) {
	if len(ids) > 0 {
		if known, err = e.deps.Store.KnownFacts(ctx, ids); err != nil {
			return nil, nil, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
		}
	}
	said = map[uint64]bool{}
	if len(seqs) > 0 {
		found, err := e.deps.Conn.Messages(ctx, seqs)
		if err != nil {
			return nil, nil, fmt.Errorf("look up the messages of write %d: %w", w.Seq, err)
		}
		for seq := range found {
			said[seq] = true
		}
		erased, err := e.deps.Store.ErasedMessages(ctx, w.Bank, seqs)
		if err != nil {
			return nil, nil, fmt.Errorf("look up the messages of write %d: %w", w.Seq, err)
		}
		for _, m := range erased {
			delete(said, m.Seq)
		}
	}
	return known, said, nil
}

// observationsLeft returns an observe without the given observations that the store no longer has; keep is false where
// none is left.
func (e *Eraser) observationsLeft(ctx context.Context, w memory.Write) (rest memory.Write, keep bool, err error) {
	if w.Observe == nil || len(w.Observe.Observations) == 0 {
		return w, true, nil
	}
	ids := make([]memory.ObservationID, len(w.Observe.Observations))
	for i, in := range w.Observe.Observations {
		ids[i] = plan.ObservationID(w.Bank, in)
	}
	known, err := e.deps.Store.KnownObservations(ctx, ids)
	if err != nil {
		return w, false, fmt.Errorf("look up the observations of write %d: %w", w.Seq, err)
	}
	request := *w.Observe
	request.Observations = nil
	for i, in := range w.Observe.Observations {
		if known[ids[i]] {
			request.Observations = append(request.Observations, in)
		}
	}
	w.Observe = &request
	return w, len(request.Observations) > 0, nil
}

// modelRemainder returns a write of a language model without what rests on facts that the store no longer has. The
// facts a decision named stay resolved, and an answered request stays answered with what is left.
func (e *Eraser) modelRemainder(ctx context.Context, w memory.Write) (rest memory.Write, keep bool, err error) {
	known, err := e.deps.Store.KnownFacts(ctx, restsOn(w))
	if err != nil {
		return w, false, fmt.Errorf("look up the facts of write %d: %w", w.Seq, err)
	}
	missing := func(ids []memory.FactID) bool {
		return slices.ContainsFunc(ids, func(id memory.FactID) bool { return !known[id] })
	}
	rest = w
	rest.Relations = slices.DeleteFunc(slices.Clone(w.Relations), func(r memory.Relation) bool { return missing(r.Facts) })
	switch w.Kind {
	case memory.WriteDecide:
		rest.Decide, err = e.decisionsLeft(ctx, w, known)
		return rest, len(rest.Decide) > 0, err
	case memory.WriteSummary:
		rest.Summaries = slices.DeleteFunc(slices.Clone(w.Summaries), func(s memory.Summary) bool { return missing(s.Facts) })
		return rest, len(rest.Summaries) > 0, nil
	case memory.WriteObserve:
		request := *w.Observe
		request.Observations = slices.DeleteFunc(slices.Clone(request.Observations),
			func(in memory.ObservationInput) bool { return missing(in.Facts) })
		rest.Observe = &request
	}
	return rest, true, nil
}

// decisionsLeft returns the decisions of a write that were applied and whose facts are all there. Their facts have
// other versions when they are applied again, so they name none.
func (e *Eraser) decisionsLeft(ctx context.Context, w memory.Write, known map[memory.FactID]bool) ([]memory.Decided, error) {
	var facts []memory.FactID
	for _, d := range w.Decide {
		facts = append(facts, d.Fact)
	}
	applied, err := e.deps.Store.AppliedDecisions(ctx, w.Bank, facts)
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
			wasApplied := slices.ContainsFunc(applied, func(r memory.DecisionResult) bool {
				return r.Fact == d.Fact && r.Target == t.Target && r.Action == t.Action
			})
			hasWording := t.Text == "" || slices.ContainsFunc(wordingIDs(w.Bank, t), func(id memory.FactID) bool { return known[id] })
			if known[t.Target] && wasApplied && hasWording {
				t.Version = 0
				left.Targets = append(left.Targets, t)
			}
		}
		out = append(out, left)
	}
	return out, nil
}

// restsOn returns the facts that a write of a language model names or made, each once.
func restsOn(w memory.Write) []memory.FactID {
	var ids []memory.FactID
	for _, d := range w.Decide {
		ids = append(ids, d.Fact)
		for _, t := range d.Targets {
			ids = append(append(ids, t.Target), wordingIDs(w.Bank, t)...)
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
	slices.Sort(ids)
	return slices.Compact(ids)
}

// wordingIDs returns the ids that a fact with an update's wording can have, one for each kind.
func wordingIDs(bank memory.BankID, d memory.Decision) []memory.FactID {
	if d.Text == "" {
		return nil
	}
	var ids []memory.FactID
	for _, k := range []memory.Kind{memory.KindWorld, memory.KindExperience, memory.KindOpinion} {
		ids = append(ids, memory.NewFactID(bank, d.Text, k))
	}
	return ids
}

// relationsLeft returns the relations that rest on none of the facts at all or on one that is left, without the facts
// that are gone.
func relationsLeft(relations []memory.Relation, left []memory.Fact) []memory.Relation {
	var out []memory.Relation
	for _, r := range relations {
		facts := slices.DeleteFunc(slices.Clone(r.Facts), func(id memory.FactID) bool {
			return !slices.ContainsFunc(left, func(f memory.Fact) bool { return f.ID == id })
		})
		if len(r.Facts) == 0 || len(facts) > 0 {
			r.Facts = facts
			out = append(out, r)
		}
	}
	return out
}
