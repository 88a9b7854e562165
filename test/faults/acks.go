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

// Acks records the acknowledged publishes: the sequence of each message id, by bank. It is safe for concurrent use.
type Acks struct {
	mu      sync.Mutex
	acked   map[memory.BankID]map[memory.MessageID]uint64
	retries atomic.Int64
}

// NewAcks returns a record without any.
func NewAcks() *Acks {
	return &Acks{acked: map[memory.BankID]map[memory.MessageID]uint64{}}
}

// Retries returns how many publishes were not acknowledged and were tried again.
func (l *Acks) Retries() int64 { return l.retries.Load() }

func (l *Acks) record(s Message, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acked[s.Bank] == nil {
		l.acked[s.Bank] = map[memory.MessageID]uint64{}
	}
	l.acked[s.Bank][s.ID] = seq
}

// publishers is how many goroutines publish; each session belongs to one of them.
const publishers = 8

// Publish publishes traffic at a rate of messages a second (0 = as fast as possible) and flushes each session at its
// end. What is not acknowledged is published again until it is, as a bot does. It returns when everything is
// acknowledged, or with the error of ctx.
func (l *Acks) Publish(ctx context.Context, c *client.Client, t Traffic, perSecond float64) error {
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
					if err := l.publishNext(ctx, c, limit, t.Sessions[n], i); err != nil {
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
func (l *Acks) publishNext(ctx context.Context, c *client.Client, limit *rate.Limiter, session []Message, i int) error {
	if i > len(session) || len(session) == 0 {
		return nil
	}
	if i == len(session) {
		last := session[i-1]
		_, err := l.untilAcknowledged(ctx, func(ctx context.Context) (uint64, error) { return c.Flush(ctx, last.Bank, last.Session) })
		return err
	}
	if err := limit.Wait(ctx); err != nil {
		return err
	}
	s := session[i]
	seq, err := l.untilAcknowledged(ctx, func(ctx context.Context) (uint64, error) { return c.PublishBody(ctx, s.Bank, s.Session, s.Body) })
	if err != nil {
		return fmt.Errorf("publish %s: %w", s.ID, err)
	}
	l.record(s, seq)
	return nil
}

// FlushAgain flushes every session once more, for what a frozen broker passed on behind the first flush.
func (l *Acks) FlushAgain(ctx context.Context, c *client.Client, t Traffic) error {
	for _, s := range append(t.Sessions, []Message{{Bank: ProbeBank, Session: probeSession}}) {
		if len(s) == 0 {
			continue
		}
		if _, err := l.untilAcknowledged(ctx, func(ctx context.Context) (uint64, error) { return c.Flush(ctx, s[0].Bank, s[0].Session) }); err != nil {
			return err
		}
	}
	return nil
}

// untilAcknowledged tries until it is acknowledged.
func (l *Acks) untilAcknowledged(ctx context.Context, send func(context.Context) (uint64, error)) (uint64, error) {
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
