package events

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Headers of a batch that the broker stores as one: all of it or nothing.
const (
	batchID     = "Nats-Batch-Id"
	batchSeq    = "Nats-Batch-Sequence"
	batchCommit = "Nats-Batch-Commit"
)

// The bounds of one batch: the broker takes 1,000 messages. It keeps a batch in
// a file of its own until it is whole, which is about five syncs however many
// messages it holds: fewer than batchLeast are stored sooner one by one.
const (
	batchLeast    = 6
	batchMessages = 500
	batchBytes    = 4 << 20
)

// errBatch says that the broker did not take a batch; nothing of it is stored
// unless the answer was lost on the way.
var errBatch = errors.New("the broker did not take the batch")

// publishAll stores messages of one stream in order and returns when all are
// acknowledged. Each has a Nats-Msg-Id, so that storing again what was stored
// adds none twice. A broker that syncs before it acknowledges does so once a
// batch, which is many times as fast; where it does not take batches, or one
// holds few messages or one that is stored already, they go one by one. The error names
// the message by name(i); after it any of them may be stored.
func (c *Conn) publishAll(ctx context.Context, msgs []*nats.Msg, name func(i int) string) error {
	for from := 0; from < len(msgs); {
		to, bytes := from, 0
		for to < len(msgs) && to-from < batchMessages && (to == from || bytes+msgs[to].Size() <= batchBytes) {
			bytes += msgs[to].Size()
			to++
		}
		part := msgs[from:to]
		if _, err := c.publishBatch(ctx, part); err != nil {
			if err := c.publishEach(ctx, part, func(i int) string { return name(from + i) }); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// publishBatch stores messages as one and gives the sequence of the last; those
// of the others stand before it. It leaves the messages as they were.
func (c *Conn) publishBatch(ctx context.Context, msgs []*nats.Msg) (last uint64, err error) {
	if len(msgs) < batchLeast {
		return 0, errBatch
	}
	id := nuid.Next()
	for i, m := range msgs {
		b := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: nats.Header{}}
		for k, v := range m.Header {
			b.Header[k] = v
		}
		b.Header.Set(batchID, id)
		b.Header.Set(batchSeq, strconv.Itoa(i+1))
		if i < len(msgs)-1 {
			if err := c.NC.PublishMsg(b); err != nil {
				return 0, err
			}
			continue
		}
		b.Header.Set(batchCommit, "1")
		ctx, cancel := context.WithTimeout(ctx, stallWait)
		defer cancel()
		answer, err := c.NC.RequestMsgWithContext(ctx, b)
		if err != nil {
			return 0, err
		}
		var ack struct {
			Stream string          `json:"stream"`
			Seq    uint64          `json:"seq"`
			Batch  string          `json:"batch"`
			Count  int             `json:"count"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Error != nil || ack.Stream == "" || ack.Batch != id || ack.Count != len(msgs) {
			return 0, errBatch
		}
		last = ack.Seq
	}
	return last, nil
}

// publishEach stores messages one by one, without waiting between them.
func (c *Conn) publishEach(ctx context.Context, msgs []*nats.Msg, name func(i int) string) error {
	futures := make([]jetstream.PubAckFuture, 0, len(msgs))
	for i, m := range msgs {
		f, err := c.JS.PublishMsgAsync(m, jetstream.WithStallWait(stallWait))
		if err != nil {
			return meaning(err, "publish %s", name(i))
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return meaning(err, "publish %s", name(i))
		case <-ctx.Done():
			return meaning(ctx.Err(), "publish %s", name(i))
		}
	}
	return nil
}
