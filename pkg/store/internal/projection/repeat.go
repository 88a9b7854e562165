package projection

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// lookUp reads the row of the bank of a write, and under which name the write's op was applied before, also to an earlier
// bank of the name; "" where it was not.
func (a *applier) lookUp(id memory.BankID, op string) (before string, err error) {
	const find = `SELECT op FROM ops WHERE bank = (SELECT no FROM banks WHERE id = ?) AND op IN (?, ?) LIMIT 1`
	err = a.tx.Together(
		func(tx *engine.Tx) error {
			_, err := a.in(tx).bankRow(id)
			return err
		},
		func(tx *engine.Tx) error {
			_, err := tx.Find(fmt.Sprintf("look up op %q", op), find, []any{string(id), op, memory.HashedOp(id, op)}, &before)
			return err
		},
	)
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
