package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// PublisherConfig holds the limits of a Publisher.
type PublisherConfig struct {
	// InFlight bounds the messages of PublishAsync that are not acknowledged, 1 to 1000.
	InFlight int
	// Patience bounds how long one message is retried.
	Patience time.Duration
	Backoff  Backoff // between retries
}

// DefaultPublisherConfig returns 400 messages in flight and 30 s of patience.
func DefaultPublisherConfig() PublisherConfig {
	return PublisherConfig{InFlight: 400, Patience: 30 * time.Second, Backoff: Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second}}
}

// Validate returns every setting that is out of range, joined.
func (c PublisherConfig) Validate() error {
	var errs []error
	if c.InFlight < 1 || c.InFlight > 1000 {
		errs = append(errs, memory.Invalid("in_flight", "is %d; expected 1 to 1000", c.InFlight))
	}
	if c.Patience <= 0 {
		errs = append(errs, memory.Invalid("patience", "is %s; expected more than nothing", c.Patience))
	}
	return errors.Join(errs...)
}

// Publisher publishes the messages of a bot. It is safe for concurrent use.
type Publisher struct {
	cfg   PublisherConfig
	conn  *Conn
	slots chan struct{}
	await sync.WaitGroup
}

// NewPublisher returns a Publisher on a connection, which the caller closes.
func NewPublisher(cfg PublisherConfig, conn *Conn) (*Publisher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Publisher{cfg: cfg, conn: conn, slots: make(chan struct{}, cfg.InFlight)}, nil
}

// Publish stores a message and returns its sequence, which recall accepts as "after". memory.ErrInvalid names the field
// of a message that is not valid, memory.ErrTooLarge the limit; memory.ErrUnavailable means that the broker did not
// accept it in time. A message without an id is given one, so that one that had to be sent twice counts once.
func (p *Publisher) Publish(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message) (uint64, error) {
	msg, err := p.encode(bank, session, m)
	if err != nil {
		return 0, err
	}
	ctx, span := p.conn.beginPublish(ctx, bank, session)
	seq, err := p.send(ctx, msg)
	span.At(seq).End(err)
	return seq, err
}

// Flush reports that a conversation paused or ended: its remaining messages are extracted now instead of after the idle
// time. It returns the flush's sequence.
func (p *Publisher) Flush(ctx context.Context, bank memory.BankID, session memory.SessionID) (uint64, error) {
	if err := checkNames(bank, session); err != nil {
		return 0, err
	}
	return p.send(ctx, &nats.Msg{Subject: p.conn.Naming.FlushSubject(bank, session)})
}

// PublishAsync is Publish for imports: it returns when the message is sent, waiting while InFlight others are not
// acknowledged, and calls done (nil = nobody) once with the sequence or the error, from another goroutine. Messages are
// stored in the order of the calls, except those that had to be retried.
func (p *Publisher) PublishAsync(ctx context.Context, bank memory.BankID, session memory.SessionID, m memory.Message, done func(seq uint64, err error)) error {
	msg, err := p.encode(bank, session, m)
	if err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return Classify(ctx.Err(), "publish to %s", msg.Subject)
	}
	ctx, span := p.conn.beginPublish(ctx, bank, session)
	msg.Header = telemetry.Inject(ctx, nil)
	future, err := p.conn.JS.PublishMsgAsync(msg, jetstream.WithStallWait(StallWait))
	p.await.Go(func() {
		defer func() { <-p.slots }()
		var seq uint64
		if err == nil {
			select {
			case ack := <-future.Ok():
				if seq = ack.Sequence; ack.Duplicate {
					seq, err = p.send(ctx, msg)
				}
			case first := <-future.Err():
				if seq, err = p.send(ctx, msg); err != nil {
					err = errors.Join(err, first)
				}
			case <-ctx.Done():
				err = Classify(ctx.Err(), "publish to %s", msg.Subject)
			}
		} else {
			seq, err = p.send(ctx, msg)
		}
		span.At(seq).End(err)
		if done != nil {
			done(seq, err)
		}
	})
	return nil
}

