package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// ApplyWrites runs decide for each write, in order, each on the store as the writes before it left it, and applies the
// changes that it returns, as one transaction.
//
// A write whose vectors are of another embedder than the store's is refused alone, with code 409 in its outcome; if it
// ends a window, the window ends dead. The error is memory.ErrConflict, and nothing is applied, when the store is pinned
// to an embedder and has no vector yet: then the settings are wrong, not the write.
func (db *DB) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func) error {
	err := db.applyWrites(ctx, after, last, writes, decide, true)
	if errors.Is(err, engine.ErrExists) {
		err = db.applyWrites(ctx, after, last, writes, decide, false)
	}
	if err != nil {
		return fmt.Errorf("apply writes %d to %d: %w", after, last, err)
	}
	return nil
}

// applyWrites is ApplyWrites. assumes is that of the applier: a composite that was taken for a new one is engine.ErrExists.
func (db *DB) applyWrites(ctx context.Context, after, last uint64, writes []memory.Write, decide plan.Func, assumes bool) error {
	var cached *cache.Cache
	err := db.apply(ctx, func(a *applier) error {
		a.assumes = assumes
		fenced, err := a.advance(StreamWrites, after, last)
		if err != nil {
			return err
		}
		cached = db.takeCache(after)
		a.cache = cached
		if err := a.lookAhead(writes); err != nil {
			return err
		}
		if err := fenced(); err != nil {
			return err
		}
		prev := after
		for _, w := range writes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkOrder(StreamWrites, prev, w.Seq, last); err != nil {
				return err
			}
			prev = w.Seq
			if err := a.applyWrite(w, decide); err != nil {
				return fmt.Errorf("apply write %d (%s) of bank %q: %w", w.Seq, w.Kind, string(w.Bank), err)
			}
		}
		if err := a.noteEvent(writes); err != nil {
			return err
		}
		if a.erased { // erased text must not survive in memory either
			cached.Clear()
		}
		if err := a.counter.Write(a.tx); err != nil {
			return err
		}
		return db.Maintain(a.tx, a.counter.Vectors())
	})
	if err == nil {
		db.keepCache(cached, last)
	}
	return err
}

func (a *applier) applyWrite(w memory.Write, decide plan.Func) error {
	op := opOf(w)
	before, err := a.appliedBefore(w.Bank, op)
	if err != nil {
		return err
	}
	bank, err := a.nameBank(w.Bank)
	if err != nil {
		return err
	}
	if err := a.noteVectors(bank, w); err != nil {
		return err
	}
	if before != "" {
		if err := a.tx.Exec("record the repeat of op "+before, `INSERT INTO repeats (bank, op, write) VALUES (?, ?, ?)`, bank, before, int64(w.Seq)); err != nil {
			return err
		}
		if err := a.queueForgottenRepeat(bank, w); err != nil {
			return err
		}
		used, err := a.countUsage(bank, op, w)
		if err != nil {
			return err
		}
		return a.announce(w, used)
	}
	a.known = newKnown()
	changes, err := decide(viewOf(&view{tx: a.tx, id: w.Bank, bank: bank, row: a.banks[w.Bank], cache: a.cache, known: a.known}), w)
	if err != nil {
		return err
	}
	stop, err := a.admitVectors(changes)
	if stop || (err != nil && !errors.Is(err, errVectors)) {
		return err
	}
	if err != nil {
		changes = refusal(w, err)
	}
	if err := a.makeBankFor(w, bank, changes); err != nil {
		return err
	}
	if err := a.applyChanges(bank, w, changes); err != nil {
		return err
	}
	if w.Forget != nil && w.Forget.Bank {
		if err := a.markErased(bank, w.Bank); err != nil {
			return err
		}
	}
	return a.finish(bank, op, w, changes)
}

