package llm

import (
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// subject is an entity to observe: its facts, newest first, and what a model observed of it before.
type subject struct {
	entity memory.Entity
	facts  []memory.Fact
	known  []memory.Observation
	fresh  int // facts that no model has observed yet
}

// survey is what of a bank a model is asked to observe.
type survey struct {
	seen     uint64 // MEM_WRITES sequence of the state that was read
	whole    bool   // nothing was left out by a request's filter
	subjects []subject
	standing []memory.Observation // by a model, of subjects without news
}

// answerRequests answers the pending requests of a bank, the longest waiting first. Pending decisions are made before,
// and summaries too where a request is to consolidate.
func (w *Worker) answerRequests(ctx context.Context, bank memory.BankID) error {
	var waiting []memory.PendingQuestion
	err := w.deps.Store.Look(ctx, bank, func(v plan.View) (err error) {
		waiting, err = v.Pending(memory.PendingObserve, 16)
		return err
	})
	if err != nil {
		return err
	}
	for _, q := range waiting {
		if w.deps.Decide != nil {
			if err := w.decide(ctx, bank, true); err != nil {
				return err
			}
		}
		if w.deps.Summarise != nil && q.Consolidate {
			if err := w.summarise(ctx, bank, true); err != nil {
				return err
			}
		}
		r := memory.ObserveRequest{}
		if q.Request != nil {
			r = *q.Request
		}
		if err := w.observe(ctx, bank, r, q.ID, 1); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// observeBySchedule observes the banks with enough facts that no model has observed yet: with many facts at once, with
// few after a while.
func (w *Worker) observeBySchedule(ctx context.Context) {
	banks, err := w.deps.Store.Unobserved(ctx, w.cfg.ObserveLeast)
	if err != nil {
		w.warn(ctx, "", "", err, "unobserved facts cannot be counted")
		return
	}
	for _, b := range banks {
		last, ok := w.observed[b.Bank]
		if !ok {
			last = w.began
		}
		if ctx.Err() != nil || b.Facts < w.cfg.ObserveBatch && w.deps.Now().Sub(last) < w.cfg.ObserveAfter {
			continue
		}
		w.try(ctx, b.Bank, memory.StageObserve, func(ctx context.Context) error {
			if err := w.observe(ctx, b.Bank, memory.ObserveRequest{}, "", w.cfg.ObserveNew); err != nil {
				return err
			}
			w.observed[b.Bank] = w.deps.Now()
			return nil
		})
	}
}

// observe asks what the facts of a bank show, and appends the answer under the op of the request; "" = one of its own.
// Subjects with fewer than least new facts are left out. Without any subject no model is asked, and a request is
// answered with the observations there are.
func (w *Worker) observe(ctx context.Context, bank memory.BankID, r memory.ObserveRequest, op string, least int) error {
	s, err := w.survey(ctx, bank, r, least)
	if err != nil {
		return err
	}
	if op == "" && len(s.subjects) == 0 {
		return nil
	}
	r.WriteControl, r.Observations = memory.WriteControl{}, nil
	write := memory.Write{Bank: bank, Kind: memory.WriteObserve, Observe: &r,
		By: &memory.Stamp{Model: w.deps.Observe.Name(), Prompt: promptName(memory.StageObserve)}}
	if s.whole {
		write.Seen = s.seen
	}
	if len(s.subjects) > 0 {
		if err := w.observeByModel(ctx, &write, s, op); err != nil {
			w.appendUsage(ctx, bank, write.Usage)
			return err
		}
	}
	if op != "" {
		for _, o := range s.standing {
			if len(r.Observations) < 2*w.cfg.ObserveFacts && !contains(r.Observations, o) {
				r.Observations = append(r.Observations, asInput(o))
			}
		}
		write.Op = memory.ModelOp(op)
	} else {
		write.Op = opOf(memory.StageObserve, string(bank), fmt.Sprint(s.seen))
	}
	w.clearUnusable(bank, memory.PendingObserve, op)
	return w.append(ctx, write)
}

// observeByModel asks about the subjects and adds the accepted observations to the write. After too many unusable
// answers it adds none.
func (w *Worker) observeByModel(ctx context.Context, write *memory.Write, s survey, op string) error {
	p, sh, err := observePrompt(w.shown(), s.subjects)
	if err != nil {
		return err
	}
	q, err := w.ask(ctx, write.Bank, memory.StageObserve, w.deps.Observe, p)
	write.Usage = q.usage
	if err != nil && !isNonsense(err) {
		write.Usage = nil // it is in the log already
		return err
	}
	var found []memory.ObservationInput
	refused := 0
	if err == nil {
		found, refused, err = parseObservations(q.text, sh)
	}
	if err != nil {
		w.metrics.answered(memory.StageObserve, "nonsense")
		if !w.giveUp(write.Bank, memory.PendingObserve, op) {
			return fmt.Errorf("observe: %w: %w", errNonsense, err)
		}
		w.dropped(write.Bank, memory.StageObserve, op)
		if op != "" {
			write.Seen = 0 // nothing was seen: the next request asks again
		}
		return nil
	}
	w.metrics.answered(memory.StageObserve, "answered")
	w.metrics.counted(memory.StageObserve, "taken", len(found))
	w.metrics.counted(memory.StageObserve, "refused", refused)
	by := q.stamp
	write.By = &by
	for _, o := range found {
		if len(write.Observe.Types) > 0 && !slices.Contains(write.Observe.Types, o.Type) {
			continue
		}
		o.Text, o.Reasoning = w.deps.Redactor.Redact(o.Text), w.deps.Redactor.Redact(o.Reasoning)
		write.Observe.Observations = append(write.Observe.Observations, o)
	}
	return nil
}

// survey reads the subjects of a bank that have new facts, those with most of them first, and the observations of the
// others.
func (w *Worker) survey(ctx context.Context, bank memory.BankID, r memory.ObserveRequest, least int) (s survey, err error) {
	s.whole = r.Query == "" && len(r.Types) == 0 && r.MinConfidence == nil
	asked, words := memory.AskedWords(bank, r.Query, text.ContentStems)
	if words == 0 {
		asked = nil
	}
	if _, s.seen, err = w.deps.Store.Applied(ctx); err != nil {
		return s, err
	}
	err = w.deps.Store.Look(ctx, bank, func(v plan.View) error {
		before, err := v.LastObserved()
		if err != nil {
			return err
		}
		busiest, err := v.BusiestEntities(8 * w.cfg.ObserveSubjects)
		if err != nil {
			return err
		}
		for _, e := range busiest {
			sub, err := w.readSubject(v, e, before, asked)
			if err != nil {
				return err
			}
			if len(sub.facts) >= 2 && sub.fresh >= least {
				s.subjects = append(s.subjects, sub)
				continue
			}
			for _, o := range sub.known {
				if (len(r.Types) == 0 || slices.Contains(r.Types, o.Type)) && !slices.ContainsFunc(s.standing, func(h memory.Observation) bool { return h.ID == o.ID }) {
					s.standing = append(s.standing, o)
				}
			}
		}
		return nil
	})
	slices.SortStableFunc(s.subjects, func(a, b subject) int { return b.fresh - a.fresh })
	s.subjects = s.subjects[:min(len(s.subjects), w.cfg.ObserveSubjects)]
	return s, err
}

// readSubject reads the facts of an entity that bear on what is asked, nil for all, and the observations of a model that
// rest on them.
func (w *Worker) readSubject(v plan.View, e memory.Entity, before uint64, asked func(stem string) bool) (subject, error) {
	sub := subject{entity: e}
	found, err := v.FactsOfEntity(e.ID, 4*w.cfg.ObserveFacts)
	if err != nil {
		return sub, err
	}
	every := asked == nil || slices.ContainsFunc(text.ContentStems(e.Name), asked)
	var ids []memory.FactID
	for _, f := range found {
		if !every && !slices.ContainsFunc(text.ContentStems(f.Text), asked) {
			continue
		}
		ids = append(ids, f.ID)
		if f.Version > before {
			sub.fresh++
		}
		if len(sub.facts) < w.cfg.ObserveFacts {
			sub.facts = append(sub.facts, f)
		}
	}
	known, err := v.ObservationsOf(ids)
	for _, o := range known {
		if owner, _ := splitSubject(o.Subject); o.By != nil && owner == e.ID {
			sub.known = append(sub.known, o)
		}
	}
	return sub, err
}
