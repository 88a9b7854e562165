package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublishAll stores many messages of one session, in their order, and returns when all are acknowledged or given up. It
// calls done for each, with its index and its sequence or the error. It sends atomic batches, for which a broker that
// syncs before it acknowledges does so once, and sends those of concurrent calls together; messages of a batch that is
// not accepted are sent one by one, InFlight of them at a time, and retried. All are encoded first: memory.ErrInvalid
// names the message and the field, before anything is sent.
func (p *Publisher) PublishAll(ctx context.Context, bank memory.BankID, session memory.SessionID, messages []memory.Message,
	done func(i int, seq uint64, err error)) error {
	msgs := make([]*nats.Msg, len(messages))
	for i, m := range messages {
		var err error
		if msgs[i], err = p.encode(bank, session, m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	defer p.Wait()
	for from := 0; from < len(msgs); {
		to := batchEnd(msgs, from)
		if p.together(ctx, bank, session, msgs[from:to], func(i int, seq uint64) { done(from+i, seq, nil) }) {
			from = to
			continue
		}
		for i := from; i < to; i++ {
			if err := p.start(ctx, bank, session, msgs[i], func(seq uint64, err error) { done(i, seq, err) }); err != nil {
				for ; i < len(msgs); i++ {
					done(i, 0, err)
				}
				return nil
			}
		}
		from = to
	}
	return nil
}

// together stores messages as one batch and reports whether it did. It is not tried on a connection that was told that
// batches are not accepted from it.
func (p *Publisher) together(ctx context.Context, bank memory.BankID, session memory.SessionID, msgs []*nats.Msg, done func(i int, seq uint64)) bool {
	if p.conn.batchesRefused.Load() {
		return false
	}
	spans := make([]telemetry.Span, len(msgs))
	for i, m := range msgs {
		var traced context.Context
		traced, spans[i] = p.conn.beginPublish(ctx, bank, session)
		m.Header = telemetry.Inject(traced, nil)
	}
	last, err := p.conn.PublishGrouped(ctx, msgs)
	p.conn.batchesRefused.Store(errors.Is(err, errNoBatches))
	for i := range msgs {
		if err != nil { // it is sent again, under a span of its own
			spans[i].End(err)
			continue
		}
		seq := last - uint64(len(msgs)-1-i)
		spans[i].At(seq).End(nil)
		done(i, seq)
	}
	return err == nil
}

// The headers of an atomic batch, which the broker stores entirely or not at all.
const (
	batchID     = "Nats-Batch-Id"
	batchSeq    = "Nats-Batch-Sequence"
	batchCommit = "Nats-Batch-Commit"
)

// batchesDisabled is the code of the broker's error for a stream that takes no batches; a refusal by ingest has none.
const batchesDisabled = 10174

// The limits of one batch; the broker accepts 1,000 messages. It collects a batch in a file of its own, which costs
// about five syncs however many messages it holds: fewer than BatchLeast are stored faster one by one.
const (
	BatchLeast    = 6
	batchMessages = 500
	batchBytes    = 4 << 20
)

// errBatch means that the broker did not accept a batch: nothing of it is stored. errNoBatches means that it never does: the stream takes none, or ingest, which the publishes of an account pass,
// refuses their headers.
var (
	errBatch     = errors.New("the broker did not accept the batch")
	errNoBatches = errors.New("no batches are accepted from here")
)

// BatchRefused reports whether an error of PublishGrouped means that nothing is stored. After any other, all may be.
func BatchRefused(err error) bool { return errors.Is(err, errBatch) || errors.Is(err, errNoBatches) }

// publishAll stores messages of one stream in order and returns when all are acknowledged. Each has a Nats-Msg-Id, so
// that a repeat stores none twice. It sends atomic batches by send, because a broker that syncs before it acknowledges does so
// once per batch; a batch that the broker does not accept, for instance because it contains an event that is stored
// already, is sent one by one. The error names the message by name(i); after it any of them may be stored.
func (c *Conn) publishAll(ctx context.Context, msgs []*nats.Msg, send func(context.Context, []*nats.Msg) (uint64, error), name func(i int) string) error {
	for from := 0; from < len(msgs); {
		to := batchEnd(msgs, from)
		part := msgs[from:to]
		if _, err := send(ctx, part); err != nil {
			if err := c.publishEach(ctx, part, func(i int) string { return name(from + i) }); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// batchEnd returns the end of the batch that begins at from.
func batchEnd(msgs []*nats.Msg, from int) int {
	to, bytes := from, 0
	for to < len(msgs) && to-from < batchMessages && (to == from || bytes+msgs[to].Size() <= batchBytes) {
		bytes += msgs[to].Size()
		to++
	}
	return to
}

// publishBatch stores messages as one batch and returns the sequence of the last; the others precede it directly. It waits for
// the broker's answer for as long as within, and leaves the messages as they were.
func (c *Conn) publishBatch(ctx context.Context, msgs []*nats.Msg, within time.Duration) (last uint64, err error) {
	if len(msgs) < BatchLeast {
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
			if err := c.NC.PublishMsg(b); err != nil { // of a batch without its end nothing is stored
				return 0, fmt.Errorf("%w: %w", errBatch, err)
			}
			continue
		}
		b.Header.Set(batchCommit, "1")
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		answer, err := c.NC.RequestMsgWithContext(ctx, b)
		if errors.Is(err, nats.ErrMaxPayload) { // with the headers of the batch: it was not sent
			return 0, fmt.Errorf("%w: %w", errBatch, err)
		}
		if err != nil {
			return 0, err
		}
		var ack struct {
			Stream string `json:"stream"`
			Seq    uint64 `json:"seq"`
			Batch  string `json:"batch"`
			Count  int    `json:"count"`
			Error  *struct {
				Code int `json:"code"`
				Err  int `json:"err_code"`
			} `json:"error"`
		}
		err = json.Unmarshal(answer.Data, &ack)
		switch {
		case err != nil:
			return 0, fmt.Errorf("the answer to a batch is not JSON: %w", err)
		case ack.Error != nil && (ack.Error.Err == 0 || ack.Error.Err == batchesDisabled):
			return 0, errNoBatches
		case ack.Error != nil:
			return 0, errBatch
		case ack.Stream == "" || ack.Batch != id || ack.Count != len(msgs):
			return 0, fmt.Errorf("the answer to a batch of %d is %.200q", len(msgs), answer.Data)
		}
		last = ack.Seq
	}
	return last, nil
}

// publishEach stores messages one by one without waiting between them. The error is that of the first that is not stored.
func (c *Conn) publishEach(ctx context.Context, msgs []*nats.Msg, name func(i int) string) error {
	for i, s := range c.StoreEach(ctx, msgs) {
		if s.Err != nil {
			return Classify(s.Err, "publish %s", name(i))
		}
	}
	return nil
}
