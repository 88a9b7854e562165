package query

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ConflictItem is a conflict with what its parties say.
type ConflictItem struct {
	memory.Conflict
	Facts []memory.Item `json:"facts"`
}

// ConflictReply answers a list of conflicts, or a decision about one.
type ConflictReply struct {
	Op      string               `json:"op,omitempty"`
	Write   uint64               `json:"write,omitempty"`
	ID      memory.ConflictID    `json:"id,omitempty"`
	State   memory.ConflictState `json:"state,omitempty"`
	Version uint64               `json:"version,omitempty"`
	Items   []ConflictItem       `json:"items"`
	Next    string               `json:"next"`
}

// Conflicts lists conflicts by state, or resolves or dismisses one.
func (s *Service) Conflicts(ctx context.Context, bank memory.BankID, r memory.ConflictRequest) (ConflictReply, error) {
	if r.ID == "" {
		return s.listConflicts(ctx, bank, r)
	}
	op, wait, err := s.control(r.WriteControl)
	if err != nil {
		return ConflictReply{}, err
	}
	if err := memory.CheckID("id", string(r.ID)); err != nil {
		return ConflictReply{}, err
	}
	switch {
	case r.State != "" || r.Limit != 0 || r.Cursor != "":
		return ConflictReply{}, memory.Invalid("state", "lists conflicts; it does not go with id")
	case (r.Winner == "") != r.Dismiss:
		return ConflictReply{}, memory.Invalid("winner", "give either the winner or dismiss: true")
	}
	if r.Winner != "" {
		if err := memory.CheckID("winner", string(r.Winner)); err != nil {
			return ConflictReply{}, err
		}
	}
	if err := s.exists(ctx, bank); err != nil {
		return ConflictReply{}, err
	}
	r.WriteControl = memory.WriteControl{}
	out, err := s.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteConflict, Op: op, Conflict: &r}, wait)
	if err != nil {
		return ConflictReply{}, err
	}
	reply := ConflictReply{Op: out.Op, Write: out.Write, ID: r.ID, Version: out.Version, State: memory.ConflictResolved, Items: []ConflictItem{}}
	if r.Dismiss {
		reply.State = memory.ConflictDismissed
	}
	return reply, nil
}

func (s *Service) listConflicts(ctx context.Context, bank memory.BankID, r memory.ConflictRequest) (ConflictReply, error) {
	switch r.State {
	case "", memory.ConflictOpen, memory.ConflictResolved, memory.ConflictDismissed:
	default:
		return ConflictReply{}, memory.Invalid("state", "is not a state; expected open, resolved or dismissed")
	}
	if r.Winner != "" || r.Dismiss || r.Version != nil {
		return ConflictReply{}, memory.Invalid("id", "is required to decide a conflict")
	}
	limit, from, err := page(r.Limit, r.Cursor, "conflicts")
	if err != nil {
		return ConflictReply{}, err
	}
	reply := ConflictReply{Items: []ConflictItem{}}
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		list, next, err := rd.Conflicts(r.State, from, limit)
		if err != nil {
			return err
		}
		reply.Next = next.cursor("conflicts")
		for _, c := range list {
			facts, err := rd.FactItems([]memory.FactID{c.A, c.B})
			if err != nil {
				return err
			}
			reply.Items = append(reply.Items, ConflictItem{c, facts})
		}
		return nil
	})
	return reply, err
}

// addConflicts finds the open conflicts among the facts of a reply.
func (f *found) addConflicts(s Searcher) error {
	var ids []memory.FactID
	for _, i := range f.reply.Items {
		if i.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(i.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var err error
	if f.conflicts, err = s.OpenConflicts(ids, 20); err != nil || len(f.conflicts) == 0 {
		return err
	}
	ids = ids[:0]
	for _, c := range f.conflicts {
		ids = append(ids, c.A, c.B)
	}
	nos, err := s.FactNumbers(ids)
	if err != nil {
		return err
	}
	items, err := s.Items(memory.RecordFact, nos)
	f.parties = map[memory.FactID]memory.Item{}
	for _, i := range items {
		f.parties[memory.FactID(i.ID)] = i
	}
	return err
}
