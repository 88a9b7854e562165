package kv

import (
	"context"
	"errors"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// appliedKey names the record in the bucket of leases that says how far the active consolidator is. It lives as long as a
// lease, so there is none where nobody consolidates.
const appliedKey = "applied"

// Applied is the record of the last write that the store has applied. It is a hint for those who append: it may be late,
// and of an owner that was replaced.
type Applied struct {
	bucket Bucket
	record Record
}

// OpenApplied returns the record. An Applied is not safe for concurrent use.
func OpenApplied(c *events.Conn) *Applied {
	return &Applied{bucket: Open(c, c.Naming.LeaseBucket()), record: Record{Key: appliedKey}}
}

// Get returns the last write applied; known is false where nobody consolidates.
func (a *Applied) Get(ctx context.Context) (write uint64, known bool, err error) {
	r, err := a.bucket.Get(ctx, appliedKey)
	if err != nil || r.Value == nil {
		return 0, false, err
	}
	write, err = strconv.ParseUint(string(r.Value), 10, 64)
	return write, err == nil, err
}

// Put writes the last write applied.
func (a *Applied) Put(ctx context.Context, write uint64) error {
	a.record.Value = strconv.AppendUint(nil, write, 10)
	rev, err := a.bucket.Put(ctx, a.record)
	if errors.Is(err, memory.ErrConflict) { // it expired, or was another owner's
		var now Record
		if now, err = a.bucket.Get(ctx, appliedKey); err != nil {
			return err
		}
		now.Value = a.record.Value
		rev, err = a.bucket.Put(ctx, now)
	}
	if err == nil {
		a.record.Revision = rev
	}
	return err
}
