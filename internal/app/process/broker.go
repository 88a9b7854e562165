package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// brokerInterval is how often the broker is looked at: a lost bucket of leases is there again before a second lease
// could have been taken.
const brokerInterval = time.Second

// watchBroker makes streams and buckets anew that the broker loses while the process runs, and looks at the leases,
// until ctx ends. The process is ready only while all streams are there.
func (p *Process) watchBroker(ctx context.Context) error {
	r := events.NewRestorer(p.Conn)
	tick := time.NewTicker(brokerInterval)
	defer tick.Stop()
	told := ""
	for {
		err := r.Restore(ctx)
		if ctx.Err() != nil {
			return nil
		}
		p.streams.set(err)
		for _, look := range p.ticks {
			look(ctx)
		}
		switch {
		case err == nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			p.Log.Error().Err(err).Msg("the streams are not as they should be")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// lastError is the outcome of what is tried again and again.
type lastError struct {
	mu  sync.Mutex
	err error
}

func (l *lastError) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// takeoverTime is longer than a consolidator takes over from one that died.
const takeoverTime = 3 * events.LeaseTTL

// CheckLog makes the process ready only while the log is the one that the stores of all shards were made from, and is applied
// by as many, and returns a function that says why it is not; nil = it is.
func (p *Process) CheckLog(stores ...events.LogStore) func() error {
	var state lastError
	look := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, brokerInterval)
		defer cancel()
		// A broker or a store that does not answer is told by checks of its own, and says nothing about the log.
		differs := p.Conn.CheckShards(ctx, len(stores))
		if differs != nil && !errors.Is(differs, memory.ErrConflict) {
			return
		}
		for _, store := range stores {
			_, _, err := p.Conn.CheckLog(ctx, store)
			if err != nil && !errors.Is(err, memory.ErrConflict) {
				return
			}
			differs = errors.Join(differs, err)
		}
		state.set(differs)
	}
	look(context.Background())
	p.ticks = append(p.ticks, look)
	p.Check("log", func(context.Context) error { return state.get() })
	return state.get
}

// CheckHeld makes the process ready only while somebody holds the lease of a key, but for the time that a takeover may
// take. without says what it means that nobody does.
func (p *Process) CheckHeld(key, without string) {
	seen := time.Now()
	var state lastError
	p.ticks = append(p.ticks, func(ctx context.Context) {
		owner, err := lease.Holder(ctx, p.Conn, key)
		since := time.Since(seen)
		switch {
		case owner != "":
			seen = time.Now()
			state.set(nil)
		case since > takeoverTime:
			state.set(errors.Join(fmt.Errorf("%s: its lease is free for %s", without, since.Truncate(time.Second)), err))
		}
	})
	p.Check(key, func(context.Context) error { return state.get() })
}
