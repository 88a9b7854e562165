package events

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PutProfile keeps a bank's profile where the stages without the store read
// it, and erases the one before it for good. The newest call stands; only the
// consolidator calls it.
func (c *Conn) PutProfile(ctx context.Context, b memory.Bank) error {
	body, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the profile of %s: %w", b.ID, err)
	}
	bucket := c.Bucket(c.Naming.BankBucket())
	ack, err := c.JS.Publish(ctx, bucket.subject(Key(string(b.ID))), body)
	if err != nil {
		return meaning(err, "write the profile of %s", b.ID)
	}
	return bucket.eraseBefore(ctx, Key(string(b.ID)), ack.Sequence)
}

// Profile reads a bank's profile; ok is false when none was kept, and the
// profile is then the default one.
func (c *Conn) Profile(ctx context.Context, bank memory.BankID) (b memory.Bank, ok bool, err error) {
	r, err := c.Bucket(c.Naming.BankBucket()).Get(ctx, Key(string(bank)))
	if err != nil {
		return memory.Bank{}, false, err
	}
	if r.Value == nil {
		return memory.Bank{ID: bank, Disposition: memory.DefaultDisposition()}, false, nil
	}
	if err := json.Unmarshal(r.Value, &b); err != nil {
		return memory.Bank{}, false, fmt.Errorf("read the profile of %s: %w", bank, err)
	}
	b.ID = bank
	return b, true, nil
}

// DropProfile erases a bank's profile for good; none is no error.
func (c *Conn) DropProfile(ctx context.Context, bank memory.BankID) error {
	return c.Bucket(c.Naming.BankBucket()).eraseBefore(ctx, Key(string(bank)), math.MaxUint64)
}
