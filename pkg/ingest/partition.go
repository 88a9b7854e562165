package ingest

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// partition is the state of the owner of one partition.
type partition struct {
	*Ingest
	part   int
	bucket kv.Bucket
	log    zerolog.Logger

	position kv.Record // of the partition
	seq      uint64    // its value: all events up to it are included in the state
	tried    uint64    // last event of any batch that was begun, here or by an earlier owner
	profiles profiles

	mu       sync.Mutex // guards the fields below, which the reader and watchIdle share
	sessions map[sessionName]*entry
	open     map[sessionName]*entry // the sessions that have open messages
	limiters map[memory.BankID]*limited
	traces   map[uint64]string // trace contexts of open messages by sequence; "" = none
	caughtUp bool              // no event was pending after the last batch
	stored   time.Time         // stream time of the last event
}

// sessionName identifies a session of a bank.
type sessionName struct {
	bank    memory.BankID
	session memory.SessionID
}

// entry is a session as stored.
type entry struct {
	Session
	record  kv.Record
	latest  bool   // this owner wrote the record, which is no earlier one then
	flushed uint64 // last message for which an idle flush was published
}

// stored notes the revision of the record that this owner wrote.
func (e *entry) stored(revision uint64) { e.record.Revision, e.latest = revision, true }

// limited is the limiter of a bank as stored.
type limited struct {
	limiter
	record kv.Record
}

func newPartition(i *Ingest, part int) *partition {
	return &partition{
		Ingest: i, part: part, bucket: kv.Open(i.deps.Conn, i.deps.Conn.Naming.IngestBucket()),
		log:      i.deps.Log.With().Str("stage", "ingest").Int("partition", part).Logger(),
		profiles: profiles{conn: i.deps.Conn, cached: map[memory.BankID]profile{}},
		sessions: map[sessionName]*entry{}, open: map[sessionName]*entry{}, limiters: map[memory.BankID]*limited{},
		traces: map[uint64]string{},
	}
}

// run reads the partition from its position. It returns nil when ctx ends, and memory.ErrConflict if another owner is
// active.
func (p *partition) run(ctx context.Context) error {
	if err := p.load(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return p.follow(ctx)
}

// follow reads the partition from the position that was loaded.
func (p *partition) follow(ctx context.Context) error {
	p.metrics.Partitions.Add(1)
	defer p.metrics.Partitions.Add(-1)
	g, ctx := errgroup.WithContext(ctx)
	idle, stop := context.WithCancel(ctx)
	g.Go(func() error {
		defer stop()
		return ordered.Read(ctx, p.deps.Conn, ordered.Config{
			Stream:   p.deps.Conn.Naming.Messages(),
			Subjects: []string{p.deps.Conn.Naming.StoredMessages(p.part)},
			After:    p.seq, MaxBatch: p.cfg.MaxBatch,
		}, p.handle)
	})
	g.Go(func() error {
		p.watchIdle(idle)
		return nil
	})
	return g.Wait()
}

// handle decides what a batch of events does, publishes the windows and writes the state. It may be called again with
// the same batch.
func (p *partition) handle(ctx context.Context, batch []events.Event) (err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			p.metrics.Retries.Add(1)
			return
		}
		p.metrics.seconds.Observe(time.Since(began).Seconds())
	}()
	// A batch that has begun is completed, even if ctx ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	d := newDraft(p)
	if err := d.add(ctx, batch); err != nil {
		return err
	}
	last := batch[len(batch)-1]
	if err := d.commit(ctx, last.Seq); err != nil {
		d.drop()
		return err
	}
	p.caughtUp, p.stored = last.Pending == 0, last.Stored
	p.evict()
	return nil
}

// maxIdleSessions bounds the sessions without open messages that are cached.
const maxIdleSessions = 10_000

// evict drops cached sessions, which can be read again, when there are too many.
func (p *partition) evict() {
	if len(p.sessions)-len(p.open) <= maxIdleSessions {
		return
	}
	for n := range p.sessions {
		if p.open[n] == nil {
			delete(p.sessions, n)
		}
	}
	clear(p.limiters)
}

func (p *partition) positionKey() string { return "p." + strconv.Itoa(p.part) }

func (p *partition) sessionKey(n sessionName) string {
	return fmt.Sprintf("s.%d.%s.%s", p.part, events.Key(string(n.bank)), events.Key(string(n.session)))
}

func (p *partition) bankKey(b memory.BankID) string {
	return fmt.Sprintf("b.%d.%s", p.part, events.Key(string(b)))
}

// at calls the hook of tests between the steps of a batch.
func (p *partition) at(step string) error {
	if p.step == nil {
		return nil
	}
	return p.step(step)
}

// watchIdle publishes a flush for each session whose messages have waited for longer than its idle time, until ctx
// ends. The flush is an event of the stream, so a replay cuts the same windows. It names the last message of the
// session and is void if a later message precedes it.
func (p *partition) watchIdle(ctx context.Context) {
	// All partitions look at the same moments, so that a process without work seldom wakes.
	if now := time.Now(); !events.Sleep(ctx, now.Truncate(p.cfg.IdleTick).Add(p.cfg.IdleTick).Sub(now)) {
		return
	}
	t := time.NewTicker(p.cfg.IdleTick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, i := range p.idle() {
			if _, err := p.deps.Conn.PublishFlush(ctx, i.bank, i.session, memory.Flush{Upto: i.upto}); err != nil {
				if ctx.Err() == nil {
					p.log.Warn().Err(err).Str("bank", string(i.bank)).Str("session", string(i.session)).Msg("an idle session waits to be flushed")
				}
				break
			}
			p.metrics.IdleFlushes.Add(1)
			p.flushed(i)
		}
	}
}

type idleSession struct {
	sessionName
	upto uint64
}

// idle returns the sessions to flush. While events are pending it measures by stream time, because a session that looks
// idle may have messages among them.
func (p *partition) idle() []idleSession {
	if !p.mu.TryLock() {
		return nil // a batch is being handled
	}
	defer p.mu.Unlock()
	now := p.deps.Now()
	if !p.caughtUp {
		now = p.stored
	}
	var list []idleSession
	for n, e := range p.open {
		set := p.cfg.Settings
		if e.Settings != nil {
			set = *e.Settings
		}
		after := time.Duration(set.IdleAfter)
		if after > 0 && e.flushed < e.Message && now.Sub(e.At) >= after {
			list = append(list, idleSession{n, e.Message})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].upto < list[j].upto })
	return list
}

func (p *partition) flushed(i idleSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.open[i.sessionName]; e != nil {
		e.flushed = max(e.flushed, i.upto)
	}
}
