package query

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Forget erases a record, a session or what a speaker said; or, as a preview, says what that would erase.
func (s *Service) Forget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	if r.Preview {
		return s.previewForget(ctx, bank, r)
	}
	return s.writes.Forget(ctx, bank, r)
}

// EraseBank erases a whole bank; or, as a preview, says what that would erase.
func (s *Service) EraseBank(ctx context.Context, none memory.BankID, r wire.EraseRequest) (wire.ForgetReply, error) {
	if !r.Preview {
		return s.writes.EraseBank(ctx, none, r)
	}
	bank, err := memory.ParseBankID(r.Bank)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	return s.previewForget(ctx, bank, wire.ForgetRequest{WriteControl: r.WriteControl, Bank: true})
}

// previewForget plans the write of a forget and counts what it would erase.
func (s *Service) previewForget(ctx context.Context, bank memory.BankID, r wire.ForgetRequest) (wire.ForgetReply, error) {
	w, fresh, err := s.writes.ForgetWrite(ctx, bank, r)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	c, err := s.preview(ctx, w)
	if err != nil {
		return wire.ForgetReply{}, err
	}
	if c.Outcome.Code != 0 {
		return wire.ForgetReply{}, write.Refusal(c.Outcome)
	}
	p := wire.ForgetPreview{Fresh: fresh, Composites: first(c.RemovedComposites), Observations: first(c.RemovedObservations), Messages: []memory.MessageID{},
		Sessions: []wire.SessionCount{}}
	reply := wire.ForgetReply{Preview: &p, Receipt: memory.Receipt{Upto: w.Upto, Observations: len(c.RemovedObservations)}}
	if c.Outcome.Receipt != nil {
		reply.Receipt = *c.Outcome.Receipt
	}
	var changed []memory.FactID
	for _, f := range c.Facts {
		changed = append(changed, f.ID)
	}
	p.Changed = first(changed)
	p.Facts = first(c.Forgotten.Facts)
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		ids, sessions, err := rd.Located(c.Forgotten.Messages, wire.MaxPreview)
		p.Messages, p.Sessions = append(p.Messages, ids...), append(p.Sessions, sessions...)
		return err
	})
	return reply, err
}

// first returns as many of a list as a preview names; it is never nil.
func first[T any](list []T) []T {
	return append([]T{}, list[:min(len(list), wire.MaxPreview)]...)
}
