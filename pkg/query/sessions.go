package query

import (
	"context"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Sessions returns a page of the sessions of a bank, ordered by their last message.
func (s *Service) Sessions(ctx context.Context, bank memory.BankID, r wire.SessionsRequest) (wire.Page[wire.Session], error) {
	out := wire.Page[wire.Session]{Items: []wire.Session{}}
	if r.Order != "" && r.Order != "newest" && r.Order != "oldest" {
		return out, memory.Invalid("order", "is not an order; expected newest or oldest")
	}
	list := "sessions " + r.Order
	limit, from, err := page(r.Limit, r.Cursor, list)
	if err != nil {
		return out, err
	}
	now := s.now()
	err = s.store.Read(ctx, bank, func(rd Reader) error {
		sessions, next, err := rd.Sessions(r.Order == "oldest", from, limit)
		if err != nil {
			return err
		}
		out.Items, out.Next = append(out.Items, sessions...), next.cursor(list)
		b, err := rd.Bank()
		if err != nil {
			return err
		}
		idle := s.idleAfter(b)
		for i := range out.Items {
			// An open window is cut when the session was silent for so long.
			if until := out.Items[i].Until; until != nil {
				end := until.Add(idle)
				if out.Items[i].Until = &end; !end.After(now) {
					out.Items[i].Until = nil
				}
			}
		}
		return nil
	})
	return out, err
}

// idleAfter returns the silence after which a session of a bank is flushed.
func (s *Service) idleAfter(b memory.Bank) time.Duration {
	if b.Windows != nil && b.Windows.IdleAfter != nil {
		return time.Duration(*b.Windows.IdleAfter)
	}
	return s.cfg.IdleAfter
}
