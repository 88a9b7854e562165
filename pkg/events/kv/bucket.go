// Package kv keeps records in JetStream key-value buckets. A record is written over the revision that the writer has
// read, so that of two writers one fails.
//
// It reads and writes buckets as jetstream.KeyValue does, with two differences: reads go to the leader of the bucket,
// because a replica may return an old revision, and PutAll does not wait between its writes.
//
// Profiles of banks are kept in the bucket BANKS, for stages without the store.
package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Bucket is a key-value bucket. Get reads from the leader and Put, PutAll and Delete expect a revision, so that two
// writers never both succeed.
type Bucket struct {
	conn *events.Conn
	name string
}

// Open returns the bucket of a name. Conn.Reconcile creates the buckets of a deployment.
func Open(c *events.Conn, name string) Bucket { return Bucket{c, name} }

// Record is the state of one key. If the key has no record, Value is nil and Revision is the one that the first write
// has to expect.
type Record struct {
	Key      string
	Value    []byte
	Revision uint64
}

const (
	kvOperation  = "KV-Operation"
	kvDelete     = "DEL"
	expectedLast = "Nats-Expected-Last-Subject-Sequence"
)

func (b Bucket) stream() string            { return "KV_" + b.name }
func (b Bucket) subject(key string) string { return "$KV." + b.name + "." + key }

// Get reads a key from the leader. A key without a record is no error.
func (b Bucket) Get(ctx context.Context, key string) (Record, error) {
	e, err := b.conn.ReadLeader(ctx, b.stream(), map[string]any{"last_by_subj": b.subject(key)})
	if memory.Code(err) == 404 {
		return Record{Key: key}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("read %s of %s: %w", key, b.name, err)
	}
	return b.record(e), nil
}

func (b Bucket) record(e events.Event) Record {
	r := Record{Key: strings.TrimPrefix(e.Subject, b.subject("")), Value: e.Data, Revision: e.Seq}
	if e.Header.Get(kvOperation) != "" {
		r.Value = nil
	} else if r.Value == nil {
		r.Value = []byte{}
	}
	return r
}

// Put writes a record over its Revision and returns the new revision. The error is memory.ErrConflict if another writer
// was first. What nobody acknowledges is sent again until ctx ends (events.Conn.StoreEach).
func (b Bucket) Put(ctx context.Context, r Record) (uint64, error) {
	records := []Record{r}
	err := b.PutAll(ctx, records)
	if err != nil {
		return 0, err
	}
	return records[0].Revision, nil
}

// PutAll writes records as Put does, and sets the new revisions. After an error any of them may be written; the caller has to
// read them again.
func (b Bucket) PutAll(ctx context.Context, records []Record) error {
	msgs := make([]*nats.Msg, len(records))
	for i, r := range records {
		msgs[i] = b.msg(r)
	}
	var first error
	for i, s := range b.conn.StoreEach(ctx, msgs) {
		rev, err := b.written(ctx, records[i], s)
		if err == nil {
			records[i].Revision = rev
		} else if first == nil {
			first = err
		}
	}
	return first
}

// written returns the revision of a record that was sent. One that had to be sent again conflicts with itself where only the
// acknowledgement of an earlier time was lost: then the key has its value, and a later revision than it was written over.
func (b Bucket) written(ctx context.Context, r Record, s events.Stored) (uint64, error) {
	err := events.Classify(s.Err, "write %s of %s", r.Key, b.name)
	if s.Sent < 2 || !errors.Is(err, memory.ErrConflict) {
		return s.Seq, err
	}
	now, unread := b.Get(ctx, r.Key)
	if unread != nil {
		return 0, unread
	}
	if now.Value == nil || now.Revision <= r.Revision || !bytes.Equal(now.Value, r.Value) {
		return 0, err
	}
	return now.Revision, nil
}

// Delete removes a record if its Revision is still the last one.
func (b Bucket) Delete(ctx context.Context, r Record) error {
	m := b.msg(r)
	m.Data = nil
	m.Header.Set(kvOperation, kvDelete)
	_, err := b.conn.JS.PublishMsg(ctx, m)
	return events.Classify(err, "delete %s of %s", r.Key, b.name)
}

func (b Bucket) msg(r Record) *nats.Msg {
	return &nats.Msg{Subject: b.subject(r.Key), Data: r.Value, Header: nats.Header{
		expectedLast: []string{strconv.FormatUint(r.Revision, 10)},
	}}
}

// Each calls f with every record whose key matches filter (tokens, "*" and ">" as in a subject), in the order of their
// last writes. An error of f ends it. Where a server of a cluster lags, f may be called with an earlier state of a key before
// the last one.
func (b Bucket) Each(ctx context.Context, filter string, f func(Record) error) error {
	_, err := ordered.Scan(ctx, b.conn, b.stream(), []string{b.subject(filter)}, 0, func(e events.Event) error {
		if r := b.record(e); r.Value != nil {
			return f(r)
		}
		return nil
	})
	return err
}

// Clear removes every record.
func (b Bucket) Clear(ctx context.Context) error {
	var all []Record
	err := b.Each(ctx, ">", func(r Record) error { all = append(all, r); return nil })
	for _, r := range all {
		if err == nil {
			err = b.Delete(ctx, r)
		}
	}
	return err
}

// eraseBefore erases the revisions of a key before one, oldest first, so that none of them becomes current again.
func (b Bucket) eraseBefore(ctx context.Context, key string, revision uint64) error {
	var old []uint64
	_, err := ordered.Scan(ctx, b.conn, b.stream(), []string{b.subject(key)}, 0, func(e events.Event) error {
		if e.Seq < revision {
			old = append(old, e.Seq)
		}
		return nil
	})
	for _, rev := range old {
		if err == nil {
			err = b.conn.Erase(ctx, b.stream(), rev)
		}
	}
	if err != nil {
		return fmt.Errorf("erase %s of %s: %w", key, b.name, err)
	}
	return nil
}

// PutProfile writes the profile of a bank and erases the previous one. The last call wins; only the consolidator calls
// it.
func PutProfile(ctx context.Context, c *events.Conn, b memory.Bank) error {
	body, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the profile of %s: %w", b.ID, err)
	}
	bucket := Open(c, c.Naming.BankBucket())
	ack, err := c.JS.Publish(ctx, bucket.subject(events.Key(string(b.ID))), body)
	if err != nil {
		return events.Classify(err, "write the profile of %s", b.ID)
	}
	return bucket.eraseBefore(ctx, events.Key(string(b.ID)), ack.Sequence)
}

// Profile reads the profile of a bank. If there is none, ok is false and the profile is the default one.
func Profile(ctx context.Context, c *events.Conn, bank memory.BankID) (b memory.Bank, ok bool, err error) {
	r, err := Open(c, c.Naming.BankBucket()).Get(ctx, events.Key(string(bank)))
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

// DropProfile erases the profile of a bank. If there is none, that is no error.
func DropProfile(ctx context.Context, c *events.Conn, bank memory.BankID) error {
	return Open(c, c.Naming.BankBucket()).eraseBefore(ctx, events.Key(string(bank)), math.MaxUint64)
}
