package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
	return p.start(ctx, bank, session, msg, done)
}

// start sends a message and calls done, once, when it is acknowledged or given up.
func (p *Publisher) start(ctx context.Context, bank memory.BankID, session memory.SessionID, msg *nats.Msg, done func(seq uint64, err error)) error {
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
		seq, err = p.conn.publishAgain(ctx, msg.Subject, msg.Data)
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