// applyChanges applies what a plan returned, in the order of its fields. What is forgotten goes last, but for the
// entities that nothing names after it.
func (a *applier) applyChanges(bank int64, w memory.Write, c memory.Changes) error {
	writes, err := a.beforeForget(bank, c.Forgotten)
	if err != nil {
		return err
	}
	a.renewed, a.put = c.Renewed, map[memory.CompositeID]int64{}
	a.erased = a.erased || c.Forgotten != nil || len(c.RemovedFacts)+len(c.RemovedObservations)+len(c.RemovedEntities) > 0
	observations := schema.Observations()
	err = inTurn(
		func() error { return a.readStored(bank, c) },
		func() error { return a.putProfile(bank, w.Bank, c.Bank) },
		func() error { return a.removeComposites(bank, c.RemovedComposites) },
		func() error { return a.putNodes(bank, c) },
		// A representative may be a fact of the same changes, and a child a composite of them: all are stored by now.
		func() error { return each(bank, c.Composites, a.putCompositeVector) },
		func() error { return a.eachComposite(bank, c.Composites, (*applier).adoptChildren) },
		func() error { return a.putEntities(bank, c) },
		func() error { return each(bank, c.RemovedRelations, a.removeRelation) },
		func() error { return each(bank, c.Relations, a.putRelation) },
		func() error { return each(bank, c.Conflicts, a.putConflict) },
		func() error {
			return each(bank, c.Observations, func(bank int64, o memory.Observation) error { return observations.Put(a.tx, a.counter, bank, o) })
		},
		func() error {
			return each(bank, c.RemovedObservations, func(bank int64, id memory.ObservationID) error {
				return observations.Remove(a.tx, a.counter, bank, string(id))
			})
		},
		func() error { return each(bank, c.RemovedConflicts, a.removeConflict) },
		func() error { return each(bank, c.Replacements, a.putReplacement) },
		func() error { return a.endMessages(bank, c.Ended) },
		func() error { return each(bank, c.MessageVectors, a.putMessageVector) },
		func() error { return a.endWindow(bank, w.Seq, c.Window) },
		func() error { return each(bank, c.Uses, a.addUse) },
		func() error { return a.forget(bank, w, c.Forgotten, writes) },
		func() error { return a.removeUnnamed(bank, c.RemovedEntities) },
		func() error { return a.queueAliases(bank, w) },
		func() error { return a.putModels(bank, w, c) },
		func() error { return a.keepUndo(bank, w, c) },
		func() error { return a.trimNaming(bank) },
	)
	if err == nil && c.Forgotten != nil {
		a.cache.Clear()
	}
	return err
}

// putNodes stores facts and composites, and removes facts. The rows of both go to the database together where none is removed.
func (a *applier) putNodes(bank int64, c memory.Changes) error {
	composites := func(tx *engine.Tx) error { return a.in(tx).eachComposite(bank, c.Composites, (*applier).putComposite) }
	if len(c.RemovedFacts) == 0 {
		return a.tx.Together(func(tx *engine.Tx) error { return a.in(tx).putFacts(bank, c.Facts) }, composites)
	}
	return inTurn(
		func() error { return a.putFacts(bank, c.Facts) },
		func() error { return a.removeFacts(bank, c.RemovedFacts) },
		func() error { return composites(a.tx) },
	)
}

// makeBankFor creates the bank that a write brings into being. A write that was refused, or that erases, leaves a missing
// bank missing, and so does the end of a window that was in flight when its bank was erased. What a forget left of a
// write creates the bank that the whole write created.
func (a *applier) makeBankFor(w memory.Write, bank int64, c memory.Changes) error {
	if c.Bank != nil || len(c.Facts) > 0 || len(c.Observations) > 0 || w.RestOf != nil && c.Outcome.Code == 0 && (w.Kind == memory.WriteRetain || w.Kind == memory.WriteErased) {
		if _, err := a.makeBank(w.Bank, w.Time); err != nil {
			return err
		}
		return a.tx.Exec(fmt.Sprintf("record that a write made bank %q", string(w.Bank)), `UPDATE banks SET written = 1 WHERE no = ? AND written = 0`, bank)
	}
	if c.Window == nil {
		return nil
	}
	const missing = `SELECT EXISTS (SELECT 1 FROM banks WHERE no = ? AND profile = '' AND erased = 0)`
	var make bool
	if err := a.tx.Get(fmt.Sprintf("look up bank %q", string(w.Bank)), missing, []any{bank}, &make); err != nil || !make {
		return err
	}
	_, err := a.makeBank(w.Bank, w.Time)
	return err
}

