package main

import (
	"context"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// narrowings are filters as a bot gives them, over a bank of n messages: the
// session and the six hours are in the middle.
func narrowings(n int) map[string]memory.Filter {
	middle := loadEpoch.Add(time.Duration(n/2) * loadPause)
	from, to := middle.Add(-3*time.Hour), middle.Add(3*time.Hour)
	return map[string]memory.Filter{
		"session":   {Session: loadSession(n / 2)},
		"six hours": {From: &from, To: &to},
		"since":     {From: &middle},
		"as of":     {AsOf: &middle},
		"speaker":   {Speakers: []string{"Ann"}},
		"type":      {Types: []memory.Type{memory.TypePreference}},
	}
}

// askNarrowed asks the first questions under each filter.
func (r *loadRecall) askNarrowed(ctx context.Context, c *client.Client) error {
	r.Narrowed = map[string]spread{}
	for name, f := range narrowings(r.Bank.Messages) {
		var times []time.Duration
		for _, q := range r.Bank.Questions[:min(50, len(r.Bank.Questions))] {
			began := time.Now()
			got, err := c.Recall(ctx, loadBank, memory.RecallRequest{Query: q.Text, Filter: f})
			if err != nil {
				return fmt.Errorf("recall narrowed to %s: %w", name, err)
			}
			if len(got.Items) == 0 {
				return fmt.Errorf("recall narrowed to %s found nothing for %q: %w", name, q.Text, memory.ErrNotFound)
			}
			times = append(times, time.Since(began))
		}
		r.Narrowed[name] = spreadOf(times)
	}
	return nil
}
