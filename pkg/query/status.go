package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// StatusRequest asks for a bank's status; it has no fields.
type StatusRequest struct{}

// Status says where a bank stands.
func (s *Service) Status(ctx context.Context, bank memory.BankID, _ StatusRequest) (memory.Status, error) {
	st := memory.Status{Waiting: []memory.Waiting{}}
	var lastWrite uint64
	if s.conn != nil {
		var err error
		if st.Windows, err = s.windows(ctx, bank); err != nil { // before the last write: a window that ends meanwhile is in the one or the other
			return st, err
		}
		if st.Messages.Last, err = s.conn.LastMessage(ctx, bank); err != nil {
			return st, err
		}
		if lastWrite, err = s.conn.LastWrite(ctx, bank); err != nil {
			return st, err
		}
		if st.Dead, err = s.conn.CountDead(ctx, bank); err != nil {
			return st, err
		}
	}
	var messages, writes uint64
	now := s.now()
	err := s.store.Read(ctx, bank, func(r Reader) error {
		var err error
		if messages, writes, err = r.Applied(); err != nil {
			return err
		}
		return accounts(r, &st, now, s.cfg.IdleAfter)
	})
	if errors.Is(err, memory.ErrNotFound) && st.Messages.Last > 0 {
		// Published and not applied: a bank to be. Applied and not there: erased.
		missing := err
		if messages, writes, err = s.store.Applied(ctx); err == nil && messages >= st.Messages.Last {
			err = missing
		}
	}
	if err != nil {
		return st, err
	}
	if err := s.unapplied(ctx, bank, messages, writes, lastWrite, &st); err != nil {
		return st, err
	}
	st.Settled = st.Conservation.Pending == 0 && st.Windows.Pending == 0 && messages >= st.Messages.Last && writes >= lastWrite
	if st.Settled && s.conn != nil { // a window may have been cut and ended since they were counted, and not be done with
		if st.Windows, err = s.windows(ctx, bank); err != nil {
			return st, err
		}
		st.Settled = st.Windows.Pending == 0
	}
	return st, nil
}

// windows counts the windows of a bank that are not ended. The queue is asked
// before and after what is parked, so that one that moves is not missed; it may
// be counted twice for a moment.
func (s *Service) windows(ctx context.Context, bank memory.BankID) (memory.Pending, error) {
	before, err := s.conn.PendingWindows(ctx, bank)
	if err != nil {
		return memory.Pending{}, err
	}
	parked, err := s.conn.CountParked(ctx, bank)
	if err != nil {
		return memory.Pending{}, err
	}
	after, err := s.conn.PendingWindows(ctx, bank)
	return memory.Pending{Pending: max(before, after) + parked, Parked: parked}, err
}

func accounts(r Reader, st *memory.Status, now time.Time, idle time.Duration) error {
	var err error
	if st.Conservation, err = r.Conservation(); err != nil {
		return err
	}
	st.Messages.Throttled = st.Conservation.Throttled
	tally, err := r.Tally()
	if err != nil {
		return err
	}
	st.Facts, st.Composites, st.Observations, st.Entities = tally.Facts, tally.Composites, tally.Observations, tally.Entities
	if st.Usage, err = r.Usage(); err != nil {
		return err
	}
	if st.Decisions.Pending, err = r.PendingDecisions(); err != nil {
		return err
	}
	b, err := r.Bank()
	if err != nil {
		return err
	}
	if b.Windows != nil && b.Windows.IdleAfter != nil {
		idle = time.Duration(*b.Windows.IdleAfter)
	}
	sessions, err := r.Pending(1000)
	if err != nil {
		return err
	}
	for _, p := range sessions {
		if age := now.Sub(p.Oldest); age > time.Duration(st.Lag) {
			st.Lag = memory.Duration(age.Truncate(time.Millisecond))
		}
		if until := p.Newest.Add(idle); until.After(now) {
			st.Waiting = append(st.Waiting, memory.Waiting{Session: p.Session, Messages: p.Messages, Until: until})
		}
	}
	return nil
}

// unapplied counts what stands in the streams after what the store has
// applied: those messages and writes are pending.
func (s *Service) unapplied(ctx context.Context, bank memory.BankID, messages, writes, lastWrite uint64, st *memory.Status) error {
	if s.conn == nil {
		return nil
	}
	now := s.now()
	if messages < st.Messages.Last {
		_, err := s.conn.Scan(ctx, s.conn.Naming.Messages(), []string{s.conn.Naming.StoredOf(bank, events.KindMessage)}, messages, func(e events.Event) error {
			if memory.IsForeign(e.Data) {
				return nil
			}
			st.Conservation.Published++
			st.Conservation.Pending++
			if age := now.Sub(e.Stored); age > time.Duration(st.Lag) {
				st.Lag = memory.Duration(age.Truncate(time.Millisecond))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("count the messages of bank %q: %w", string(bank), err)
		}
	}
	if writes < lastWrite {
		_, err := s.conn.Scan(ctx, s.conn.Naming.Writes(), []string{s.conn.Naming.BankKind(bank, events.KindWrite)}, writes, func(events.Event) error {
			st.Writes.Pending++
			return nil
		})
		if err != nil {
			return fmt.Errorf("count the writes of bank %q: %w", string(bank), err)
		}
	}
	return nil
}
