package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ApplyWrites runs plan for each write, in order, each on the store as the
// writes before it left it, and applies what it returns, as one transaction.
//
// A write whose vectors are of another embedder than the store's is refused
// alone, with code 409 in its outcome; if it ends a window, the window ends
// dead. The error is memory.ErrConflict, and nothing is applied, when the
// store is pinned to an embedder and has no vector yet: then the settings are
// wrong, not the write.
func (db *DB) ApplyWrites(ctx context.Context, after, last uint64, writes []memory.Write, plan consolidate.PlanFunc) error {
	var known *memo
	err := db.apply(ctx, func(a *applier) error {
		if err := advance(a.ctx, a.tx, StreamWrites, after, last); err != nil {
			return err
		}
		known = db.takeMemo(after)
		a.memo = known
		prev := after
		for _, w := range writes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := inRun(StreamWrites, prev, w.Seq, last); err != nil {
				return err
			}
			prev = w.Seq
			if err := a.write(w, plan); err != nil {
				return fmt.Errorf("apply write %d (%s) of bank %q: %w", w.Seq, w.Kind, string(w.Bank), err)
			}
		}
		if a.erased { // neither in the file nor in memory
			known.forget()
		}
		return a.tendSketches()
	})
	if err != nil {
		return fmt.Errorf("apply writes %d to %d: %w", after, last, err)
	}
	db.putMemo(known, last)
	return nil
}

func (a *applier) write(w memory.Write, plan consolidate.PlanFunc) error {
	bank, err := a.bankRow(w.Bank)
	if err != nil {
		return err
	}
	op := opOf(w)
	if bank != 0 {
		if err := a.keepVectorEvents(bank, w); err != nil {
			return err
		}
		repeated, err := a.repeated(bank, op, w.Seq)
		if err != nil {
			return err
		}
		if repeated {
			used, err := a.countUsage(bank, op, w)
			if err != nil {
				return err
			}
			return a.announce(w, used)
		}
	}
	changes, err := plan(&view{ctx: a.ctx, tx: a.tx, id: w.Bank, bank: bank, memo: a.memo}, w)
	if err != nil {
		return err
	}
	stop, err := a.admitVectors(changes)
	if stop || (err != nil && !errors.Is(err, errVectors)) {
		return err
	}
	if err != nil {
		changes = refuse(w, err)
	}
	if bank, err = a.bankFor(w, changes); err != nil {
		return err
	}
	if err := a.changes(bank, w, changes); err != nil {
		return err
	}
	if w.Forget != nil && w.Forget.Bank {
		if err := a.markErased(bank, w.Bank); err != nil {
			return err
		}
	}
	return a.finish(bank, op, w, changes)
}

// bankFor makes the bank that a write brings into being; a write that was
// refused, or that erases, leaves a missing bank missing. The end of a window
// that was on its way when its bank was erased does not bring the bank back.
func (a *applier) bankFor(w memory.Write, c memory.Changes) (int64, error) {
	brings := c.Bank != nil || len(c.Facts) > 0 || len(c.Observations) > 0
	if !brings && c.Window != nil {
		gone, err := a.bankErased(w.Bank)
		if err != nil {
			return 0, err
		}
		brings = !gone
	}
	if brings {
		return a.makeBank(w.Bank, w.Time)
	}
	return a.nameBank(w.Bank)
}

// opOf is the op of a write; one without has a name of its own.
func opOf(w memory.Write) string {
	if w.Op == "" {
		return unnamedOp(w.Seq)
	}
	return text(w.Op)
}

// repeated reports whether an op was applied before, and keeps where it came again.
func (a *applier) repeated(bank int64, op string, seq uint64) (bool, error) {
	var before bool
	err := a.tx.QueryRowContext(a.ctx, `SELECT EXISTS (SELECT 1 FROM ops WHERE bank = ? AND op = ?)`, bank, op).Scan(&before)
	if err != nil {
		return false, fmt.Errorf("look up op %q: %w", op, err)
	}
	if !before {
		return false, nil
	}
	return true, a.exec("keep the repeat of op "+op, `INSERT INTO repeats (bank, op, write) VALUES (?, ?, ?)`, bank, op, int64(seq))
}

// refuse is what a write comes to whose vectors the store cannot hold.
func refuse(w memory.Write, cause error) memory.Changes {
	c := memory.Changes{Outcome: memory.WriteOutcome{Code: memory.Code(cause), Message: cause.Error(), Field: "vector"}}
	if w.Window == nil {
		return c
	}
	end := *w.Window
	end.Outcome, end.Reason = memory.WindowDead, cause.Error()
	c.Window = &end
	for _, m := range end.New {
		if m.Carry == "" {
			c.Ended = append(c.Ended, memory.MessageEnd{Seq: m.Seq, State: memory.StateDead})
			continue
		}
		state := memory.StateSkipped
		if m.Carry == memory.CarryThrottled {
			state = memory.StateThrottled
		}
		c.Ended = append(c.Ended, memory.MessageEnd{Seq: m.Seq, State: state})
	}
	return c
}

// keptOutcome is an outcome as JSON, without what its row says.
type keptOutcome struct {
	Op    *struct{} `json:"op,omitempty"`
	Write *struct{} `json:"write,omitempty"`
	memory.WriteOutcome
}

// outcomeOf reads what a keptOutcome was written as, of the op of a write.
func outcomeOf(raw []byte, op string, write uint64) (*memory.WriteOutcome, error) {
	out := new(memory.WriteOutcome)
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, err
	}
	if out.Write = write; op != unnamedOp(write) {
		out.Op = op
	}
	return out, nil
}

// unnamedOp is what stands for the op of a write that has none.
func unnamedOp(write uint64) string { return fmt.Sprintf("write:%d", write) }

// finish keeps the outcome under the op and queues the change events.
func (a *applier) finish(bank int64, op string, w memory.Write, c memory.Changes) error {
	out := c.Outcome
	out.Op, out.Write = w.Op, w.Seq
	raw, err := json.Marshal(keptOutcome{WriteOutcome: out})
	if err != nil {
		return fmt.Errorf("write the outcome of op %q: %w", op, err)
	}
	const keep = `INSERT INTO ops (bank, op, write, outcome) VALUES (?, ?, ?, ?)`
	if err := a.exec("keep the outcome of op "+op, keep, bank, op, int64(w.Seq), string(raw)); err != nil {
		return err
	}
	if w.Kind == memory.WriteConsolidate && out.Ran != nil && *out.Ran {
		if err := a.exec("mark the consolidation", `UPDATE banks SET consolidated = ? WHERE no = ?`, int64(w.Seq), bank); err != nil {
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
