package query

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/verify"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// maxHistory bounds the facts of one history.
const maxHistory = 1000

// History returns a fact with every fact that it replaced or that replaced it, oldest said first, the messages they rest
// on, and the decisions about them. Chains may fork and may even be cycles; every fact is returned once.
func (s *Service) History(ctx context.Context, bank memory.BankID, r wire.HistoryRequest) (wire.HistoryReply, error) {
	out := wire.HistoryReply{ID: r.ID, Current: []string{}, Items: []memory.Item{}, Sources: []memory.MessageID{}}
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
	slices.SortFunc(out.Items, func(a, b memory.Item) int { return cmp.Or(a.Said.Compare(*b.Said), cmp.Compare(a.ID, b.ID)) })
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

// Changes returns the change events of a bank after a sequence, oldest first: every event that a subscriber can have
// received before the call is among them. Next is the sequence to continue after, "" at the end.
func (s *Service) Changes(ctx context.Context, bank memory.BankID, r wire.ChangesRequest) (wire.Page[memory.Change], error) {
	out := wire.Page[memory.Change]{Items: []memory.Change{}}
	limit, _, err := page(r.Limit, "", "changes")
	if err != nil {
		return out, err
	}
	if s.conn == nil {
		return out, fmt.Errorf("read changes: no connection to the log: %w", memory.ErrUnavailable)
	}
	if err := s.store.Read(ctx, bank, func(Reader) error { return nil }); err != nil {
		return out, err
	}
	if r.Received != "" && !r.Latest {
		if err := memory.CheckID("received", r.Received); err != nil {
			return out, err
		}
		if r.After, err = s.sinceErasure(ctx, bank, r.After); err != nil {
			return out, err
		}
		return s.changesWith(ctx, bank, r, limit)
	}
	if err := s.awaitOutbox(ctx); err != nil {
		return out, err
	}
	if r.Latest {
		last, err := s.conn.LastSeq(ctx, s.conn.Naming.Changes())
		out.Next = strconv.FormatUint(last, 10)
		return out, err
	}
	if r.After, err = s.sinceErasure(ctx, bank, r.After); err != nil {
		return out, err
	}
	_, err = s.changesAfter(ctx, bank, r.After, limit, &out)
	return out, err
}

// sinceErasure returns the sequence before the last removal of a bank where that lies past after, else after: earlier
// changes are those of an erased bank, and whoever made one of its name anew is not told of its records.
func (s *Service) sinceErasure(ctx context.Context, bank memory.BankID, after uint64) (uint64, error) {
	last, err := s.conn.LastChange(ctx, bank, memory.ChangeBank)
	if err != nil || last <= after {
		return after, err
	}
	_, err = ordered.Scan(ctx, s.conn, s.conn.Naming.Changes(), []string{s.conn.Naming.ChangeSubject(bank, memory.ChangeBank)}, after, func(e events.Event) error {
		var c memory.Change
		if json.Unmarshal(e.Data, &c) == nil && c.Op == memory.OutcomeRemoved {
			after = e.Seq - 1
		}
		return nil
	})
	return after, err
}

// changesWith returns changes once the one that was received is among them or the page is full, after outboxPatience at
// the latest.
func (s *Service) changesWith(ctx context.Context, bank memory.BankID, r wire.ChangesRequest, limit int) (wire.Page[memory.Change], error) {
	out := wire.Page[memory.Change]{Items: []memory.Change{}}
	received := func(c memory.Change) bool { return c.ID == r.Received }
	pause := time.NewTicker(receivedPause)
	defer pause.Stop()
	for until, after := time.Now().Add(outboxPatience), r.After; ; {
		var err error
		after, err = s.changesAfter(ctx, bank, after, limit, &out)
		if err != nil || out.Next != "" || slices.ContainsFunc(out.Items, received) || time.Now().After(until) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-pause.C:
		}
	}
}

// changesAfter appends to a page the changes that the log holds after a sequence, and returns up to where it read.
func (s *Service) changesAfter(ctx context.Context, bank memory.BankID, after uint64, limit int, out *wire.Page[memory.Change]) (uint64, error) {
	return ordered.Scan(ctx, s.conn, s.conn.Naming.Changes(), []string{s.conn.Naming.BankKind(bank, events.KindChange)}, after, func(e events.Event) error {
		if len(out.Items) == limit {
			out.Next = strconv.FormatUint(out.Items[limit-1].Seq, 10)
			return ordered.ErrSkipRest
		}
		var c memory.Change
		if err := json.Unmarshal(e.Data, &c); err != nil {
			return nil // not a change event
		}
		c.Seq, c.What = e.Seq, e.What
		out.Items = append(out.Items, c)
		return nil
	})
}

const (
	outboxPatience = time.Second           // a publisher that is away delays Changes no longer
	outboxPause    = 10 * time.Millisecond // between two looks at the outbox
	receivedPause  = 5 * time.Millisecond  // between two looks for a change that was received
)

// awaitOutbox waits until the changes that are in the outbox now have been published, for outboxPatience at most. The
// broker passes an event on to subscribers before the stream has stored it, and stores a batch only when it is complete;
// the event stays in the outbox until it is stored.
func (s *Service) awaitOutbox(ctx context.Context) error {
	first, err := s.store.Queues(ctx)
	if err != nil || !waits(first, first) {
		return err
	}
	pause := time.NewTicker(outboxPause)
	defer pause.Stop()
	for until := time.Now().Add(outboxPatience); time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		if now, err := s.store.Queues(ctx); err != nil || !waits(first, now) {
			return err
		}
	}
	return nil
}

// waits reports whether a change that was in an outbox at first still is.
func waits(first, now []verify.Queues) bool {
	for i, q := range now[:min(len(first), len(now))] {
		if q.Changes > 0 && q.FirstChange < first[i].FirstChange+int64(first[i].Changes) {
			return true
		}
	}
	return false
}
