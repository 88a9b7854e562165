package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// appliedKey names the record in the bucket of leases that says how far the active consolidator is, by shard. It lives as long as a
// lease, so there is none where nobody consolidates.
const appliedKey = "applied"

// Progress is how far the store of a shard has applied the log.
type Progress struct {
	Shards   int                    `json:"shards,omitempty"` // how many there are; 0 = one
	Write    uint64                 `json:"write"`            // the last one
	Messages memory.MessagePosition `json:"messages"`
}

// Applied is the record of how far the store has applied the log. It is a hint for those who append: it may be late,
// and of an owner that was replaced.
type Applied struct {
	bucket Bucket
	record Record
}

// OpenApplied returns the record of a shard. An Applied is not safe for concurrent use.
func OpenApplied(c *events.Conn, s events.Shard) *Applied {
	return &Applied{bucket: Open(c, c.Naming.LeaseBucket()), record: Record{Key: s.Key(appliedKey)}}
}

// Get returns how far the store is; known is false where nobody consolidates.
func (a *Applied) Get(ctx context.Context) (p Progress, known bool, err error) {
	r, err := a.bucket.Get(ctx, a.record.Key)
	if err != nil || r.Value == nil {
		return p, false, err
	}
	if err := json.Unmarshal(r.Value, &p); err != nil {
		return p, false, fmt.Errorf("read how far the store is: %w", err)
	}
	return p, true, nil
}

// Put writes how far the store is.
func (a *Applied) Put(ctx context.Context, p Progress) (err error) {
	if a.record.Value, err = json.Marshal(p); err != nil {
		return fmt.Errorf("write how far the store is: %w", err)
	}
	rev, err := a.bucket.Put(ctx, a.record)
	if errors.Is(err, memory.ErrConflict) { // it expired, or was another owner's
		var now Record
		if now, err = a.bucket.Get(ctx, a.record.Key); err != nil {
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