// opOf returns the op of a write; a write without one has a name of its own.
func opOf(w memory.Write) string {
	if w.Op == "" {
		return schema.UnnamedOp(w.Seq)
	}
	return engine.Text(w.Op)
}

// finish stores the outcome under the op and queues the change events.
func (a *applier) finish(bank int64, op string, w memory.Write, c memory.Changes) error {
	out := c.Outcome
	out.Op, out.Write = w.Op, w.Seq
	raw, err := schema.OutcomeJSON(out)
	if err != nil {
		return fmt.Errorf("write the outcome of op %q: %w", op, err)
	}
	const put = `INSERT INTO ops (bank, op, write, outcome) VALUES (?, ?, ?, ?)`
	if err := a.tx.Exec("store the outcome of op "+op, put, bank, op, int64(w.Seq), raw); err != nil {
		return err
	}
	if a.ops != nil {
		a.ops[opKey{w.Bank, op}] = op
	}
	if w.Kind == memory.WriteConsolidate && out.Ran != nil && *out.Ran {
		if err := a.tx.Exec("mark the consolidation", `UPDATE banks SET consolidated = ? WHERE no = ?`, int64(w.Seq), bank); err != nil {
			return err
		}
	}
	used, err := a.countUsage(bank, op, w)
	if err != nil {
		return err
	}
	return a.announce(w, append(c.Changes[:len(c.Changes):len(c.Changes)], used...))
}

// announce queues the change events of a write.
func (a *applier) announce(w memory.Write, changes []memory.Change) error {
	for i, e := range changes {
		e.ID, e.Write, e.Time = memory.NewChangeID(StreamWrites, w.Seq, i), w.Seq, memory.At(w.Time)
		if err := a.emit(w.Bank, e, w.Trace); err != nil {
			return err
		}
	}
	return nil
}

// countUsage adds what the model calls behind a write used to the totals of its bank and day. It counts once for every
// event: also when the op was applied before, but not for an earlier event appended again, which has the same op and
// time. It returns the changes to announce, none when nothing was counted.
func (a *applier) countUsage(bank int64, op string, w memory.Write) ([]memory.Change, error) {
	if len(w.Usage) == 0 || bank == 0 {
		return nil, nil
	}
	const once = `INSERT INTO usage_events (bank, op, time) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	first, err := a.tx.Changed("count the usage of "+op, once, bank, op, engine.Micros(w.Time))
	if err != nil || !first {
		return nil, err
	}
	const add = `INSERT INTO usage (bank, day, stage, model, calls, failed, prompt, cached, completion) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank, day, stage, model) DO UPDATE SET calls = usage.calls + excluded.calls, failed = usage.failed + excluded.failed,
  prompt = usage.prompt + excluded.prompt, cached = usage.cached + excluded.cached, completion = usage.completion + excluded.completion`
	day := w.Time.UTC().Format(time.DateOnly)
	for _, u := range w.Usage {
		err := a.tx.Exec("add the usage of "+op, add, bank, day, engine.Text(u.Stage), engine.Text(u.Model), max(0, u.Calls), max(0, u.Failed),
			max(0, u.PromptTokens), max(0, u.CachedTokens), max(0, u.CompletionTokens))
		if err != nil {
			return nil, err
		}
	}
	return plan.UsageChanges(w), nil
}
