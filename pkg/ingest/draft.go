package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// draft collects what a batch changes before it is stored.
type draft struct {
	*partition
	sessions map[sessionName]*drafted
	order    []sessionName // of sessions, in the order of their first events
	limiters map[memory.BankID]*limiter
	banks    []memory.BankID // of limiters, in the order of their first events
	windows  []memory.Window
	letters  []memory.DeadLetter
	counts   counts
}

// drafted is a session in a draft.
type drafted struct {
	Session
	base   *entry   // as stored
	cut    bool     // a window was cut
	chosen []Choice // settings chosen by this batch
}

func newDraft(p *partition) *draft {
	return &draft{partition: p, sessions: map[sessionName]*drafted{}, limiters: map[memory.BankID]*limiter{}}
}

// add decides what a batch does. It stores nothing.
func (d *draft) add(ctx context.Context, batch []events.Event) error {
	barrier := d.tried
	for _, e := range batch {
		if err := d.addEvent(ctx, e, barrier); err != nil {
			return err
		}
	}
	d.tried = max(d.tried, batch[len(batch)-1].Seq)
	return nil
}

func (d *draft) addEvent(ctx context.Context, e events.Event, barrier uint64) error {
	if foreign(e) {
		d.counts.foreign++
		return nil
	}
	in, err := decode(e, d.deps.CountTokens)
	if err != nil {
		d.letters = append(d.letters, deadletter.New("ingest", e, err, d.deps.Now()))
		return nil
	}
	s, err := d.session(ctx, sessionName{e.Bank, e.Session})
	if err != nil {
		return err
	}
	bank, err := d.profiles.of(ctx, e.Bank)
	if err != nil {
		return err
	}
	if !in.Flush {
		if in.Throttled, err = d.throttled(ctx, e.Bank, in, bank.quota, barrier); err != nil {
			return err
		}
	}
	if !in.Flush && in.Seq > s.Last && s.Settings == nil {
		s.Settings = d.settings(s, in.Seq, bank)
	}
	set := d.cfg.Settings
	if s.Settings != nil {
		set = *s.Settings
	}
	before := s.Last
	next, windows := Cut(s.Session, in, set)
	s.Session, s.cut = next, s.cut || len(windows) > 0
	d.windows = append(d.windows, windows...)
	if in.Seq > before {
		d.keepTrace(e)
		d.counts.event(in, set, windows)
	}
	return nil
}

func (d *draft) session(ctx context.Context, n sessionName) (*drafted, error) {
	if s := d.sessions[n]; s != nil {
		return s, nil
	}
	base, err := d.partition.session(ctx, n)
	if err != nil {
		return nil, err
	}
	s := &drafted{Session: base.Session, base: base}
	d.sessions[n] = s
	d.order = append(d.order, n)
	return s, nil
}

// settings returns the settings that were chosen for the event before, or chooses them.
func (d *draft) settings(s *drafted, seq uint64, bank profile) *Settings {
	for _, c := range s.base.Chosen {
		if c.Seq == seq {
			return &c.Settings
		}
	}
	set := d.cfg.Settings.For(bank.windows)
	s.chosen = append(s.chosen, Choice{seq, set})
	return &set
}

func (d *draft) throttled(ctx context.Context, b memory.BankID, in Event, q quota, barrier uint64) (bool, error) {
	l := d.limiters[b]
	if l == nil {
		base, err := d.limiter(ctx, b)
		if err != nil {
			return false, err
		}
		copied := base.limiter
		copied.forget(d.seq)
		l = &copied
		d.limiters[b] = l
		d.banks = append(d.banks, b)
	}
	return l.decide(in, q, barrier, func() (int64, error) { return d.stored(ctx, b, in.Seq) })
}

