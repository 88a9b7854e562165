package faults

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Ledger keeps what was acknowledged: the sequence of each message id, by bank.
type Ledger struct {
	mu      sync.Mutex
	acked   map[memory.BankID]map[memory.MessageID]uint64
	retries atomic.Int64
}

// NewLedger is empty.
func NewLedger() *Ledger {
	return &Ledger{acked: map[memory.BankID]map[memory.MessageID]uint64{}}
}

// Retries counts the tries that were not acknowledged.
func (l *Ledger) Retries() int64 { return l.retries.Load() }

func (l *Ledger) enter(s Said, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acked[s.Bank] == nil {
		l.acked[s.Bank] = map[memory.MessageID]uint64{}
	}
	l.acked[s.Bank][s.ID] = seq
}

// publishers is how many publish at a time; a session belongs to one of them.
const publishers = 8

// Publish says a talk at so many messages a second (0 = as fast as it goes)
// and flushes each session at its end. What is not acknowledged is published
// again until it is, as a bot does; it returns when all of it is, or with ctx's error.
func (l *Ledger) Publish(ctx context.Context, c *client.Client, t Talk, perSecond float64) error {
	limit := rate.NewLimiter(rate.Inf, 1)
	if perSecond > 0 {
		limit = rate.NewLimiter(rate.Limit(perSecond), 1)
	}
	group, ctx := errgroup.WithContext(ctx)
	for p := range publishers {
		group.Go(func() error {
			longest := 0
			for _, s := range t.Sessions {
				longest = max(longest, len(s))
			}
			for i := range longest + 1 {
				for n := p; n < len(t.Sessions); n += publishers {
					if err := l.say(ctx, c, limit, t.Sessions[n], i); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// say publishes the message at i of a session, or the flush behind its last.
func (l *Ledger) say(ctx context.Context, c *client.Client, limit *rate.Limiter, session []Said, i int) error {
	if i > len(session) || len(session) == 0 {
		return nil
	}
	if i == len(session) {
		last := session[i-1]
		_, err := l.insist(ctx, func(ctx context.Context) (uint64, error) { return c.Flush(ctx, last.Bank, last.Session) })
		return err
	}
	if err := limit.Wait(ctx); err != nil {
		return err
	}
	s := session[i]
	seq, err := l.insist(ctx, func(ctx context.Context) (uint64, error) { return c.PublishBody(ctx, s.Bank, s.Session, s.Body) })
	if err != nil {
		return fmt.Errorf("publish %s: %w", s.ID, err)
	}
	l.enter(s, seq)
	return nil
}

// insist tries until it is acknowledged.
func (l *Ledger) insist(ctx context.Context, send func(context.Context) (uint64, error)) (uint64, error) {
	for {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		seq, err := send(try)
		cancel()
		if err == nil {
			return seq, nil
		}
		l.retries.Add(1)
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("not acknowledged: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
