package query

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Banks lists the banks of the store by id.
func (s *Service) Banks(ctx context.Context, _ memory.BankID, r wire.BanksRequest) (wire.Page[memory.Bank], error) {
	out := wire.Page[memory.Bank]{Items: []memory.Bank{}}
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
		out.Next = Position{ID: string(list[limit-1].ID)}.cursor("banks")
	}
	out.Items = append(out.Items, list...)
	return out, nil
}

// Dead lists, shows, retries or drops dead letters. A list leaves out the payloads.
func (s *Service) Dead(ctx context.Context, _ memory.BankID, r wire.DeadRequest) (wire.DeadReply, error) {
	reply := wire.DeadReply{Items: []memory.DeadLetter{}}
	if s.conn == nil {
		return reply, fmt.Errorf("read dead letters: no connection to the log: %w", memory.ErrUnavailable)
	}
	limit, from, err := page(r.Limit, r.Cursor, "dead")
	if err != nil {
		return reply, err
	}
	f := deadletter.Filter{Bank: events.EncodeToken(string(r.Bank)), Stage: r.Stage, After: uint64(from.No), Limit: limit + 1}
	if r.Action != "" && r.Action != "list" && (r.ID == 0) != r.All {
		return reply, memory.Invalid("id", "give either the id of a letter or all: true")
	}
	switch r.Action {
	case "", "list":
		return s.listDead(ctx, f, limit, "dead")
	case "show":
		if r.All {
			return reply, memory.Invalid("all", "does not go with show; give an id")
		}
		d, err := deadletter.Get(ctx, s.conn, r.ID)
		reply.Items = append(reply.Items, d)
		return reply, err
	case "retry", "drop":
		f.After, f.Limit = 0, 0
		return s.changeDead(ctx, r, f)
	}
	return reply, memory.Invalid("action", "is not known; expected list, show, retry or drop")
}

// listDead returns the page of a list that a filter selects, which has one letter more than limit.
func (s *Service) listDead(ctx context.Context, f deadletter.Filter, limit int, name string) (wire.DeadReply, error) {
	reply := wire.DeadReply{Items: []memory.DeadLetter{}}
	list, err := deadletter.List(ctx, s.conn, f)
	if err != nil {
		return reply, err
	}
	if len(list) > limit {
		list = list[:limit]
		reply.Next = Position{No: int64(list[limit-1].ID)}.cursor(name)
	}
	for _, d := range list {
		d.Payload, d.Output = nil, ""
		reply.Items = append(reply.Items, d)
	}
	return reply, nil
}

func (s *Service) changeDead(ctx context.Context, r wire.DeadRequest, f deadletter.Filter) (wire.DeadReply, error) {
	reply := wire.DeadReply{Items: []memory.DeadLetter{}, Done: 1}
	var err error
	switch {
	case r.Action == "retry" && r.All:
		reply.Done, err = deadletter.RetryAll(ctx, s.conn, f)
	case r.Action == "retry":
		reply.Seq, err = deadletter.Retry(ctx, s.conn, r.ID)
	case r.All:
		reply.Done, err = deadletter.DropAll(ctx, s.conn, f)
	default:
		if _, err = deadletter.Get(ctx, s.conn, r.ID); err == nil {
			err = deadletter.Drop(ctx, s.conn, r.ID)
		}
	}
	return reply, err
}
