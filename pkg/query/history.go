package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxHistory bounds the facts of one history.
const maxHistory = 1000

// HistoryReply is a fact with every fact it took the place of or that took its
// own, oldest said first, and the messages they rest on.
type HistoryReply struct {
	ID      string             `json:"id"`
	Current []string           `json:"current"` // the live ones among them
	Items   []memory.Item      `json:"items"`
	Sources []memory.MessageID `json:"sources"`
	// Decisions are what language models decided about two of the facts, with
	// model and prompt, those that came to nothing too, with the reason.
	Decisions []memory.DecisionResult `json:"decisions,omitempty"`
}

// History reads how a fact came to be as it is. Chains may fork and may even
// be cycles; every fact is there once.
func (s *Service) History(ctx context.Context, bank memory.BankID, r memory.HistoryRequest) (HistoryReply, error) {
	out := HistoryReply{ID: r.ID, Current: []string{}, Items: []memory.Item{}, Sources: []memory.MessageID{}}
	if err := memory.CheckID("id", r.ID); err != nil {
		return out, err
	}
	err := s.store.Read(ctx, bank, func(rd Reader) error {
		seen := map[memory.FactID]bool{}
		front := []memory.FactID{memory.FactID(r.ID)}
		for len(front) > 0 && len(out.Items) < maxHistory {
			items, err := rd.FactItems(front)
			if err != nil {
				return err
			}
			var next []memory.FactID
			for _, i := range items {
				if seen[memory.FactID(i.ID)] {
					continue
				}
				seen[memory.FactID(i.ID)] = true
				out.Items = append(out.Items, i)
				next = append(next, i.Superseded, i.Merged)
			}
			earlier, err := rd.PointingTo(front)
			if err != nil {
				return err
			}
			next = append(next, earlier...)
			front = slices.DeleteFunc(next, func(id memory.FactID) bool { return id == "" || seen[id] })
		}
		all := make([]memory.FactID, 0, len(out.Items))
		for _, i := range out.Items {
			all = append(all, memory.FactID(i.ID))
		}
		var err error
		out.Decisions, err = rd.DecisionsOf(all)
		return err
	})
	if err != nil {
		return out, err
	}
	if len(out.Items) == 0 {
		return out, fmt.Errorf("fact %q: %w", r.ID, memory.ErrNotFound)
	}
	slices.SortFunc(out.Items, func(a, b memory.Item) int {
		if c := a.Said.Compare(*b.Said); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	named := map[memory.MessageID]bool{}
	for _, i := range out.Items {
		if i.Merged == "" && len(i.Valid) > 0 && i.Valid[len(i.Valid)-1].To == nil {
			out.Current = append(out.Current, i.ID)
		}
		for _, m := range i.Sources {
			if !named[m] {
				named[m] = true
				out.Sources = append(out.Sources, m)
			}
		}
	}
	return out, nil
}
