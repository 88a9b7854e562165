package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ForgetReply is a receipt with the sequence of the write.
type ForgetReply struct {
	Write uint64 `json:"write"`
	memory.Receipt
}

// Forget erases a record, a session or what a speaker said.
func (s *Service) Forget(ctx context.Context, bank memory.BankID, r memory.ForgetRequest) (ForgetReply, error) {
	if r.Bank {
		return ForgetReply{}, memory.Invalid("bank", "a whole bank is erased by an operator")
	}
	named := 0
	for _, v := range []string{r.ID, string(r.Session), r.Speaker} {
		if v != "" {
			named++
		}
	}
	if named != 1 {
		return ForgetReply{}, memory.Invalid("id", "give exactly one of id, session and speaker")
	}
	if r.KeepMessages && r.ID == "" {
		return ForgetReply{}, memory.Invalid("keep_messages", "goes with id alone: a session and a speaker are messages")
	}
	switch {
	case r.ID != "":
		if err := memory.CheckID("id", r.ID); err != nil {
			return ForgetReply{}, err
		}
	case r.Session != "":
		if _, err := memory.ParseSessionID(string(r.Session)); err != nil {
			return ForgetReply{}, err
		}
	case len(r.Speaker) > memory.MaxName:
		return ForgetReply{}, memory.Invalid("speaker", "is %d bytes long; at most %d are allowed", len(r.Speaker), memory.MaxName)
	}
	return s.forget(ctx, bank, r)
}

func (s *Service) forget(ctx context.Context, bank memory.BankID, r memory.ForgetRequest) (ForgetReply, error) {
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return ForgetReply{}, err
	}
	if s.conn == nil {
		return ForgetReply{}, fmt.Errorf("forget: no connection to the log: %w", memory.ErrUnavailable)
	}
	upto, err := s.conn.LastMessage(ctx, bank)
	if err != nil {
		return ForgetReply{}, err
	}
	if err := s.exists(ctx, bank); err != nil && (upto == 0 || !errors.Is(err, memory.ErrNotFound)) {
		return ForgetReply{}, err
	}
	r.WriteControl = memory.WriteControl{}
	out, err := s.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteForget, Op: op, Upto: upto, Forget: &r}, wait)
	if err != nil {
		return ForgetReply{}, err
	}
	reply := ForgetReply{Write: out.Write, Receipt: memory.Receipt{Op: out.Op, Upto: upto}}
	if out.Receipt != nil {
		reply.Receipt = *out.Receipt
		reply.Op = out.Op
	}
	return reply, nil
}
