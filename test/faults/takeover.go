package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// probeBanks is how many banks are published to: they spread over the partitions of ingest.
const probeBanks = 8

// Takeovers kills the owner, kills times each of ingest and consolidator, and returns how long it took each time until
// what was published right after the kill was settled, shortest first. The other process of the stage takes over; the
// killed one is started again as its standby.
func (w *Cluster) Takeovers(ctx context.Context, c *client.Client, kills int) ([]time.Duration, error) {
	var out []time.Duration
	for _, name := range []string{"consolidator", "ingest"} {
		list := w.of(name)
		// Whoever has the work now: after this kill it is the second.
		if err := w.replace(ctx, c, list[0], nil); err != nil {
			return nil, err
		}
		for n := range kills {
			var took time.Duration
			if err := w.replace(ctx, c, list[(n+1)%2], &took); err != nil {
				return nil, fmt.Errorf("takeover of %s: %w", name, err)
			}
			out = append(out, took)
		}
	}
	slices.Sort(out)
	return out, nil
}

// replace kills a process, waits until what is published then is settled, and starts it again.
func (w *Cluster) replace(ctx context.Context, c *client.Client, p *process, took *time.Duration) error {
	if err := p.kill(); err != nil {
		return err
	}
	killed := time.Now()
	for n := range probeBanks {
		bank := memory.BankID(fmt.Sprintf("probe%d", n))
		if _, err := c.Publish(ctx, bank, "s", memory.Message{Speaker: "Probe", Content: "I bought a lamp at " + killed.Format(time.RFC3339Nano)}); err != nil {
			return err
		}
		if _, err := c.Flush(ctx, bank, "s"); err != nil {
			return err
		}
	}
	for n := range probeBanks {
		if _, err := c.WaitSettled(ctx, memory.BankID(fmt.Sprintf("probe%d", n)), nil); err != nil {
			return err
		}
	}
	if took != nil {
		*took = time.Since(killed)
	}
	if err := p.start(); err != nil {
		return err
	}
	// The standby has to be there before the next kill, or nobody takes over.
	return pass(ctx, time.Second)
}
