package events

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Bucket is a key-value bucket whose records are written by expected revision
// and read from the leader, so that two writers never both succeed.
type Bucket struct {
	conn *Conn
	name string
}

// Bucket gives the bucket of a name; Reconcile makes those of the topology.
func (c *Conn) Bucket(name string) Bucket { return Bucket{c, name} }

// Record is the state of one key. A nil Value means that there is none; its
// Revision is then what a first write must expect.
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

// Get reads a key. A key without a record is a Record with a nil Value.
func (b Bucket) Get(ctx context.Context, key string) (Record, error) {
	e, err := b.conn.fromLeader(ctx, b.stream(), map[string]any{"last_by_subj": b.subject(key)})
	if memory.Code(err) == 404 {
		return Record{Key: key}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("read %s of %s: %w", key, b.name, err)
	}
	return b.record(e), nil
}

func (b Bucket) record(e Event) Record {
	r := Record{Key: strings.TrimPrefix(e.Subject, b.subject("")), Value: e.Data, Revision: e.Seq}
	if e.Header.Get(kvOperation) != "" {
		r.Value = nil
	} else if r.Value == nil {
		r.Value = []byte{}
	}
	return r
}

// Put writes a record over the revision it names and gives the new revision.
// memory.ErrConflict: another writer was first.
func (b Bucket) Put(ctx context.Context, r Record) (uint64, error) {
	ack, err := b.conn.JS.PublishMsg(ctx, b.msg(r))
	if err != nil {
		return 0, meaning(err, "write %s of %s", r.Key, b.name)
	}
	return ack.Sequence, nil
}

// PutAll writes records, each over the revision it names, and sets their new
// revisions. After an error any of them may be written: read them again.
func (b Bucket) PutAll(ctx context.Context, records []Record) error {
	futures := make([]jetstream.PubAckFuture, len(records))
	for i, r := range records {
		f, err := b.conn.JS.PublishMsgAsync(b.msg(r), jetstream.WithStallWait(stallWait))
		if err != nil {
			return meaning(err, "write %s of %s", r.Key, b.name)
		}
		futures[i] = f
	}
	var first error
	for i, f := range futures {
		select {
		case ack := <-f.Ok():
			records[i].Revision = ack.Sequence
		case err := <-f.Err():
			if first == nil {
				first = meaning(err, "write %s of %s", records[i].Key, b.name)
			}
		case <-ctx.Done():
			return meaning(ctx.Err(), "write %s of %s", records[i].Key, b.name)
		}
	}
	return first
}

// Delete removes a record if it is still at the revision it names.
func (b Bucket) Delete(ctx context.Context, r Record) error {
	m := b.msg(r)
	m.Data = nil
	m.Header.Set(kvOperation, kvDelete)
	_, err := b.conn.JS.PublishMsg(ctx, m)
	return meaning(err, "delete %s of %s", r.Key, b.name)
}

func (b Bucket) msg(r Record) *nats.Msg {
	return &nats.Msg{Subject: b.subject(r.Key), Data: r.Value, Header: nats.Header{
		expectedLast: []string{strconv.FormatUint(r.Revision, 10)},
	}}
}

// Each gives every record whose key matches filter (tokens, "*" and ">" as in
// a subject) to f, in the order they were last written. An error of f ends it.
func (b Bucket) Each(ctx context.Context, filter string, f func(Record) error) error {
	_, err := b.conn.Scan(ctx, b.stream(), []string{b.subject(filter)}, 0, func(e Event) error {
		if r := b.record(e); r.Value != nil {
			return f(r)
		}
		return nil
	})
	return err
}

// eraseBefore erases what a key held in revisions before one, oldest first, so
// that none of them is current again.
func (b Bucket) eraseBefore(ctx context.Context, key string, revision uint64) error {
	var old []uint64
	_, err := b.conn.Scan(ctx, b.stream(), []string{b.subject(key)}, 0, func(e Event) error {
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
