package ingest

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
)

// WithStep returns an Ingest that calls step between the steps of a batch; an error of it is a crash there.
func WithStep(i *Ingest, step func(string) error) *Ingest {
	i.step = step
	return i
}

// RunPartition runs one partition without a lease.
func RunPartition(ctx context.Context, i *Ingest, part int) error { return i.runPartition(ctx, part) }

// RunPartitionWith runs one partition without a lease, with states of sessions in the place of those that it reads.
func RunPartitionWith(ctx context.Context, i *Ingest, part int, states []kv.Record) error {
	p := newPartition(i, part)
	if err := p.load(ctx); err != nil {
		return err
	}
	for _, r := range states {
		e, err := readEntry(r)
		if err != nil {
			return err
		}
		p.restore(e)
	}
	return p.follow(ctx)
}

// Limiter decides on the events of one bank.
type Limiter = limiter

// Decide is what a limiter says of an event under a quota.
func (l *limiter) Decide(e Event, rate float64, bytes int64, barrier uint64, stored func() (int64, error)) (bool, error) {
	return l.decide(e, quota{rate, bytes}, barrier, stored)
}
