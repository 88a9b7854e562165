package ingest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// partition is the work of a partition's owner.
type partition struct {
	*Ingest
	part   int
	bucket events.Bucket
	log    zerolog.Logger

	position events.Record // of the partition
	seq      uint64        // what it says: every event up to it is included
	tried    uint64        // last event of any batch begun, here or by an owner before
	profiles profiles

	mu       sync.Mutex // of what follows; the reader and the idle loop share it
	sessions map[name]*entry
	open     map[name]*entry // those of sessions with open messages
	limiters map[memory.BankID]*limited
	traces   map[uint64]string // trace contexts of open messages, by sequence; "" = it came without one
	caughtUp bool              // no event was waiting when the last batch came
	stored   time.Time         // when the last event read was stored
}

// name is a session of a bank.
type name struct {
	bank    memory.BankID
	session memory.SessionID
}

// entry is a session as it is stored.
type entry struct {
	Session
	record  events.Record
	flushed uint64 // last message for which an idle flush was published
}

// limited is a bank's limiter as it is stored.
type limited struct {
	limiter
	record events.Record
}

func newPartition(i *Ingest, part int) *partition {
	return &partition{
		Ingest: i, part: part, bucket: i.deps.Conn.Bucket(i.deps.Conn.Naming.IngestBucket()),
		log:      i.deps.Log.With().Str("stage", "ingest").Int("partition", part).Logger(),
		profiles: profiles{conn: i.deps.Conn, known: map[memory.BankID]profile{}},
		sessions: map[name]*entry{}, open: map[name]*entry{}, limiters: map[memory.BankID]*limited{},
		traces: map[uint64]string{},
	}
}

// run reads the partition from its position until ctx ends, which is nil, or
// another owner is at work, which is memory.ErrConflict.
func (p *partition) run(ctx context.Context) error {
	if err := p.load(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	idle, stop := context.WithCancel(ctx)
	g.Go(func() error {
		defer stop()
		return p.deps.Conn.ReadOrdered(ctx, events.OrderedConfig{
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

// handle takes a batch of events: it decides, publishes the windows, and
// writes the state. It may be called again with the same batch.
func (p *partition) handle(ctx context.Context, batch []events.Event) (err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			p.metrics.Retries.Add(1)
			return
		}
		p.metrics.seconds.Observe(time.Since(began).Seconds())
	}()
	// A batch that was begun is finished, though its owner is to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	d := newDraft(p)
	if err := d.take(ctx, batch); err != nil {
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

// maxIdleSessions is how many sessions with nothing open a partition keeps in memory.
const maxIdleSessions = 10_000

// evict lets go of sessions that can be read again.
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

func (p *partition) sessionKey(n name) string {
	return fmt.Sprintf("s.%d.%s.%s", p.part, events.Key(string(n.bank)), events.Key(string(n.session)))
}

func (p *partition) bankKey(b memory.BankID) string {
	return fmt.Sprintf("b.%d.%s", p.part, events.Key(string(b)))
}

// at is called between the steps of a batch.
func (p *partition) at(step string) error {
	if p.step == nil {
		return nil
	}
	return p.step(step)
}