// commit stores the draft in the order that makes it safe to crash at any point: decisions, windows, sessions,
// position.
func (d *draft) commit(ctx context.Context, last uint64) error {
	for _, l := range d.letters {
		if err := deadletter.Publish(ctx, d.deps.Conn, l); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"decisions", d.commitDecisions},
		{"windows", d.publishWindows},
		{"sessions", d.commitSessions},
		{"position", func(ctx context.Context) error { return d.commitPosition(ctx, last) }},
	} {
		if err := d.at("before " + step.name); err != nil {
			return err
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	if err := d.at("after position"); err != nil {
		return err
	}
	d.keep()
	return nil
}

// commitDecisions stores what does not follow from the stream before a window depends on it: the decisions of quotas,
// and the settings of sessions that begin or continue. The state of a session that was read is stored as it is: a server that
// lags, or was parted from the others, may have answered with an earlier one, whose windows would be others. The broker
// refuses that one.
func (d *draft) commitDecisions(ctx context.Context) error {
	var records []kv.Record
	var set []func(rev uint64)
	for _, b := range d.banks {
		l, base := d.limiters[b], d.partition.limiters[b]
		if l.Last == base.Last && len(l.Throttled) == len(base.Throttled) {
			continue
		}
		r, err := record(base.record, d.bankKey(b), l)
		if err != nil {
			return err
		}
		records = append(records, r)
		set = append(set, func(rev uint64) { base.record.Revision = rev })
	}
	for _, n := range d.order {
		s := d.sessions[n]
		if !s.cut || len(s.chosen) == 0 && s.base.latest {
			continue
		}
		early := s.base.Session
		early.Chosen = append(early.Chosen[:len(early.Chosen):len(early.Chosen)], s.chosen...)
		r, err := record(s.base.record, d.sessionKey(n), early)
		if err != nil {
			return err
		}
		records = append(records, r)
		set = append(set, s.base.stored)
	}
	return d.write(ctx, records, set)
}

func (d *draft) commitSessions(ctx context.Context) error {
	var records []kv.Record
	var set []func(rev uint64)
	for _, n := range d.order {
		s := d.sessions[n]
		if s.Last == s.base.Last {
			continue
		}
		s.Chosen = nil
		for _, c := range s.base.Chosen {
			if c.Seq > s.Last {
				s.Chosen = append(s.Chosen, c)
			}
		}
		r, err := record(s.base.record, d.sessionKey(n), s.Session)
		if err != nil {
			return err
		}
		records = append(records, r)
		set = append(set, s.base.stored)
	}
	return d.write(ctx, records, set)
}

func (d *draft) commitPosition(ctx context.Context, last uint64) error {
	r, err := record(d.position, d.positionKey(), position{last})
	if err != nil {
		return err
	}
	rev, err := d.bucket.Put(ctx, r)
	if err != nil {
		return ordered.Stop(fmt.Errorf("move the position of partition %d to %d: %w", d.part, last, err))
	}
	d.position.Revision, d.seq = rev, last
	d.metrics.lag.set(d.part, last)
	return nil
}

func (d *draft) write(ctx context.Context, records []kv.Record, set []func(rev uint64)) error {
	if err := d.bucket.PutAll(ctx, records); err != nil {
		return retryable(err)
	}
	for i, r := range records {
		set[i](r.Revision)
	}
	return nil
}

func record(base kv.Record, key string, v any) (kv.Record, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return kv.Record{}, fmt.Errorf("encode the record %s: %w", key, err)
	}
	return kv.Record{Key: key, Value: body, Revision: base.Revision}, nil
}

// keep makes the draft, which is stored now, the state in memory.
func (d *draft) keep() {
	for _, n := range d.order {
		s := d.sessions[n]
		s.base.Session = s.Session
		if len(s.Open) > 0 {
			d.open[n] = s.base
		} else {
			delete(d.open, n)
		}
	}
	for _, b := range d.banks {
		d.partition.limiters[b].limiter = *d.limiters[b]
	}
	for _, w := range d.windows {
		for _, m := range w.New {
			delete(d.partition.traces, m.Seq)
		}
	}
	d.metrics.add(d.counts, len(d.letters))
}

// drop removes from the cache what the draft changed. Because it is unknown how much of the draft was stored, it is
// read again.
func (d *draft) drop() {
	for _, n := range d.order {
		delete(d.partition.sessions, n)
		delete(d.open, n)
	}
	for _, b := range d.banks {
		delete(d.partition.limiters, b)
	}
}

// retryable turns the conflict of a state that another owner, or this one before a crash, has written into an error
// that is retried. Only a conflict of the position makes an owner stop.
func retryable(err error) error {
	if errors.Is(err, memory.ErrConflict) {
		return fmt.Errorf("%w: %s", memory.ErrUnavailable, err.Error())
	}
	return err
}
