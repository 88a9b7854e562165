package main

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/bench/synthetic"
	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// narrowings returns filters as bots use them, over a bank of n messages: the session and the six hours are in the
// middle.
func narrowings(n int) map[string]memory.Filter {
	middle := synthetic.Epoch.Add(time.Duration(n/2) * synthetic.Interval)
	from, to := middle.Add(-3*time.Hour), middle.Add(3*time.Hour)
	return map[string]memory.Filter{
		"session":   {Session: synthetic.Session(n / 2)},
		"six hours": {From: &from, To: &to},
		"since":     {From: &middle},
		"as of":     {AsOf: &middle},
		"speaker":   {Speakers: []string{"Ann"}},
		"type":      {Types: []memory.Type{memory.TypePreference}},
	}
}

// askNarrowed asks the first questions under each filter.
func (r *recallFigures) askNarrowed(ctx context.Context, c *client.Client) error {
	r.Narrowed = map[string]percentiles{}
	for name, f := range narrowings(r.Bank.Messages) {
		var times []time.Duration
		for _, q := range r.Bank.Questions[:min(50, len(r.Bank.Questions))] {
			began := time.Now()
			got, err := c.Recall(ctx, synthetic.Bank, wire.RecallRequest{Query: q.Text, Filter: f})
			if err != nil {
				return fmt.Errorf("recall narrowed to %s: %w", name, err)
			}
			if len(got.Items) == 0 {
				return fmt.Errorf("recall narrowed to %s found nothing for %q: %w", name, q.Text, memory.ErrNotFound)
			}
			times = append(times, time.Since(began))
		}
		r.Narrowed[name] = percentilesOf(times)
	}
	return nil
}
