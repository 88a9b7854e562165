package ingest

import (
	"context"
	"sort"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// watchIdle publishes a flush for each session whose messages wait for longer
// than its idle time, until ctx ends. The flush stands in the stream, so a
// replay cuts alike; it names the last message it knows of and is void when
// another stands before it.
func (p *partition) watchIdle(ctx context.Context) {
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
	name
	upto uint64
}

// idle lists the sessions to flush. While events wait to be read, these are
// only the ones that were silent for long enough by the stream's own time:
// others may not be as idle as they look.
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
	if e := p.open[i.name]; e != nil {
		e.flushed = max(e.flushed, i.upto)
	}
}
