package ingest

import "context"

// WithStep gives an Ingest that calls step between the steps of a batch; an
// error of it is a crash there.
func WithStep(i *Ingest, step func(string) error) *Ingest {
	i.step = step
	return i
}

// RunPartition runs one partition without a lease.
func RunPartition(ctx context.Context, i *Ingest, part int) error { return i.runPartition(ctx, part) }
