package consolidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// publishChanges sends what commits left in the outbox, oldest first. An entry
// leaves the outbox after the broker acknowledged it: after a crash a change
// may come twice, with the same id. A change that follows others closely waits
// for 20 ms, and as long as sending those took if that is more, up to 250 ms: taking
// entries out is a transaction of its own, which the applier waits for.
func (c *Consolidator) publishChanges(ctx context.Context, committed <-chan struct{}) error {
	const most = 1024
	const shortest, longest = 20 * time.Millisecond, 250 * time.Millisecond
	for {
		sent, began := 0, time.Now()
		err := c.insist(ctx, "publishing changes", func() error {
			entries, err := c.deps.Store.Outbox(ctx, most)
			if err != nil || len(entries) == 0 {
				return err
			}
			sent = len(entries)
			return c.send(ctx, entries)
		})
		if err != nil || sent == most {
			if err != nil {
				return err
			}
			continue
		}
		if sent > 0 {
			select {
			case <-time.After(min(max(shortest, time.Since(began)), longest)):
			case <-ctx.Done():
				return nil
			}
		}
		select {
		case <-committed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (c *Consolidator) send(ctx context.Context, entries []OutboxEntry) error {
	changes := make([]events.BankChange, len(entries))
	for i, e := range entries {
		changes[i] = events.BankChange{Bank: e.Bank, Change: e.Change, Trace: e.Trace}
	}
	spans := c.traceChanges(ctx, changes)
	err := c.deps.Conn.PublishChanges(ctx, changes)
	spans.end(err)
	if err != nil {
		return err
	}
	c.metrics.changes.Add(float64(len(entries)))
	for _, e := range entries {
		if e.Change.What == memory.ChangeBank || e.Change.What == memory.ChangeForget { // a forget may have been of the bank
			if err := c.keepProfile(ctx, e.Bank); err != nil {
				return err
			}
		}
	}
	return c.deps.Store.Sent(ctx, entries[len(entries)-1].No)
}

// keepProfile puts a bank's profile where stages without the store read it.
func (c *Consolidator) keepProfile(ctx context.Context, bank memory.BankID) error {
	if c.deps.Profile == nil {
		return nil
	}
	b, err := c.deps.Profile(ctx, bank)
	if errors.Is(err, memory.ErrNotFound) {
		return c.deps.Conn.DropProfile(ctx, bank)
	}
	if err != nil {
		return fmt.Errorf("read the profile of %s: %w", bank, err)
	}
	return c.deps.Conn.PutProfile(ctx, b)
}
