package llm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// pendingRead is how many pending questions are read for a batch.
const pendingRead = 512

// decideCase is a fact that waits for a decision, and the older ones that it is to be compared with, as they are now.
type decideCase struct {
	id       memory.FactID
	fact     memory.Fact
	older    []memory.Fact
	attempts int
}

// decide asks about pending facts of a bank: about one batch or, with all, about every one.
func (w *Worker) decide(ctx context.Context, bank memory.BankID, all bool) error {
	return inBatches(ctx, all, "decide about %d facts", func() (int, int, error) { return w.decideBatch(ctx, bank) })
}

// inBatches asks about one batch of pending questions or, with all, until none is left. A batch that resolves none is
// errNonsense.
func inBatches(ctx context.Context, all bool, what string, ask func() (left, resolved int, err error)) error {
	for ctx.Err() == nil {
		left, resolved, err := ask()
		if err != nil {
			return err
		}
		if left == 0 || !all && resolved > 0 {
			return nil
		}
		if resolved == 0 {
			return fmt.Errorf(what+": %w", left, errNonsense)
		}
	}
	return ctx.Err()
}

// decideBatch asks about one batch. It returns how many of the facts read are still pending, and how many were
// resolved. Facts without an older one left are resolved without asking.
func (w *Worker) decideBatch(ctx context.Context, bank memory.BankID) (left, resolved int, err error) {
	cases, err := w.readCases(ctx, bank)
	if err != nil || len(cases) == 0 {
		return 0, 0, err
	}
	batch, idle := w.chooseCases(cases)
	write := memory.Write{Bank: bank, Kind: memory.WriteDecide}
	for _, c := range idle {
		write.Decide = append(write.Decide, memory.Decided{Fact: c.id, Version: c.fact.Version})
	}
	if len(batch) > 0 {
		if err := w.decideByModel(ctx, &write, batch); err != nil {
			return len(cases), 0, err
		}
	}
	if len(write.Decide) == 0 {
		w.appendUsage(ctx, bank, write.Usage)
		return len(cases), 0, nil
	}
	key := []string{string(bank)}
	for _, d := range write.Decide {
		key = append(key, string(d.Fact), fmt.Sprint(d.Version))
		w.clearUnusable(bank, memory.PendingDecide, string(d.Fact))
	}
	write.Op = opOf(memory.StageDecide, key...)
	if err := w.append(ctx, write); err != nil {
		return len(cases), 0, err
	}
	return len(cases) - len(write.Decide), len(write.Decide), nil
}

// decideByModel asks about a batch and adds the decisions to the write. Facts are given up after too many unusable
// answers.
func (w *Worker) decideByModel(ctx context.Context, write *memory.Write, batch []decideCase) error {
	p, pairs, err := decidePrompt(w.shown(), batch)
	if err != nil {
		return err
	}
	q, err := w.ask(ctx, write.Bank, memory.StageDecide, w.deps.Decide, p)
	write.Usage = q.usage
	if err != nil && !isNonsense(err) {
		return err
	}
	var a decideAnswer
	if err == nil {
		a, err = parseDecisions(q.text, q.truncated, pairs)
	}
	if err != nil {
		a = decideAnswer{nonsense: true}
	}
	w.answered(write.Bank, memory.StageDecide, err == nil)
	w.metrics.counted(memory.StageDecide, "taken", len(a.items))
	w.metrics.counted(memory.StageDecide, "refused", a.refused)
	by := q.stamp
	write.By = &by
	for i, c := range batch {
		decided := memory.Decided{Fact: c.id, Version: c.fact.Version}
		if !a.answers(i) {
			if !w.giveUp(write.Bank, memory.PendingDecide, string(c.id)) {
				continue
			}
			w.dropped(write.Bank, memory.StageDecide, string(c.id))
		}
		for _, item := range a.items {
			if item.newer == i {
				decided.Targets = append(decided.Targets, w.decision(c, item))
				if item.relation != nil {
					write.Relations = append(write.Relations, *item.relation)
				}
			}
		}
		write.Decide = append(write.Decide, decided)
	}
	w.embed(ctx, write)
	return nil
}

