package projection

import (
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// opKey names an op of a bank.
type opKey struct {
	bank memory.BankID
	op   string
}

// lookAhead reads at once what is asked for each of several writes, where common round trips save time: which embedder the
// store is pinned to, the rows of their banks, and whether their ops were applied before. If one of them forgets, which may
// change the ops of a bank, it reads the first alone.
func (a *applier) lookAhead(writes []memory.Write) error {
	if !a.tx.Sends() {
		return nil
	}
	if slices.ContainsFunc(writes, func(w memory.Write) bool { return w.Forget != nil }) {
		return a.readEmbedder()
	}
	reads := []func(*engine.Tx) error{func(tx *engine.Tx) error {
		other := a.in(tx)
		err := other.readEmbedder()
		a.embedder = other.embedder
		return err
	}}
	if slices.ContainsFunc(writes, func(w memory.Write) bool { return len(w.Facts) > 0 }) {
		for _, table := range []string{"facts", "composites"} {
			reads = append(reads, func(tx *engine.Tx) error { return a.next.read(tx, table) })
		}
	}
	banks, ops := map[memory.BankID]bool{}, map[opKey]string{}
	for _, w := range writes {
		if !banks[w.Bank] {
			banks[w.Bank] = true
			reads = append(reads, func(tx *engine.Tx) error {
				_, err := a.in(tx).bankRow(w.Bank)
				return err
			})
		}
		key := opKey{w.Bank, opOf(w)}
		if _, twice := ops[key]; twice {
			continue
		}
		ops[key] = ""
		reads = append(reads, func(tx *engine.Tx) error {
			before, err := a.in(tx).appliedBefore(w.Bank, key.op)
			ops[key] = before
			return err
		})
	}
	err := a.tx.Together(reads...)
	a.ops = ops
	return err
}

// appliedBefore returns under which name an op was applied before, also to an earlier bank of the name; "" where it was not.
func (a *applier) appliedBefore(id memory.BankID, op string) (before string, err error) {
	if before, known := a.ops[opKey{id, op}]; known {
		return before, nil
	}
	const find = `SELECT op FROM ops WHERE bank = (SELECT no FROM banks WHERE id = ?) AND op IN (?, ?) LIMIT 1`
	_, err = a.tx.Find(fmt.Sprintf("look up op %q", op), find, []any{string(id), op, memory.HashedOp(id, op)}, &before)
	return before, err
}

// queueForgottenRepeat queues the erasure of a write whose op was applied before and that holds a record which is gone: a
// retry of what was forgotten, or the rest of a write that another forget overtook.
func (a *applier) queueForgottenRepeat(bank int64, w memory.Write) error {
	var facts, observations []string
	for _, f := range w.Facts {
		facts = append(facts, string(f.ID))
	}
	for _, v := range w.Vectors {
		if v.Record == memory.RecordFact {
			facts = append(facts, v.ID)
		}
	}
	if w.Observe != nil {
		for _, o := range w.Observe.Observations {
			observations = append(observations, string(plan.ObservationID(w.Bank, o)))
		}
	}
	if w.Edit != nil && w.Edit.Text != "" {
		facts = append(facts, string(w.Edit.ID))
	}
	if len(facts)+len(observations) == 0 {
		return nil
	}
	const find = `SELECT EXISTS (SELECT 1 FROM json_each(?2) j WHERE NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = j.value AND f.bank = ?1))
OR EXISTS (SELECT 1 FROM json_each(?3) j WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.id = j.value AND o.bank = ?1))`
	var gone bool
	args := []any{bank, engine.List(facts), engine.List(observations)}
	if err := a.tx.Get(fmt.Sprintf("look for what write %d holds", w.Seq), find, args, &gone); err != nil || !gone {
		return err
	}
	return a.queueErasure(w.Bank, w.Op, StreamWrites, w.Seq, false)
}

// refusal returns the changes of a write whose vectors the store cannot hold.
func refusal(w memory.Write, cause error) memory.Changes {
	c := memory.Changes{Outcome: memory.WriteOutcome{Code: memory.Code(cause), Message: cause.Error(), Field: "vector"}}
	if w.Window == nil {
		return c
	}
	end := *w.Window
	end.Outcome, end.Reason = memory.WindowDead, cause.Error()
	c.Window = &end
	for _, m := range end.New {
		state := memory.StateSkipped
		switch m.Carry {
		case "":
			state = memory.StateDead
		case memory.CarryThrottled:
			state = memory.StateThrottled
		}
		c.Ended = append(c.Ended, memory.MessageEnd{Seq: m.Seq, State: state})
	}
	return c
}
