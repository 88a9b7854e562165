package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// position is the stored position of a partition.
type position struct {
	Seq uint64 `json:"seq"`
}

// load reads the position and the sessions that have open messages. Other sessions are read with their next event.
func (p *partition) load(ctx context.Context) error {
	rec, err := p.bucket.Get(ctx, p.positionKey())
	if err != nil {
		return err
	}
	var pos position
	if rec.Value != nil {
		if err := json.Unmarshal(rec.Value, &pos); err != nil {
			return fmt.Errorf("read the position of partition %d: %w", p.part, err)
		}
	}
	p.position, p.seq = rec, pos.Seq
	p.metrics.lag.set(p.part, p.seq)
	p.position.Key = p.positionKey()
	last, err := p.deps.Conn.LastInPartition(ctx, p.part)
	if err != nil {
		return err
	}
	p.tried, p.caughtUp = last, last <= p.seq
	return p.bucket.Each(ctx, fmt.Sprintf("s.%d.>", p.part), func(r kv.Record) error {
		e, err := readEntry(r)
		if err == nil {
			p.restore(e)
		}
		return err
	})
}

// restore takes a state of a session as it was read. A server that lags may deliver an earlier state before the last one, which
// stands even if it has no open messages.
func (p *partition) restore(e *entry) {
	n := sessionName{e.Bank, e.Session.Session}
	if len(e.Open) == 0 {
		delete(p.sessions, n)
		delete(p.open, n)
		return
	}
	p.sessions[n], p.open[n] = e, e
}

func readEntry(r kv.Record) (*entry, error) {
	e := &entry{record: r}
	if err := json.Unmarshal(r.Value, &e.Session); err != nil {
		return nil, fmt.Errorf("read the session record %s: %w", r.Key, err)
	}
	return e, nil
}

// session returns a session as stored; a new one is empty.
func (p *partition) session(ctx context.Context, n sessionName) (*entry, error) {
	if e := p.sessions[n]; e != nil {
		return e, nil
	}
	r, err := p.bucket.Get(ctx, p.sessionKey(n))
	if err != nil {
		return nil, err
	}
	e := &entry{record: r, Session: Session{Bank: n.bank, Session: n.session}}
	if r.Value != nil {
		if e, err = readEntry(r); err != nil {
			return nil, err
		}
	}
	p.sessions[n] = e
	return e, nil
}

// limiter returns the limiter of a bank as stored; a new one has decided nothing.
func (p *partition) limiter(ctx context.Context, b memory.BankID) (*limited, error) {
	if l := p.limiters[b]; l != nil {
		return l, nil
	}
	r, err := p.bucket.Get(ctx, p.bankKey(b))
	if err != nil {
		return nil, err
	}
	l := &limited{record: r}
	if r.Value != nil {
		if err := json.Unmarshal(r.Value, &l.limiter); err != nil {
			return nil, fmt.Errorf("read the quota record %s: %w", r.Key, err)
		}
	}
	p.limiters[b] = l
	return l, nil
}

// profiles caches the profiles of banks for one second.
type profiles struct {
	conn   *events.Conn
	cached map[memory.BankID]profile
}

type profile struct {
	windows *memory.WindowSettings
	quota
	read time.Time
}

func (ps *profiles) of(ctx context.Context, b memory.BankID) (profile, error) {
	if p, ok := ps.cached[b]; ok && time.Since(p.read) < time.Second {
		return p, nil
	}
	bank, _, err := kv.Profile(ctx, ps.conn, b)
	if err != nil {
		return profile{}, err
	}
	if len(ps.cached) >= maxIdleSessions {
		clear(ps.cached)
	}
	read := profile{windows: bank.Windows, read: time.Now()}
	if bank.Quotas != nil {
		read.quota = quota{rate: bank.Quotas.MessagesPerSecond, bytes: bank.Quotas.Bytes}
	}
	ps.cached[b] = read
	return read, nil
}
