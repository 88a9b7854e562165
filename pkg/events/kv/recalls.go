package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxRecalls and maxRecallBytes bound the recalls that a bank keeps: the oldest go first.
const (
	MaxRecalls     = 50
	maxRecallBytes = 256 << 10
)

// Recalls are the last recalls of banks, one record a bank, in the memory of the broker. It is safe for concurrent use.
type Recalls struct{ bucket Bucket }

// OpenRecalls returns the recalls of a deployment.
func OpenRecalls(c *events.Conn) Recalls { return Recalls{Open(c, c.Naming.RecallBucket())} }

// kept is the record of a bank.
type kept struct {
	// Forgotten is when the bank forgot something last, in nanoseconds. A recall that began before may hold words of it.
	Forgotten int64             `json:"forgotten,omitempty"`
	Recalls   []json.RawMessage `json:"recalls"` // the oldest first
}

func (r Recalls) read(ctx context.Context, bank memory.BankID) (Record, kept, error) {
	var k kept
	rec, err := r.bucket.Get(ctx, events.Key(string(bank)))
	if err == nil && rec.Value != nil {
		if err = json.Unmarshal(rec.Value, &k); err != nil {
			err = fmt.Errorf("read the recalls of bank %q: %w", string(bank), err)
		}
	}
	return rec, k, err
}

// change writes what fn makes of the record of a bank, unless fn returns false.
func (r Recalls) change(ctx context.Context, bank memory.BankID, fn func(*kept) bool) error {
	for {
		rec, k, err := r.read(ctx, bank)
		if err != nil || !fn(&k) {
			return err
		}
		if rec.Value, err = json.Marshal(k); err != nil {
			return fmt.Errorf("write the recalls of bank %q: %w", string(bank), err)
		}
		if _, err = r.bucket.Put(ctx, rec); !errors.Is(err, memory.ErrConflict) {
			return err
		}
	}
}

// Begin returns what Keep has to know of a recall that has read nothing yet: when the bank forgot something last.
func (r Recalls) Begin(ctx context.Context, bank memory.BankID) (began int64, err error) {
	_, k, err := r.read(ctx, bank)
	return k.Forgotten, err
}

// Keep keeps a recall as JSON. One is dropped if the bank has forgotten something since it began, or if it is too large.
func (r Recalls) Keep(ctx context.Context, bank memory.BankID, began int64, recall any) error {
	body, err := json.Marshal(recall)
	if err != nil || len(body) > maxRecallBytes {
		return err
	}
	return r.change(ctx, bank, func(k *kept) bool {
		k.Recalls = append(k.Recalls, body)
		size := 0
		for i := len(k.Recalls) - 1; i >= 0; i-- {
			if size += len(k.Recalls[i]); size > maxRecallBytes || len(k.Recalls)-i > MaxRecalls {
				k.Recalls = k.Recalls[i+1:]
				break
			}
		}
		return k.Forgotten == began
	})
}

// List returns the recalls of a bank, the last one first.
func (r Recalls) List(ctx context.Context, bank memory.BankID) ([]json.RawMessage, error) {
	_, k, err := r.read(ctx, bank)
	out := make([]json.RawMessage, 0, len(k.Recalls))
	for i := len(k.Recalls) - 1; i >= 0; i-- {
		out = append(out, k.Recalls[i])
	}
	return out, err
}

// Forget removes the recalls of a bank, and those that are under way are not kept.
func (r Recalls) Forget(ctx context.Context, bank memory.BankID) error {
	return r.change(ctx, bank, func(k *kept) bool {
		*k = kept{Forgotten: max(time.Now().UnixNano(), k.Forgotten+1), Recalls: []json.RawMessage{}}
		return true
	})
}
