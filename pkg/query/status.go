package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	queue "github.com/eunoe-memory/eunoe/pkg/events/work"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Status returns how far a bank is processed and what it holds. Whoever asks while it is counted gets, with all others who
// do, what is counted after that: everything that was acknowledged before a request is in its reply.
func (s *Service) Status(ctx context.Context, bank memory.BankID, _ wire.StatusRequest) (wire.Status, error) {
	return s.statuses.get(ctx, bank, func() (wire.Status, error) { return s.status(ctx, bank) })
}

func (s *Service) status(ctx context.Context, bank memory.BankID) (wire.Status, error) {
	st := wire.Status{Waiting: []wire.Waiting{}, Answers: s.answers}
	var lastWrite uint64
	var windows queue.Unended
	if s.conn != nil {
		var err error
		if windows, err = queue.CountUnended(ctx, s.conn, bank); err != nil { // before the last write: a window that ends meanwhile is counted in either
			return st, err
		}
		if st.Messages.Last, err = s.conn.LastMessage(ctx, bank); err != nil {
			return st, err
		}
		if lastWrite, err = s.conn.LastWrite(ctx, bank); err != nil {
			return st, err
		}
		if st.Dead, err = deadletter.Count(ctx, s.conn, bank); err != nil {
			return st, err
		}
	}
	messages, writes, err := s.read(ctx, bank, &st)
	if err != nil {
		return st, err
	}
	if err := s.unapplied(ctx, bank, messages, writes, lastWrite, &st); err != nil {
		return st, err
	}
	settled := func() bool {
		st.Windows = wire.Pending{Pending: windows.Queued + windows.Parked, Parked: windows.Parked}
		return st.Conservation.Pending == 0 && st.Windows.Pending == 0 && messages >= st.Messages.Last && writes >= lastWrite
	}
	st.Settled = settled()
	if st.Settled && s.conn != nil { // a window may have been cut since they were counted
		if windows, err = windows.Recount(ctx, s.conn, bank); err != nil {
			return st, err
		}
		st.Settled = settled()
	}
	return st, nil
}

// read fills in what the store holds, and returns how far the bank is applied. A bank whose messages wait to be applied is
// not there yet; one whose messages are applied was erased.
func (s *Service) read(ctx context.Context, bank memory.BankID, st *wire.Status) (messages, writes uint64, err error) {
	now := s.now()
	fill := func(r Reader) error {
		var err error
		if messages, writes, err = r.Applied(); err != nil {
			return err
		}
		return s.accounts(r, st, now)
	}
	if err = s.store.Read(ctx, bank, fill); !errors.Is(err, memory.ErrNotFound) || st.Messages.Last == 0 {
		return messages, writes, err
	}
	if messages, writes, err = s.store.AppliedOf(ctx, bank); err != nil || messages < st.Messages.Last {
		return messages, writes, err
	}
	return messages, writes, s.store.Read(ctx, bank, fill) // it may have been made since the first look
}

// accounts fills in what the store counts.
func (s *Service) accounts(r Reader, st *wire.Status, now time.Time) error {
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
	if st.Decisions.Pending, err = r.PendingQuestions(memory.PendingDecide); err != nil {
		return err
	}
	b, err := r.Bank()
	if err != nil {
		return err
	}
	idle := s.idleAfter(b)
	sessions, err := r.Pending(1000)
	if err != nil {
		return err
	}
	for _, p := range sessions {
		if age := now.Sub(p.Oldest); age > time.Duration(st.Lag) {
			st.Lag = memory.Duration(age.Truncate(time.Millisecond))
		}
		if until := p.Newest.Add(idle); until.After(now) {
			st.Waiting = append(st.Waiting, wire.Waiting{Session: p.Session, Messages: p.Messages, Until: until})
		}
	}
	return nil
}

// readBacklog is the backlog of messages up to which status reads each of them, and so leaves out what is no message.
// A larger one is counted by the broker. Of fewBacklog each costs one request, and no consumer is made.
const (
	readBacklog = 100
	fewBacklog  = 3
)

// unapplied adds the messages and writes that the streams hold and the store has not applied yet.
func (s *Service) unapplied(ctx context.Context, bank memory.BankID, messages, writes, lastWrite uint64, st *wire.Status) error {
	if s.conn == nil {
		return nil
	}
	if messages < st.Messages.Last {
		if err := s.unappliedMessages(ctx, bank, messages, st); err != nil {
			return fmt.Errorf("count the messages of bank %q: %w", string(bank), err)
		}
	}
	if writes < lastWrite {
		n, err := ordered.Count(ctx, s.conn, s.conn.Naming.Writes(), []string{s.conn.Naming.BankKind(bank, events.KindWrite)}, writes)
		if err != nil {
			return fmt.Errorf("count the writes of bank %q: %w", string(bank), err)
		}
		st.Writes.Pending += int(n)
	}
	return nil
}

func (s *Service) unappliedMessages(ctx context.Context, bank memory.BankID, after uint64, st *wire.Status) error {
	stream, subject, now := s.conn.Naming.Messages(), s.conn.Naming.StoredOf(bank, events.KindMessage), s.now()
	add := func(n int, oldest time.Time) {
		st.Conservation.Published += n
		st.Conservation.Pending += n
		if age := now.Sub(oldest); age > time.Duration(st.Lag) {
			st.Lag = memory.Duration(age.Truncate(time.Millisecond))
		}
	}
	few, err := s.fewBetween(ctx, stream, subject, after, st.Messages.Last)
	if err != nil {
		return err
	}
	if len(few) <= fewBacklog {
		for _, e := range few {
			if !memory.IsForeign(e.Data) {
				add(1, e.Stored)
			}
		}
		return nil
	}
	n, err := ordered.Count(ctx, s.conn, stream, []string{subject}, after)
	if err != nil {
		return err
	}
	if n <= readBacklog {
		_, err := ordered.Scan(ctx, s.conn, stream, []string{subject}, after, func(e events.Event) error {
			if !memory.IsForeign(e.Data) {
				add(1, e.Stored)
			}
			return nil
		})
		return err
	}
	oldest, err := s.conn.NextEvent(ctx, stream, subject, after+1)
	if err == nil || errors.Is(err, memory.ErrNotFound) {
		add(int(n), cmp.Or(oldest.Stored, now))
		err = nil
	}
	return err
}

// fewBetween returns the events of a stream that match a filter, come after a sequence and not after last. Where there are
// more than fewBacklog, it returns one more than that.
func (s *Service) fewBetween(ctx context.Context, stream, filter string, after, last uint64) (few []events.Event, err error) {
	for after < last && len(few) <= fewBacklog {
		e, err := s.conn.NextEvent(ctx, stream, filter, after+1)
		if errors.Is(err, memory.ErrNotFound) { // the last one was erased meanwhile
			return few, nil
		}
		if err != nil {
			return nil, err
		}
		if after = e.Seq; after <= last {
			few = append(few, e)
		}
	}
	return few, nil
}
