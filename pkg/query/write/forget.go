package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Forget erases a record, a session or what a speaker said.
func (a *Appender) Forget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	if r.Bank {
		return wire.ForgetReply{}, memory.Invalid("bank", "a whole bank is erased by an operator")
	}
	named := 0
	for _, v := range []string{r.ID, string(r.Session), r.Speaker} {
		if v != "" {
			named++
		}
	}
	if named != 1 {
		return wire.ForgetReply{}, memory.Invalid("id", "give exactly one of id, session and speaker")
	}
	if r.KeepMessages && r.ID == "" {
		return wire.ForgetReply{}, memory.Invalid("keep_messages", "goes with id alone: a session and a speaker are messages")
	}
	switch {
	case r.ID != "":
		if err := memory.CheckID("id", r.ID); err != nil {
			return wire.ForgetReply{}, err
		}
	case r.Session != "":
		if _, err := memory.ParseSessionID(string(r.Session)); err != nil {
			return wire.ForgetReply{}, err
		}
	case len(r.Speaker) > memory.MaxName:
		return wire.ForgetReply{}, memory.Invalid("speaker", "is %d bytes long; at most %d are allowed", len(r.Speaker), memory.MaxName)
	}
	return a.forget(ctx, bank, r)
}

func (a *Appender) forget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	if a.deps.Conn == nil {
		return wire.ForgetReply{}, fmt.Errorf("forget: no connection to the log: %w", memory.ErrUnavailable)
	}
	upto, err := a.deps.Conn.LastMessage(ctx, bank)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	if err := a.exists(ctx, bank); err != nil && (upto == 0 || !errors.Is(err, memory.ErrNotFound)) {
		return wire.ForgetReply{}, err
	}
	if r.Bank { // the last message of the bank may be erased already, and its sequence with it
		if upto, err = a.deps.Conn.LastSeq(ctx, a.deps.Conn.Naming.Messages()); err != nil {
			return wire.ForgetReply{}, err
		}
	}
	r.WriteControl = wire.WriteControl{}
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteForget, Op: op, Upto: upto, Forget: &r}, wait)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	reply := wire.ForgetReply{Write: out.Write, Receipt: memory.Receipt{Op: out.Op, Upto: upto}}
	if out.Receipt != nil {
		reply.Receipt = *out.Receipt
		reply.Op = out.Op
	}
	return reply, nil
}

// EraseBank erases a whole bank for good and returns the receipt.
func (a *Appender) EraseBank(ctx context.Context, _ memory.BankID, r wire.EraseRequest) (wire.ForgetReply, error) {
	bank, err := memory.ParseBankID(r.Bank)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	return a.forget(ctx, bank, wire.ForgetRequest{WriteControl: r.WriteControl, Bank: true})
}
