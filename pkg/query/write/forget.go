package write

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Forget erases a record, a session or what a speaker said, and returns the receipt: pending, where the store has not
// applied the forget within the request's wait. An op alone asks for the receipt of an earlier request.
func (a *Appender) Forget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	if err := checkForget(r); err != nil {
		return wire.ForgetReply{}, err
	}
	if isEntity(r.ID) {
		return a.forgetAlias(ctx, bank, r)
	}
	return a.forget(ctx, bank, r)
}

// ForgetWrite returns the write that a forget would append now, and whether the store has applied what was published
// before within the request's wait: a preview of it is complete then. A bank that is not in the store is
// memory.ErrNotFound.
func (a *Appender) ForgetWrite(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (w memory.Write, fresh bool, err error) {
	if !r.Bank {
		if err := checkForget(r); err != nil {
			return w, false, err
		}
	}
	if isEntity(r.ID) {
		return w, false, memory.Invalid("preview", "shows what is erased; an alias that is forgotten erases nothing")
	}
	_, wait, err := a.control(r.WriteControl)
	if err != nil {
		return w, false, err
	}
	if a.deps.Conn == nil {
		return w, false, fmt.Errorf("forget: no connection to the log: %w", memory.ErrUnavailable)
	}
	upto, err := a.deps.Conn.LastMessage(ctx, bank)
	if err != nil {
		return w, false, err
	}
	writes, err := a.deps.Conn.LastWrite(ctx, bank)
	if err != nil {
		return w, false, err
	}
	if fresh, err = request.Applied(ctx, a.deps.Store, bank, upto, writes, wait); err != nil {
		return w, false, err
	}
	r.WriteControl, r.Preview = wire.WriteControl{}, false
	return memory.Write{Bank: bank, Kind: memory.WriteForget, Upto: upto, Time: a.deps.Now(), Forget: &r}, fresh, a.exists(ctx, bank)
}

func checkForget(r wire.ForgetRequest) error {
	if r.Bank {
		return memory.Invalid("bank", "a whole bank is erased by an operator")
	}
	named := 0
	for _, v := range []string{r.ID, string(r.Session), r.Speaker} {
		if v != "" {
			named++
		}
	}
	if namesNothing(r) && r.Op != "" && !r.Preview && !r.KeepMessages {
		return nil // it asks for a receipt
	}
	if named != 1 {
		return memory.Invalid("id", "give exactly one of id, session and speaker, or op alone for the receipt of a forget")
	}
	if r.KeepMessages && r.ID == "" {
		return memory.Invalid("keep_messages", "goes with id alone: a session and a speaker are messages")
	}
	switch {
	case r.ID != "":
		return memory.CheckID("id", r.ID)
	case r.Session != "":
		_, err := memory.ParseSessionID(string(r.Session))
		return err
	case len(r.Speaker) > memory.MaxName:
		return memory.Invalid("speaker", "is %d bytes long; at most %d are allowed", len(r.Speaker), memory.MaxName)
	}
	return nil
}

// namesNothing reports whether a request names nothing to forget.
func namesNothing(r wire.ForgetRequest) bool {
	return r.ID == "" && r.Session == "" && r.Speaker == "" && !r.Bank
}

// isEntity reports whether an id is an entity's: "type:name".
func isEntity(id string) bool {
	typ, _, found := strings.Cut(id, ":")
	return found && memory.EntityType(typ).Known()
}

// forgetAlias makes an alias, named as type:name, an entity of its own again.
func (a *Appender) forgetAlias(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	reply, err := a.Alias(ctx, bank, wire.AliasRequest{WriteControl: r.WriteControl, Aliases: []string{r.ID}, Remove: true})
	if err != nil {
		return wire.ForgetReply{}, err
	}
	return wire.ForgetReply{Write: reply.Write, Receipt: memory.Receipt{Op: reply.Op}}, nil
}

// forgetWait is how long a forget that does not say waits for its receipt: what is small is erased by then, and what is
// large answers at once.
const forgetWait = 500 * time.Millisecond

func (a *Appender) forget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	if r.Wait == nil {
		wait = min(wait, forgetWait)
	}
	if a.deps.Conn == nil {
		return wire.ForgetReply{}, fmt.Errorf("forget: no connection to the log: %w", memory.ErrUnavailable)
	}
	if namesNothing(r) {
		return a.receiptOf(ctx, bank, op, wait)
	}
	if out, err := a.before(ctx, bank, op); err != nil || out != nil {
		return receipt(op, out, err)
	}
	upto, err := a.upto(ctx, bank, r.Bank)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	r.WriteControl = wire.WriteControl{}
	w := memory.Write{Bank: bank, Kind: memory.WriteForget, Op: op, Upto: upto, Forget: &r}
	if w.Seq, err = a.deps.Conn.AppendWrite(ctx, w); err != nil {
		return wire.ForgetReply{}, &opError{op, err}
	}
	return a.awaitReceipt(ctx, w, wait)
}

