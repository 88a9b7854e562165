package query

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// BanksRequest pages through all banks by id.
type BanksRequest struct {
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// Banks lists the banks of the store.
func (s *Service) Banks(ctx context.Context, _ memory.BankID, r BanksRequest) (memory.Page[memory.Bank], error) {
	out := memory.Page[memory.Bank]{Items: []memory.Bank{}}
	limit, from, err := page(r.Limit, r.Cursor, "banks")
	if err != nil {
		return out, err
	}
	list, err := s.store.Banks(ctx, memory.BankID(from.ID), limit+1)
	if err != nil {
		return out, err
	}
	if len(list) > limit {
		list = list[:limit]
		out.Next = Place{ID: string(list[limit-1].ID)}.cursor("banks")
	}
	out.Items = append(out.Items, list...)
	return out, nil
}

// DeadReply answers a memory.DeadRequest. A list leaves out the payloads.
type DeadReply struct {
	Items []events.DeadLetter `json:"items"`
	Next  string              `json:"next"`           // cursor of the next page; "" at the end
	Done  int                 `json:"done,omitempty"` // letters sent again or dropped
	Seq   uint64              `json:"seq,omitempty"`  // where a letter sent again stands
}

// Dead lists, shows, retries or drops dead letters.
func (s *Service) Dead(ctx context.Context, _ memory.BankID, r memory.DeadRequest) (DeadReply, error) {
	reply := DeadReply{Items: []events.DeadLetter{}}
	if s.conn == nil {
		return reply, fmt.Errorf("read dead letters: no connection to the log: %w", memory.ErrUnavailable)
	}
	limit, from, err := page(r.Limit, r.Cursor, "dead")
	if err != nil {
		return reply, err
	}
	f := events.DeadFilter{Bank: events.EncodeToken(string(r.Bank)), Stage: r.Stage, After: uint64(from.No), Limit: limit + 1}
	if r.Action != "" && r.Action != "list" && (r.ID == 0) != r.All {
		return reply, memory.Invalid("id", "give either the id of a letter or all: true")
	}
	switch r.Action {
	case "", "list":
		return s.listDead(ctx, f, limit)
	case "show":
		if r.All {
			return reply, memory.Invalid("all", "does not go with show; give an id")
		}
		d, err := s.conn.DeadLetter(ctx, r.ID)
		reply.Items = append(reply.Items, d)
		return reply, err
	case "retry", "drop":
		f.After, f.Limit = 0, 0
		return s.settleDead(ctx, r, f)
	}
	return reply, memory.Invalid("action", "is not known; expected list, show, retry or drop")
}

func (s *Service) listDead(ctx context.Context, f events.DeadFilter, limit int) (DeadReply, error) {
	reply := DeadReply{Items: []events.DeadLetter{}}
	list, err := s.conn.DeadLetters(ctx, f)
	if err != nil {
		return reply, err
	}
	if len(list) > limit {
		list = list[:limit]
		reply.Next = Place{No: int64(list[limit-1].ID)}.cursor("dead")
	}
	for _, d := range list {
		d.Payload, d.Output = nil, ""
		reply.Items = append(reply.Items, d)
	}
	return reply, nil
}

func (s *Service) settleDead(ctx context.Context, r memory.DeadRequest, f events.DeadFilter) (DeadReply, error) {
	reply := DeadReply{Items: []events.DeadLetter{}, Done: 1}
	var err error
	switch {
	case r.Action == "retry" && r.All:
		reply.Done, err = s.conn.RetryAllDead(ctx, f)
	case r.Action == "retry":
		reply.Seq, err = s.conn.RetryDead(ctx, r.ID)
	case r.All:
		reply.Done, err = s.conn.DropAllDead(ctx, f)
	default:
		if _, err = s.conn.DeadLetter(ctx, r.ID); err == nil {
			err = s.conn.DropDead(ctx, r.ID)
		}
	}
	return reply, err
}

// EraseRequest erases a whole bank.
type EraseRequest struct {
	memory.WriteControl
	Bank string `json:"bank"`
}

// EraseBank erases a bank for good and answers with the receipt.
func (s *Service) EraseBank(ctx context.Context, _ memory.BankID, r EraseRequest) (ForgetReply, error) {
	bank, err := memory.ParseBankID(r.Bank)
	if err != nil {
		return ForgetReply{}, err
	}
	return s.forget(ctx, bank, memory.ForgetRequest{WriteControl: r.WriteControl, Bank: true})
}
