package query

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Changes reads the change events of a bank after a sequence, oldest first.
// Next is the sequence to go on after, "" at the end.
func (s *Service) Changes(ctx context.Context, bank memory.BankID, r memory.ChangesRequest) (memory.Page[memory.Change], error) {
	out := memory.Page[memory.Change]{Items: []memory.Change{}}
	limit, _, err := page(r.Limit, "", "changes")
	if err != nil {
		return out, err
	}
	if s.conn == nil {
		return out, fmt.Errorf("read changes: no connection to the log: %w", memory.ErrUnavailable)
	}
	if err := s.exists(ctx, bank); err != nil {
		return out, err
	}
	_, err = s.conn.Scan(ctx, s.conn.Naming.Changes(), []string{s.conn.Naming.BankKind(bank, events.KindChange)}, r.After, func(e events.Event) error {
		if len(out.Items) == limit {
			out.Next = strconv.FormatUint(out.Items[limit-1].Seq, 10)
			return events.ErrEnough
		}
		var c memory.Change
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return nil // an event of another form is no change
		}
		c.Seq, c.What = e.Seq, e.What
		out.Items = append(out.Items, c)
		return nil
	})
	return out, err
}
