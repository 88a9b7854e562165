package write

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Forget erases a record, a session or what a speaker said.
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
	if fresh, err = request.Applied(ctx, a.deps.Store, upto, writes, wait); err != nil {
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
	if named != 1 {
		return memory.Invalid("id", "give exactly one of id, session and speaker")
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
	if upto, err = a.deps.Conn.EndOfBank(ctx, bank); err != nil {
		return wire.ForgetReply{}, err
	}
	if r.Bank { // the last message of the bank may be erased already, and its sequence with it
		last, err := a.deps.Conn.LastSeq(ctx, a.deps.Conn.Naming.Messages())
		if err != nil {
			return wire.ForgetReply{}, err
		}
		upto = max(upto, last)
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