// upto returns a sequence at or behind every message of a bank that was published before the request.
func (a *Appender) upto(ctx context.Context, bank memory.BankID, whole bool) (uint64, error) {
	upto, err := a.deps.Conn.LastMessage(ctx, bank)
	if err != nil {
		return 0, err
	}
	if err := a.exists(ctx, bank); err != nil && (upto == 0 || !errors.Is(err, memory.ErrNotFound)) {
		return 0, err
	}
	if upto, err = a.deps.Conn.EndOfBank(ctx, bank); err != nil || !whole {
		return upto, err
	}
	// The last message of the bank may be erased already, and its sequence with it.
	last, err := a.deps.Conn.LastSeq(ctx, a.deps.Conn.Naming.Messages())
	return max(upto, last), err
}

// receiptOf returns the receipt of a forget that was accepted under an op; memory.ErrNotFound if the log has none.
func (a *Appender) receiptOf(ctx context.Context, bank memory.BankID, op string, wait time.Duration) (wire.ForgetReply, error) {
	none := &memory.FieldError{Field: "op", Message: fmt.Sprintf("no forget %.60q in this bank; a new one names an id, a session or a speaker", op), Meaning: memory.ErrNotFound}
	find := func(ctx context.Context) (*memory.WriteOutcome, error) {
		out, err := a.deps.Store.Outcome(ctx, bank, op)
		if out != nil && out.Code == 0 && out.Receipt == nil { // of another write
			return nil, none
		}
		return out, err
	}
	if out, err := find(ctx); err != nil || out != nil {
		return receipt(op, out, err)
	}
	end, err := a.deps.Conn.LastSeq(ctx, a.deps.Conn.Naming.Writes())
	if err != nil {
		return wire.ForgetReply{}, err
	}
	out, err := request.Await(ctx, wait, func(ctx context.Context) (*memory.WriteOutcome, error) {
		_, applied, err := a.deps.Store.AppliedOf(ctx, bank)
		if err != nil {
			return nil, err
		}
		out, err := find(ctx)
		if err == nil && out == nil && applied >= end {
			err = none
		}
		return out, err
	})
	return receipt(op, out, err)
}

// awaitReceipt waits for the receipt of a forget that is in the log. One that is not there in time is pending.
func (a *Appender) awaitReceipt(ctx context.Context, w memory.Write, wait time.Duration) (wire.ForgetReply, error) {
	out, err := request.Await(ctx, wait, func(ctx context.Context) (*memory.WriteOutcome, error) {
		return a.deps.Store.Outcome(ctx, w.Bank, w.Op)
	})
	if err != nil {
		return wire.ForgetReply{}, &opError{w.Op, err}
	}
	reply, err := receipt(w.Op, out, nil)
	if reply.Pending {
		reply.Write, reply.Upto = w.Seq, w.Upto
	}
	return reply, err
}

// receipt is the reply to a forget by its outcome, pending without one.
func receipt(op string, out *memory.WriteOutcome, err error) (wire.ForgetReply, error) {
	switch {
	case err != nil:
		return wire.ForgetReply{}, err
	case out == nil:
		return wire.ForgetReply{Pending: true, Receipt: memory.Receipt{Op: op}}, nil
	case out.Code != 0:
		return wire.ForgetReply{}, Refusal(*out)
	}
	reply := wire.ForgetReply{Write: out.Write}
	if out.Receipt != nil {
		reply.Receipt = *out.Receipt
	}
	reply.Op = out.Op
	return reply, nil
}

// EraseBank erases a whole bank for good and returns the receipt, pending as that of Forget.
func (a *Appender) EraseBank(ctx context.Context, _ memory.BankID, r wire.EraseRequest) (wire.ForgetReply, error) {
	bank, err := memory.ParseBankID(r.Bank)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	return a.forget(ctx, bank, wire.ForgetRequest{WriteControl: r.WriteControl, Bank: true})
}
