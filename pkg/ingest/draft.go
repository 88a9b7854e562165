package ingest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// draft is what a batch changes, before it is stored.
type draft struct {
	*partition
	sessions map[name]*drafted
	order    []name // of sessions, as their events came
	limiters map[memory.BankID]*limiter
	banks    []memory.BankID // of limiters, as their events came
	windows  []memory.Window
	letters  []events.DeadLetter
	counts   counts
}

// drafted is a session in a draft.
type drafted struct {
	Session
	base   *entry   // as it is stored
	cut    bool     // a window was cut
	chosen []Choice // settings chosen now
}

func newDraft(p *partition) *draft {
	return &draft{partition: p, sessions: map[name]*drafted{}, limiters: map[memory.BankID]*limiter{}}
}

// take decides what a batch does. Nothing is stored yet.
func (d *draft) take(ctx context.Context, batch []events.Event) error {
	barrier := d.tried
	for _, e := range batch {
		if err := d.takeOne(ctx, e, barrier); err != nil {
			return err
		}
	}
	d.tried = max(d.tried, batch[len(batch)-1].Seq)
	return nil
}

func (d *draft) takeOne(ctx context.Context, e events.Event, barrier uint64) error {
	if foreign(e) {
		d.counts.foreign++
		return nil
	}
	in, err := read(e, d.deps.CountTokens)
	if err != nil {
		d.letters = append(d.letters, d.deps.Conn.NewDeadLetter("ingest", e, err, d.deps.Now()))
		return nil
	}
	s, err := d.session(ctx, name{e.Bank, e.Session})
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

func (d *draft) session(ctx context.Context, n name) (*drafted, error) {
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

// settings gives what was decided for the event, or decides it.
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

// commit stores the draft, in the order that lets a crash come anywhere:
// decisions, windows, sessions, position.
func (d *draft) commit(ctx context.Context, last uint64) error {
	for _, l := range d.letters {
		if err := d.deps.Conn.PublishDead(ctx, l); err != nil {
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

// commitDecisions records what does not follow from the stream, before a
// window rests on it: the quotas' decisions, and the settings of sessions that
// begin or go on.
func (d *draft) commitDecisions(ctx context.Context) error {
	var records []events.Record
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
		if !s.cut || len(s.chosen) == 0 {
			continue
		}
		early := s.base.Session
		early.Chosen = append(early.Chosen[:len(early.Chosen):len(early.Chosen)], s.chosen...)
		r, err := record(s.base.record, d.sessionKey(n), early)
		if err != nil {
			return err
		}
		records = append(records, r)
		set = append(set, func(rev uint64) { s.base.record.Revision = rev })
	}
	return d.write(ctx, records, set)
}

func (d *draft) commitSessions(ctx context.Context) error {
	var records []events.Record
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
		set = append(set, func(rev uint64) { s.base.record.Revision = rev })
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
		return events.Stop(fmt.Errorf("move the position of partition %d to %d: %w", d.part, last, err))
	}
	d.position.Revision, d.seq = rev, last
	d.metrics.lag.stands(d.part, last)
	return nil
}

func (d *draft) write(ctx context.Context, records []events.Record, set []func(rev uint64)) error {
	if err := d.bucket.PutAll(ctx, records); err != nil {
		return again(err)
	}
	for i, r := range records {
		set[i](r.Revision)
	}
	return nil
}

func record(base events.Record, key string, v any) (events.Record, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return events.Record{}, fmt.Errorf("encode the record %s: %w", key, err)
	}
	return events.Record{Key: key, Value: body, Revision: base.Revision}, nil
}
