package consolidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// publishChanges sends what commits left in the outbox, oldest first. An entry
// leaves the outbox after the broker acknowledged it: after a crash a change
// may come twice, with the same id.
func (c *Consolidator) publishChanges(ctx context.Context, committed <-chan struct{}) error {
	const most = 256
	for {
		sent := 0
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
		select {
		case <-committed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (c *Consolidator) send(ctx context.Context, entries []OutboxEntry) error {
	for _, e := range entries {
		if err := c.deps.Conn.PublishChange(ctx, e.Bank, e.Change); err != nil {
			return err
		}
		c.metrics.changes.Inc()
		if e.Change.What == memory.ChangeBank {
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