// Wait returns when done was called for every message of PublishAsync.
func (p *Publisher) Wait() { p.await.Wait() }

// send retries until the message is stored or Patience has passed.
func (p *Publisher) send(ctx context.Context, msg *nats.Msg) (seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Patience)
	defer cancel()
	err = Retry(ctx, p.cfg.Backoff, func() (err error) {
		seq, err = p.conn.PublishPlain(ctx, msg.Subject, msg.Data)
		return err
	}, nil)
	return seq, err
}

func checkNames(bank memory.BankID, session memory.SessionID) error {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return err
	}
	_, err := memory.ParseSessionID(string(session))
	return err
}

func (p *Publisher) encode(bank memory.BankID, session memory.SessionID, m memory.Message) (*nats.Msg, error) {
	if err := checkNames(bank, session); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.ID == "" {
		m.ID = memory.MessageID(ulid.Make().String())
	}
	body, err := memory.Encode(m)
	if err != nil {
		return nil, memory.Invalid("metadata", "cannot be written as JSON: %v", err)
	}
	if len(m.Extra) > 0 {
		if body, err = withExtra(body, m.Extra); err != nil {
			return nil, err
		}
	}
	if limit := p.conn.NC.MaxPayload(); limit > 0 && int64(len(body)) > limit-512 {
		return nil, fmt.Errorf("the message has %d bytes, the broker takes about %d: %w", len(body), limit, memory.ErrTooLarge)
	}
	return &nats.Msg{Subject: p.conn.Naming.MessageSubject(bank, session), Data: body}, nil
}

// withExtra adds fields that this version does not know to those that it does.
func withExtra(body []byte, extra map[string]json.RawMessage) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	for k, v := range extra {
		if _, own := fields[k]; !own {
			fields[k] = v
		}
	}
	out, err := memory.Encode(fields)
	if err != nil {
		return nil, memory.Invalid("", "a field cannot be written as JSON: %v", err)
	}
	return out, nil
}

// The headers of an atomic batch, which the broker stores entirely or not at all.
const (
	batchID     = "Nats-Batch-Id"
	batchSeq    = "Nats-Batch-Sequence"
	batchCommit = "Nats-Batch-Commit"
)

// The limits of one batch; the broker accepts 1,000 messages. It collects a batch in a file of its own, which costs
// about five syncs however many messages it holds: fewer than batchLeast are stored faster one by one.
const (
	batchLeast    = 6
	batchMessages = 500
	batchBytes    = 4 << 20
)

// errBatch means that the broker did not accept a batch. Nothing of it is stored, unless only the answer was lost.
var errBatch = errors.New("the broker did not accept the batch")

// publishAll stores messages of one stream in order and returns when all are acknowledged. Each has a Nats-Msg-Id, so
// that a repeat stores none twice. It sends atomic batches, because a broker that syncs before it acknowledges does so
// once per batch; a batch that the broker does not accept, for instance because it contains an event that is stored
// already, is sent one by one. The error names the message by name(i); after it any of them may be stored.
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

// publishBatch stores messages as one batch and returns the sequence of the last; the others precede it directly. It
// leaves the messages as they were.
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
		ctx, cancel := context.WithTimeout(ctx, StallWait)
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

// publishEach stores messages one by one without waiting between them.
func (c *Conn) publishEach(ctx context.Context, msgs []*nats.Msg, name func(i int) string) error {
	futures := make([]jetstream.PubAckFuture, 0, len(msgs))
	for i, m := range msgs {
		f, err := c.JS.PublishMsgAsync(m, jetstream.WithStallWait(StallWait))
		if err != nil {
			return Classify(err, "publish %s", name(i))
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return Classify(err, "publish %s", name(i))
		case <-ctx.Done():
			return Classify(ctx.Err(), "publish %s", name(i))
		}
	}
	return nil
}