// decision returns one item of an answer as the log keeps it, with the messages that it was decided from.
func (w *Worker) decision(c decideCase, item decideItem) memory.Decision {
	t := c.older[item.older]
	d := memory.Decision{Target: t.ID, Version: t.Version, Action: item.action, Reason: w.deps.Redactor.Redact(item.reason)}
	if item.action == memory.ActionUpdate {
		d.Text = w.deps.Redactor.Redact(item.text)
	}
	for _, id := range append(c.fact.MessageIDs(), t.MessageIDs()...) {
		if !slices.Contains(d.Evidence, id) && len(d.Evidence) < 8 {
			d.Evidence = append(d.Evidence, id)
		}
	}
	return d
}

// embed adds the vectors of the wordings of updates, with one call. Where it fails they are embedded later.
func (w *Worker) embed(ctx context.Context, write *memory.Write) {
	if w.deps.Embedder == nil {
		return
	}
	var texts []string
	var at []*memory.Decision
	for i := range write.Decide {
		for j := range write.Decide[i].Targets {
			if d := &write.Decide[i].Targets[j]; d.Text != "" {
				texts, at = append(texts, d.Text), append(at, d)
			}
		}
	}
	if len(texts) == 0 {
		return
	}
	meter := &memory.Meter{}
	limited, cancel := context.WithTimeout(memory.WithMeter(ctx, meter), w.cfg.Timeout)
	defer cancel()
	vectors, err := w.deps.Embedder.Embed(limited, texts)
	for _, u := range meter.Take() {
		write.Usage = memory.AddUsage(write.Usage, u)
	}
	if err != nil || len(vectors) != len(texts) {
		w.warn(ctx, write.Bank, memory.StageEmbed, err, "the wordings of updates go without vectors")
		return
	}
	for i, d := range at {
		d.Vector, d.Model = vectors[i], w.deps.Embedder.Name()
	}
}

// readCases reads the facts that wait for a decision.
func (w *Worker) readCases(ctx context.Context, bank memory.BankID) (cases []decideCase, err error) {
	err = w.deps.Store.Look(ctx, bank, func(v plan.View) error {
		waiting, err := v.Pending(memory.PendingDecide, pendingRead)
		if err != nil {
			return err
		}
		var ids []memory.FactID
		for _, q := range waiting {
			ids = append(append(ids, memory.FactID(q.ID)), q.Targets...)
		}
		found, err := v.Facts(ids)
		if err != nil {
			return err
		}
		facts := make(map[memory.FactID]memory.Fact, len(found))
		for _, f := range found {
			facts[f.ID] = f
		}
		for _, q := range waiting {
			c := decideCase{id: memory.FactID(q.ID), attempts: w.unusableAnswers(bank, memory.PendingDecide, q.ID)}
			c.fact = facts[c.id]
			for _, id := range q.Targets {
				if t := facts[id]; c.fact.Live() && t.Live() && len(c.older) < w.cfg.DecideTargets {
					c.older = append(c.older, t)
				}
			}
			cases = append(cases, c)
		}
		return nil
	})
	return cases, err
}

// chooseCases returns the facts of the next question, and those that need none. Facts that got unusable answers come
// last, and then fewer at a time, so that a fact which breaks an answer affects no other.
func (w *Worker) chooseCases(cases []decideCase) (batch, idle []decideCase) {
	for _, c := range cases {
		if len(c.older) == 0 {
			idle = append(idle, c)
		} else {
			batch = append(batch, c)
		}
	}
	slices.SortStableFunc(batch, func(a, b decideCase) int { return cmp.Compare(a.attempts, b.attempts) })
	if len(batch) > 0 {
		most := batch[0].attempts
		batch = batch[:min(len(batch), w.batchSize(w.cfg.DecideFacts, most))]
		end := slices.IndexFunc(batch, func(c decideCase) bool { return c.attempts > most })
		if most == 0 && end > 0 {
			batch = batch[:end]
		}
	}
	return batch, idle
}

// dropped logs and counts a question that is given up.
func (w *Worker) dropped(bank memory.BankID, stage, id string) {
	w.metrics.counted(stage, "dropped", 1)
	w.deps.Logger.Warn().Str("stage", consolidate.Stage).Str("bank", string(bank)).Str("task", stage).Str("record", id).
		Int("attempt", w.cfg.Tries).Msg("given up after answers without sense; it stays as the rules left it")
}
